import { execFileSync } from 'node:child_process';
import fs, {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { text as streamText } from 'node:stream/consumers';
import { type ClickHouseClient, createClient } from '@clickhouse/client';
import { afterAll, beforeAll, describe, expect, it, onTestFinished, vi } from 'vitest';
import { migrate } from '../../infra/clickhouse/migrations.js';
import { RetryableError } from '../../infra/errors.js';
import { parseExportArguments } from '../../infra/export/arguments.js';
import { clickHouseExport } from '../../infra/export/clickhouse-export.js';
import { type Dataset, datasetNames, datasets } from '../../infra/export/datasets.js';
import { type ExportDatabase, type ExportDeps, exportDataset, filesOf } from '../../infra/export/exporter.js';
import { silentLogger } from '../../infra/telemetry/logger.js';
import { createRecordedCatalogSource } from '../../ingest/catalog/recorded/recorded-source.js';
import { blockEvent, decodeBlock } from '../../ingest/chain/decode/index.js';
import { createImportedChainSource } from '../../ingest/chain/imported/imported-source.js';
import { importedCatalog } from '../../ingest/shared/imported/catalog.js';
import { openImported } from '../../ingest/shared/imported/open-imported.js';
import { catalogSink } from '../../processors/catalog/sink.js';
import { chainSink } from '../../processors/chain/sink.js';
import { fillsSink } from '../../processors/fills/sink.js';
import { migrations } from '../../processors/migrations.js';
import { publishViews } from '../../processors/public-views/publish.js';
import { publicViews } from '../../processors/public-views/views.js';
import { walletEventsSink } from '../../processors/wallet-events/sink.js';
import type { AnyEvent } from '../../schemas/codec.js';
import type { Block } from '../../schemas/types.gen.js';
import { type AgreementWorld, startAgreementWorld } from '../support/agreement-world.js';
import { insertRecords } from '../support/positions.js';
import { blockAt } from './block-at.js';

const DATABASE = 'market';
let world: AgreementWorld;
let client: ClickHouseClient;
let database: ExportDatabase;
let lastRowMs = 0;
const out = mkdtempSync(join(tmpdir(), 'oddstream-export-'));
beforeAll(async () => {
  world = await startAgreementWorld(23);
  const { clickhouse, engine } = world.api;
  const events = world.venue.blocks.flat();
  await insertRecords(clickhouse, walletEventsSink, events);
  // Every record of the venue has the number and the time of its block.
  const indexed = new Map(events.map(({ value }) => value as Block).map((v) => [v.block_number, v.timestamp_ms]));
  lastRowMs = Math.max(...indexed.values());
  // A minute without events follows.
  indexed.set(Math.max(...indexed.keys()) + 30, lastRowMs + 60_000);
  await insertRecords(clickhouse, chainSink, [...indexed].map(blockAt));
  await publishViews({ client: clickhouse, database: DATABASE, views: publicViews, logger: silentLogger() });
  client = createClient({ url: engine.url, database: clickhouse.database });
  database = clickHouseExport(client, DATABASE);
});
afterAll(async () => {
  await client?.close();
  await world?.api.stop();
  rmSync(out, { recursive: true, force: true });
});

async function exported(
  args: string,
  of: ExportDatabase = database,
  ready: boolean | null = true,
  tablesComplete: ExportDeps['tablesComplete'] = async () => true,
) {
  const printed: string[] = [];
  let settled = 0;
  const deps: ExportDeps = {
    ...{ database: of, print: (line) => printed.push(line), processorsReady: async () => ready, tablesComplete },
    settle: async () => {
      settled += 1;
    },
  };
  const report = await exportDataset(deps, parseExportArguments(args.split(' ')));
  return { ...report, printed, settled };
}

const isoS = (timeS: number) => new Date(timeS * 1000).toISOString().replace('.000', '');

/** Rows of a CSV text by the names of its header. */
function csv(text: string): Record<string, string>[] {
  const rows: string[][] = [[]];
  for (const [, quoted, plain, end] of text.matchAll(/(?:"((?:[^"]|"")*)"|([^",\n]*))(,|\n)/g)) {
    rows.at(-1)?.push(quoted?.replaceAll('""', '"') ?? plain ?? '');
    if (end === '\n') rows.push([]);
  }
  const [names = [], ...values] = rows.slice(0, -1);
  return values.map((fields) => Object.fromEntries(fields.map((value, n) => [names[n] ?? '', value])));
}
const csvIn = (dir: string) =>
  readdirSync(dir)
    .sort()
    .flatMap((name) => csv(readFileSync(join(dir, name), 'utf8')));

describe('export', () => {
  it('writes the matches that the chain logged, as /v3/trades returns them', async () => {
    const dir = join(out, 'trades');
    const { rows, files } = await exported(`trades --from 2023-11-14 --to 2030-01-01 --format csv --out ${dir}`);
    const found = csvIn(dir);
    expect([found.length, files]).toEqual([rows, readdirSync(dir).length]);
    const matches = world.trades.filter((trade) => !trade.is_taker_order);
    expect(matches.length).toBeGreaterThan(50);
    const amounts = (row: Record<string, unknown>) => [
      `${row.tx_hash}-${row.log_index}`,
      Number(row.shares),
      Number(row.match_usd),
    ];
    const byId = (a: readonly unknown[], b: readonly unknown[]) => String(a[0]).localeCompare(String(b[0]));
    // The world adds one combo match, of the first block.
    expect(
      found
        .filter((row) => row.log_index !== '9000')
        .map(amounts)
        .sort(byId),
    ).toEqual(matches.map((trade) => [trade.id, Number(trade.shares) / 1e6, Number(trade.usdc) / 1e6]).sort(byId));
    const rest = new Map<string, readonly number[]>();
    for (let offset = 0; ; offset += 300) {
      const page = await world.api.ok<{ trades: Record<string, unknown>[]; has_more: boolean }>(
        `/v3/trades?limit=300&offset=${offset}`,
        world.key,
      );
      for (const { id, size, amount_usd } of page.trades) {
        const [tx, , logIndex] = String(id).split('_');
        rest.set(`${tx}-${logIndex}`, [Number(size), Number(amount_usd)]);
      }
      if (!page.has_more) break;
    }
    for (const [id, ...sums] of found.map(amounts)) expect(rest.get(String(id)), String(id)).toEqual(sums);
  });

  it.each(datasetNames)('writes %s as whole Parquet files, one per day', async (dataset) => {
    const dir = join(out, `parquet-${dataset}`);
    const { rows, files } = await exported(`${dataset} --from 2023-11-14 --to 2030-01-01 --out ${dir}`);
    for (const name of readdirSync(dir)) expect(readFileSync(join(dir, name)).subarray(0, 4).toString()).toBe('PAR1');
    expect(readdirSync(dir)).toHaveLength(files);
    if (dataset !== 'ticks') expect(rows).toBeGreaterThan(0);
  });

  it.each(datasetNames)(
    'writes %s with the columns of its view, and no decimal of more than 38 digits',
    async (name) => {
      const { columns = '*', view = name }: Dataset = datasets[name];
      const describe = (selected: string) =>
        database.query<{ name: string; type: string }>(`DESCRIBE (SELECT ${selected} FROM ${DATABASE}.${view})`, {});
      const [written, all] = await Promise.all([describe(columns), describe('*')]);
      expect(written.map((column) => column.name)).toEqual(all.map((column) => column.name));
      for (const { type } of written)
        for (const [, digits] of type.matchAll(/Decimal\((\d+)/g)) expect(Number(digits)).toBeLessThan(39);
    },
  );

  it('writes trade_parties as the view of that name has them', async () => {
    const dir = join(out, 'parties');
    await exported(`trade_parties --from 2023-11-14 --to 2030-01-01 --format csv --out ${dir}`);
    const view = await database.stream(
      `SELECT * FROM ${DATABASE}.trade_parties ORDER BY block_number, log_index`,
      {},
      'CSVWithNames',
    );
    const rows = csv(await streamText(view));
    expect(rows.length).toBeGreaterThan(100);
    expect(csvIn(dir)).toEqual(rows);
  });

  it('resumes: leaves complete files as they are and writes the missing one', async () => {
    const dir = join(out, 'resume');
    const args = `trades --from 2023-11-13 --to 2023-11-15 --format csv --out ${dir}`;
    const first = await exported(args);
    expect([first.files, first.skipped]).toEqual([2, 0]);
    const [kept = '', removed = ''] = readdirSync(dir).sort();
    const text = readFileSync(join(dir, removed), 'utf8');
    rmSync(join(dir, removed));
    utimesSync(join(dir, kept), 1, 1);
    const second = await exported(args);
    expect([second.files, second.skipped]).toEqual([2, 1]);
    expect(statSync(join(dir, kept)).mtimeMs).toBe(1000);
    expect(readFileSync(join(dir, removed), 'utf8')).toBe(text);
  });

  it.each(['csv', 'parquet'])('writes a %s file again that an earlier run left empty or cut', async (format) => {
    const dir = join(out, `damaged-${format}`);
    const args = `trades --from 2023-11-14 --to 2023-11-15 --format ${format} --out ${dir}`;
    const { rows } = await exported(args);
    const [name = ''] = readdirSync(dir);
    const whole = readFileSync(join(dir, name));
    const damaged = [whole.subarray(0, 0), whole.subarray(0, 4), whole.subarray(0, -1), whole.subarray(0, -40)];
    for (const bytes of damaged) {
      writeFileSync(join(dir, name), bytes);
      const again = await exported(args);
      expect(again).toMatchObject({ files: 1, skipped: 0, rows });
      expect(again.printed).toContain(`1/1  ${name}  is damaged and is written again`);
      expect(readFileSync(join(dir, name)).equals(whole)).toBe(true);
    }
    expect((await exported(args)).printed).toContain(`1/1  ${name}  is there already`);
  });

  it('flushes a file to the disk before it has its name', async () => {
    const dir = join(out, 'flushed');
    const seen: string[][] = [];
    const { fsync } = fs;
    const spy = vi.spyOn(fs, 'fsync').mockImplementation((...call) => {
      seen.push(readdirSync(dir));
      fsync(...call);
    });
    onTestFinished(() => spy.mockRestore());
    await exported(`trades --from 2023-11-14 --to 2023-11-15 --out ${dir}`);
    const written = readdirSync(dir);
    expect(written).toHaveLength(1);
    expect(seen).toEqual([written.map((name) => `${name}.partial`)]);
  });

  it.each(['csv', 'parquet'])('leaves no %s file when the result was cut off', async (format) => {
    const dir = join(out, `cut-${format}`);
    const cut: ExportDatabase = {
      ...database,
      stream: async (...query) => {
        const chunks: Buffer[] = [];
        for await (const chunk of await database.stream(...query)) chunks.push(chunk as Buffer);
        const whole = Buffer.concat(chunks);
        return Readable.from([whole.subarray(0, whole.length - 40)]);
      },
    };
    await expect(
      exported(`trades --from 2023-11-14 --to 2030-01-01 --format ${format} --out ${dir}`, cut),
    ).rejects.toThrow(RetryableError);
    expect(readdirSync(dir)).toEqual([]);
  });

  it('ends at the last complete day by default, so that a later export adds files and changes none', async () => {
    // All blocks of the world are of one evening, whose day is not over.
    const dir = join(out, 'default');
    const { rows, printed } = await exported(`trades --from 2023-11-13 --format csv --out ${dir}`);
    expect([rows, readdirSync(dir)]).toEqual([0, ['trades_20231113T000000Z_20231114T000000Z.csv']]);
    expect(printed.join('\n')).toContain('2023-11-14 is not over');
  });

  it('writes nothing while tables load, and only with --force when that is unknown', async () => {
    const args = (name: string) => `trades --from 2023-11-14 --to 2023-11-15 --format csv --out ${join(out, name)}`;
    await expect(exported(args('loading'), database, false)).rejects.toThrow(/still loading/);
    await expect(exported(`${args('loading')} --force`, database, false)).rejects.toThrow(/still loading/);
    await expect(exported(args('loading'), database, null)).rejects.toThrow(/is not known: .* --force/);
    expect(existsSync(join(out, 'loading'))).toBe(false);
    expect((await exported(`${args('forced')} --force`, database, null)).rows).toBeGreaterThan(0);
  });

  it('writes nothing while other processors load, and checks that after it has read where the index ends', async () => {
    const args = `trades --from 2023-11-14 --to 2023-11-15 --format csv --out ${join(out, 'others')}`;
    const order: string[] = [];
    const recorded: ExportDatabase = {
      ...database,
      query: (sql, params) => {
        order.push(sql.includes('end_s') ? 'end' : 'other');
        return database.query(sql, params);
      },
    };
    const isComplete = async () => order.push('complete') === 0;
    await expect(exported(args, recorded, true, isComplete)).rejects.toThrow(/still loading/);
    expect(order).toEqual(['end', 'complete']);
    expect(existsSync(join(out, 'others'))).toBe(false);
  });

  it('says that a day is incomplete, and that the last indexed block is before --to', async () => {
    const { printed, unreached } = await exported(
      `trades --from 2023-11-14 --to 2030-01-01 --format csv --out ${join(out, 'says')}`,
    );
    const lastBlock = isoS(lastRowMs / 1000 + 60);
    expect(unreached).toBe(
      `Indexed up to ${lastBlock}: the export ends there, before --to. Repeat the command later for the rest`,
    );
    expect(printed.join('\n')).toMatch(/2023-11-1\d is (degraded|pending|missing): \w/);
  });

  it.each(datasetNames)('reaches --to within the minute without %s after the last row', async (dataset) => {
    const dir = join(out, `sparse-${dataset}`);
    const toS = lastRowMs / 1000 + 61;
    const report = await exported(`${dataset} --from 2023-11-14 --to ${isoS(toS)} --format csv --out ${dir}`);
    expect(report.unreached).toBeNull();
    expect(readdirSync(dir).at(-1)).toBe(`${dataset}_20231114T000000Z_${isoS(toS).replace(/[-:]/g, '')}.csv`);
    const later = await exported(`${dataset} --from 2023-11-14 --to ${isoS(toS + 1)} --format csv --out ${dir}-later`);
    expect(later.unreached).not.toBeNull();
    expect(later.rows).toBe(report.rows);
  });

  it('waits for the tables before it reads the newest minute, and not before older ones', async () => {
    const args = (toS: number) =>
      `trades --from 2023-11-14 --to ${isoS(toS)} --format csv --out ${join(out, 'settled')}`;
    expect((await exported(args(lastRowMs / 1000 + 1))).settled).toBe(0);
    expect((await exported(args(lastRowMs / 1000 + 2))).settled).toBe(1);
  });

  it('says how many rows are of markets that the catalogue does not list', async () => {
    const { markets } = world.venue;
    const catalogued = new Set(markets.filter((m) => world.traitsOf(m).isCatalogued).flatMap(({ tokens }) => tokens));
    const isUnlisted = (trade: { token_id: string }) => !catalogued.has(trade.token_id);
    const parties = world.trades.filter(isUnlisted);
    const matches = parties.filter((trade) => !trade.is_taker_order);
    expect(matches.length).toBeGreaterThan(10);
    for (const [dataset, count] of [
      ['trades', matches.length],
      ['trade_parties', parties.length],
    ] as const) {
      const dir = join(out, `unlisted-${dataset}`);
      const args = `${dataset} --from 2023-11-14 --to 2030-01-01 --out ${dir}`;
      const { files, printed } = await exported(args);
      expect(files).toBe(1);
      const sentence = `  ${count} of them are of markets that the catalogue does not list: their names are empty.`;
      expect(printed.filter((line) => line.startsWith(sentence))).toHaveLength(1);
    }
  });
});

const importMain = join(import.meta.dirname, '../../dist/infra/import/main.js');
const runImport = (...args: string[]) => execFileSync(process.execPath, [importMain, ...args], { encoding: 'utf8' });
const span = '--from 2023-11-14 --to 2030-01-01';

/** Tables of a second database, filled with what ingest reads from imported files. */
async function importedDatabase(dir: string): Promise<ExportDatabase> {
  const imported = await openImported(dir);
  if (imported === null) throw new Error(`${dir} is no import`);
  const { signal } = new AbortController();
  const source = createImportedChainSource(imported);
  const range = await source.historyRange(null, signal);
  if (range === null) throw new Error('no history');
  // The log of another source.
  await expect(source.historyRange(range.toBlock + 2, signal)).rejects.toThrow(
    /ODDSTREAM_DATA to a directory of its own/,
  );
  const events: AnyEvent[] = [];
  for await (const block of source.history(range, signal)) {
    const decoded = decodeBlock(block);
    expect(decoded.problems).toEqual([]);
    events.push(...decoded.events, { kind: 'block', value: blockEvent(block, decoded.events) });
  }
  const catalog: AnyEvent[] = [];
  const rows = createRecordedCatalogSource({
    recording: importedCatalog(imported),
    lastWrittenMs: null,
    historyOnly: true,
    onRejected: (reason) => expect.unreachable(reason),
  });
  for await (const update of rows.load(signal)) if (update.type === 'rows') catalog.push(...update.rows);
  const clickhouse = await world.api.engine.connect({ database: 'second' });
  await migrate({ client: clickhouse, migrations, logger: silentLogger() });
  await insertRecords(clickhouse, catalogSink, catalog);
  for (const sink of [fillsSink, chainSink, walletEventsSink]) await insertRecords(clickhouse, sink, events);
  await publishViews({ client: clickhouse, database: 'second_market', views: publicViews, logger: silentLogger() });
  return clickHouseExport(client, 'second_market');
}

describe('import', () => {
  it('reads exported files as a recorded source, whose export has the same rows', async () => {
    const [files, recorded, again] = ['import-files', 'import-recorded', 'import-again'].map((name) => join(out, name));
    const chain = ['trade_parties', 'redemptions', 'splits_merges', 'resolutions'] as const;
    // Both formats, and rows that are in two files.
    for (const dataset of chain) await exported(`${dataset} ${span} --format csv --out ${files}`);
    await exported(`trade_parties ${span} --format parquet --out ${files}`);
    expect(runImport(`${files}`, '--out', `${recorded}`)).toMatch(/ rows of the chain\n[\d,]+ rows and 0 ticks in /);
    const second = await importedDatabase(`${recorded}`);
    // The markets of this world have no event; an imported market without one is its own.
    // This world values fees in shares by rules of its own; ingest values them at the price of the fill, as for every log.
    const rowsIn = (dir: string) =>
      csvIn(dir).map(
        ({ event_slug: _event, fee_usd: fee = '', ...row }): Record<string, string> =>
          (row.fee_shares ?? '0') === '0' ? { ...row, fee } : row,
      );
    let compared = 0;
    for (const dataset of [...chain, 'trades'] as const) {
      const one = join(`${again}`, dataset);
      await exported(`${dataset} ${span} --format csv --out ${one}-first`);
      await exported(`${dataset} ${span} --format csv --out ${one}-second`, second);
      const [first, repeated] = [rowsIn(`${one}-first`), rowsIn(`${one}-second`)];
      expect(first.length, dataset).toBeGreaterThan(0);
      expect(repeated, dataset).toEqual(first);
      compared += first.length;
    }
    expect(compared).toBeGreaterThan(100);
  });

  it('says which files are missing or damaged', async () => {
    const dir = join(out, 'import-missing');
    await exported(`trades ${span} --format csv --out ${dir}`);
    expect(() => runImport(dir)).toThrow(/lack the takers' orders: export trade_parties/);
    await exported(`trade_parties ${span} --format csv --out ${dir}`);
    const recorded = join(out, 'import-damaged');
    expect(runImport(dir, '--out', recorded)).toContain('No file of redemptions for 2023-11-14');
    const [name = ''] = readdirSync(recorded).filter((file) => file.startsWith('chain-'));
    writeFileSync(join(recorded, name), 'x');
    await expect(openImported(recorded)).rejects.toThrow(`${name} is damaged`);
  });

  it('says that a repeated import has rows which a log of the earlier one will never read', async () => {
    const [dir, recorded] = [join(out, 'import-late'), join(out, 'import-late-recorded')];
    await exported(`trade_parties ${span} --format csv --out ${dir}`);
    const note = /Note: [\d,]+ rows up to block \d+ are not in the import that was here/;
    expect(runImport(dir, '--out', recorded)).not.toMatch(note);
    expect(runImport(dir, '--out', recorded)).not.toMatch(note);
    const parties = csvIn(dir);
    const redemptions = join(out, 'import-late-redemptions');
    for (const folder of [dir, redemptions]) await exported(`redemptions ${span} --format csv --out ${folder}`);
    const last = Math.max(...parties.map(({ block_number: block }) => Number(block)));
    const late = csvIn(redemptions).filter(({ block_number: block }) => Number(block) <= last).length;
    expect(late).toBeGreaterThan(0);
    expect(runImport(dir, '--out', recorded)).toContain(`Note: ${late} rows up to block ${last} are not in the import`);
  });

  it('names the first row of an edited file with a value that no exported row has', async () => {
    const dir = join(out, 'import-edited');
    await exported(`trade_parties ${span} --format csv --out ${dir}`);
    const [name = ''] = readdirSync(dir);
    const [header = '', row = '', ...rest] = readFileSync(join(dir, name), 'utf8').split('\n');
    const at = header.split(',').findIndex((column) => column.replaceAll('"', '') === 'wallet');
    const edited = row.split(',').map((value, column) => (column === at ? '"0xnobody"' : value));
    writeFileSync(join(dir, name), [header, edited.join(','), ...rest].join('\n'));
    expect(() => runImport(dir, '--out', join(out, 'import-edited-out'))).toThrow(
      /2023-11-14, block \d+, log \d+: wallet is "0xnobody"/,
    );
    expect(existsSync(join(out, 'import-edited-out', 'manifest.json'))).toBe(false);
  });

  it('does not overwrite a recorded source that no import has written', async () => {
    const [dir, recording] = [join(out, 'import-onto'), join(out, 'import-recording')];
    await exported(`trade_parties ${span} --format csv --out ${dir}`);
    mkdirSync(recording);
    writeFileSync(join(recording, 'manifest.json'), '{"format":1}');
    expect(() => runImport(dir, '--out', recording)).toThrow(/manifest.json that no import has written/);
    expect(readdirSync(recording)).toEqual(['manifest.json']);
  });
});

it('files of an export end at UTC midnight and name their exact span', () => {
  const options = parseExportArguments(['ticks', '--from', '2026-03-22T23:59:58Z', '--to', '2026-03-24T00:00:01Z']);
  expect(filesOf(options, options.toS ?? 0).map(({ name }) => name)).toEqual([
    'ticks_20260322T235958Z_20260323T000000Z.parquet',
    'ticks_20260323T000000Z_20260324T000000Z.parquet',
    'ticks_20260324T000000Z_20260324T000001Z.parquet',
  ]);
});
