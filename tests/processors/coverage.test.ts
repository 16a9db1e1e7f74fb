import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { ClickHouse } from '../../infra/clickhouse/client.js';
import { createLmdbLog } from '../../infra/log/lmdb/lmdb-log.js';
import type { Log, NewRecord } from '../../infra/log/port.js';
import { silentLogger } from '../../infra/telemetry/logger.js';
import { createMetrics } from '../../infra/telemetry/metrics.js';
import { createBlockEncoder } from '../../ingest/chain/block-records.js';
import { addresses } from '../../ingest/chain/contracts.js';
import { buildLog, type LogSpec } from '../../ingest/chain/decode/build.fixture.js';
import { blockEvent, decodeBlock, decodePending } from '../../ingest/chain/decode/index.js';
import { alice, bob, fillV2, M, plain, single } from '../../ingest/chain/decode/scenario.fixture.js';
import type { SourceBlock } from '../../ingest/chain/source.js';
import { chainSink } from '../../processors/chain/sink.js';
import { oracleSink } from '../../processors/oracle/sink.js';
import { rebuild } from '../../processors/rebuild/rebuild.js';
import { rebuildTasksFor } from '../../processors/rebuild/rebuild-tasks.js';
import { createHistoryTrimmer } from '../../processors/retention/history-trimmer.js';
import { createRawTopics } from '../../processors/retention/raw-topics.js';
import { createTickRowDeletion } from '../../processors/retention/tick-rows.js';
import { createCodec } from '../../schemas/codec.js';
import { coverageSql } from '../../schemas/coverage/coverage.sql.js';
import { watchedContracts } from '../../schemas/coverage/sources.js';
import { allTopics, topics } from '../../schemas/topics.js';
import { startMigratedClickHouse, type TestClickHouse } from '../support/clickhouse.js';
import { createTestTick, hash } from './events.js';
import { runToEnd, smallSink } from './run-sink.js';

const codec = createCodec();
const logger = silentLogger();
const encode = createBlockEncoder({ codec, decoder: { decodeBlock, blockEvent, decodePending } });
const FEED = 'BTC/USD';
const DAY_S = 86_400;
const [FIRST_DAY, STEP_S] = [Date.UTC(2026, 2, 1) / 1000, 300];

/** A block every five minutes; its number is its index since the first day. */
function blockAt(second: number, specs: readonly LogSpec[], bad: boolean): SourceBlock {
  const number = 1000 + (second - FIRST_DAY) / STEP_S;
  const blockHash = hash(number) as `0x${string}`;
  const logs = specs.map((spec, index) => ({ ...buildLog(spec, index), blockHash }));
  // The data of the last log of a bad block lacks its last 32-byte word.
  const truncated = bad
    ? logs.map((log, i) => (i === logs.length - 1 ? { ...log, data: log.data.slice(0, -64) as `0x${string}` } : log))
    : logs;
  return {
    number,
    hash: blockHash,
    parentHash: hash(number - 1) as `0x${string}`,
    timestampS: second,
    txCount: 1,
    logs: truncated,
  };
}

const transfer = single(alice, alice, bob, plain[0] ?? 0n, M);
const fill = fillV2(addresses.exchangeV2, alice, bob, 0, M, 2n * M);
const at = (day: number, hour: number, minute = 0, second = 0) =>
  FIRST_DAY + day * DAY_S + hour * 3600 + minute * 60 + second;

/**
 * Day 0 complete, its first block with a fill. Day 1 without the blocks of 10:00 to 10:55. Day 2 without any. Day 3 complete, its block at noon with a
 * fill that cannot be decoded. Day 4 up to 06:00.
 */
function chainRecords(): NewRecord[] {
  const records: NewRecord[] = [];
  for (let second = at(0, 0); second <= at(4, 6); second += STEP_S) {
    if (second >= at(1, 10) && second < at(1, 11)) continue;
    if (second >= at(2, 0) && second < at(3, 0)) continue;
    const bad = second === at(3, 12);
    const specs = second === at(0, 0) || bad ? [transfer, fill] : [transfer];
    const block = encode(blockAt(second, specs, bad));
    records.push(...block.eventRecords, block.block);
  }
  return records;
}

/** A tick every 30 seconds from the start of day 3 to the end of day 4, without those of 10:00:30 and 10:01:00 on day 3. */
function tickRecords(): NewRecord[] {
  const records: NewRecord[] = [];
  for (let second = at(3, 0); second < at(5, 0); second += 30) {
    if (second === at(3, 10, 0, 30) || second === at(3, 10, 1)) continue;
    const tick = createTestTick(FEED, second, 100n);
    records.push({ key: FEED, partition: 0, timestampMs: tick.timestamp_ms, value: codec.encode('price_tick', tick) });
  }
  return records;
}

interface Row {
  readonly day: string;
  readonly kind: string;
  readonly source: string;
  readonly state: string;
  readonly why: string;
  readonly records: string;
  readonly logs: string | null;
  readonly undecoded_logs: string | null;
  readonly first_block: string | null;
  readonly last_block: string | null;
  readonly first_ms: string | null;
  readonly change_ms: string | null;
  readonly longest_gap_s: string | null;
}

let clickhouse: TestClickHouse;
let client: ClickHouse;
let log: Log;
let dir: string;
beforeAll(async () => {
  clickhouse = await startMigratedClickHouse();
  client = clickhouse.client;
  dir = await mkdtemp(join(tmpdir(), 'coverage-'));
  log = createLmdbLog({ dir, logger, maintenanceIntervalMs: null });
  await log.ensureTopics(allTopics);
});
afterAll(async () => {
  await log.close();
  await clickhouse.stop();
  await rm(dir, { recursive: true, force: true });
});

const rowsOf = (from: string, to: string) =>
  client.query<Row>(
    `SELECT * FROM (${coverageSql({ from: `toDate('${from}')`, to: `toDate('${to}')` })}) ORDER BY kind, source, day`,
  );
const stored = async () => [
  await client.query('SELECT * FROM coverage_chain FINAL ORDER BY source, bucket'),
  await client.query('SELECT * FROM coverage_feeds FINAL ORDER BY feed, twap_window_s, source, bucket'),
];

describe('coverage', { timeout: 180_000 }, () => {
  it('is pending or missing for every source of an empty log', async () => {
    const rows = await rowsOf('2026-03-01', '2026-03-01');
    expect(rows).toHaveLength(1 + watchedContracts.length + 1 + 1);
    for (const row of rows) {
      expect(row.state, row.source).toBe(row.kind === 'order_book' ? 'missing' : 'pending');
      expect(row).toMatchObject({ records: '0', first_block: null, first_ms: null });
    }
  });

  it('counts every record of the log once and is the same after a restart and a rebuild', async () => {
    const [chain, ticks] = [chainRecords(), tickRecords()];
    const half = Math.floor(chain.length / 2);
    await log.append(topics.chainFinal.name, chain.slice(0, half));
    await log.append(topics.oracleTicks.name, ticks);
    await runToEnd(smallSink(chainSink, log, client, 100).sink);
    await log.append(topics.chainFinal.name, chain.slice(half));
    await runToEnd(smallSink(chainSink, log, client, 100).sink);
    await runToEnd(smallSink(oracleSink, log, client, 1000).sink);

    const rows = await rowsOf('2026-02-28', '2026-03-06');
    const recordsOf = (kinds: readonly string[]) =>
      rows.filter(({ kind }) => kinds.includes(kind)).reduce((sum, row) => sum + Number(row.records), 0);
    // Blocks: 288 + 276 + 0 + 288 + 73. Each produces a block record and one of its transfer; one fill was decoded.
    expect(chain).toHaveLength(925 * 2 + 1);
    expect(recordsOf(['blocks', 'contract'])).toBe(chain.length);
    // 2 days of 2,880 ticks, less 2.
    expect(recordsOf(['oracle'])).toBe(5758);
    expect(ticks).toHaveLength(5758);

    const before = await stored();
    await runToEnd(smallSink(chainSink, log, client).sink);
    expect(await stored()).toEqual(before);
    const shadow = await clickhouse.connect({ database: 'coverage_shadow' });
    const signal = new AbortController().signal;
    for (const name of ['blocks', 'ticks']) {
      const reports = await rebuild({
        tasks: rebuildTasksFor(name),
        log,
        codec,
        live: client,
        shadow,
        logger,
        signal,
        checkOnly: false,
      });
      expect(reports.filter((report) => !report.identical)).toEqual([]);
      expect(reports.some(({ table }) => table.startsWith('coverage_'))).toBe(true);
    }
    expect(await stored()).toEqual(before);
  });

  it('has the state of each source and day computed by hand', async () => {
    const rows = await rowsOf('2026-02-28', '2026-03-06');
    const of = (source: string) =>
      rows
        .filter((row) => row.source === source)
        .map(({ day, state, records, why }) => [day, state, Number(records), why]);
    const noGap = 'Indexed without a gap from block';
    const gap = 'No block with a log of a watched contract for 3900 seconds from 09:55:00 to 11:00:00 UTC.';
    const before = 'Before the first indexed block, 1000 of 2026-03-01T00:00:00Z.';
    const later = 'Not reached yet: the last indexed block is 2224 of 2026-03-05T06:00:00Z.';
    const until = 'The day is indexed up to block 2224 of 2026-03-05T06:00:00Z.';
    expect(of('blocks')).toEqual([
      ['2026-02-28', 'missing', 0, before],
      ['2026-03-01', 'available', 288, `${noGap} 1000 to 1287.`],
      ['2026-03-02', 'degraded', 276, gap],
      ['2026-03-03', 'missing', 0, 'No block of this day is indexed.'],
      ['2026-03-04', 'available', 288, `${noGap} 1864 to 2151.`],
      ['2026-03-05', 'pending', 73, until],
      ['2026-03-06', 'pending', 0, later],
    ]);
    const none = 'No logs of this contract that day.';
    expect(of('contract:exchange_v2')).toEqual([
      ['2026-02-28', 'missing', 0, before],
      ['2026-03-01', 'available', 1, `${noGap} 1000 to 1287.`],
      ['2026-03-02', 'degraded', 0, gap],
      ['2026-03-03', 'missing', 0, 'No block of this day is indexed.'],
      ['2026-03-04', 'degraded', 0, '1 of 1 logs of this contract were not decoded.'],
      ['2026-03-05', 'pending', 0, until],
      ['2026-03-06', 'pending', 0, later],
    ]);
    expect(of('contract:exchange_v1').filter(([, state]) => state === 'available')).toEqual([
      ['2026-03-01', 'available', 0, `${none} ${noGap} 1000 to 1287.`],
      ['2026-03-04', 'available', 0, `${none} ${noGap} 1864 to 2151.`],
    ]);
    const tokens = rows.find((row) => row.source === 'contract:conditional_tokens' && row.day === '2026-03-02');
    expect(tokens).toMatchObject({
      address: '0x4d97dcd97ec945f40cf65f87097ace5ea0476045',
      exchange_version: null,
      records: '276',
      logs: '276',
      undecoded_logs: '0',
      first_block: '1288',
      last_block: '1575',
      first_ms: String(at(1, 0) * 1000),
      change_ms: String(at(1, 23, 55) * 1000),
    });
    const feed = of(`oracle:test:${FEED}`);
    expect(
      feed
        .slice(0, 4)
        .every(([, state, , why]) => state === 'missing' && why === 'Before the first tick, of 2026-03-04T00:00:00Z.'),
    ).toBe(true);
    expect(feed.slice(4)).toEqual([
      ['2026-03-04', 'degraded', 2878, 'No tick for 90 seconds from 10:00:00 to 10:01:30 UTC.'],
      ['2026-03-05', 'available', 2880, 'Ticks without a gap.'],
      ['2026-03-06', 'missing', 0, 'No tick since 2026-03-05T23:59:30Z.'],
    ]);
    expect(rows.find((row) => row.kind === 'oracle' && row.day === '2026-03-04')).toMatchObject({
      longest_gap_s: '90',
      // Received 400 ms after the last tick, of 23:59:30.
      change_ms: String(at(3, 23, 59, 30) * 1000 + 400),
    });
    expect(new Set(of('order_book').map(([, state]) => state))).toEqual(new Set(['missing']));
  });

  it('is missing for the days of ticks that RAW_HISTORY_DAYS deleted from log and table, which keep candles and chain', async () => {
    const count = async (table: string) =>
      Number((await client.query<{ n: string }>(`SELECT toString(count()) AS n FROM ${table} FINAL`))[0]?.n);
    const [candles, blocks] = [await count('candles_5m'), await count('coverage_chain')];
    const rawTopics = createRawTopics({
      log,
      codec,
      store: client,
      sinks: [chainSink, oracleSink],
      onUnreadable: () => undefined,
    });
    const trimmer = createHistoryTrimmer({
      log,
      days: 2,
      rawTopics,
      deleteTickRows: createTickRowDeletion({ log, clickhouse: client }),
      logger,
      metrics: createMetrics({ process: 'test', defaults: false }),
      nowMs: () => at(6, 12) * 1000,
      marginRecords: 1000,
    });
    const start = async (topic: string) => (await log.bounds(topic, 0)).earliest;
    const ticks = topics.oracleTicks.name;
    for (let pass = 0; pass < 2; pass++) await trimmer.trimOnce();
    // The stream has read nothing.
    expect(await start(ticks)).toBe(0);
    await log.commit('stream', [{ topic: ticks, partition: 0, nextOffset: 5758 }]);
    for (let pass = 0; pass < 2; pass++) await trimmer.trimOnce();
    expect(await start(ticks)).toBe(2878);
    // No position of the processors that read chain.final.
    expect(await start(topics.chainFinal.name)).toBe(0);
    while ((await count('ticks')) !== 2880) await new Promise((resolve) => setTimeout(resolve, 50));
    const tickDays = async () =>
      (await rowsOf('2026-03-04', '2026-03-05'))
        .filter(({ kind }) => kind === 'oracle')
        .map(({ state, records, why }) => [state, Number(records), why]);
    const expected = [
      ['missing', 0, 'Before the first tick, of 2026-03-05T00:00:00Z.'],
      ['available', 2880, 'Ticks without a gap.'],
    ];
    while ((await tickDays())[0]?.[1] !== 0) await new Promise((resolve) => setTimeout(resolve, 50));
    expect(await tickDays()).toEqual(expected);
    expect([await count('candles_5m'), await count('coverage_chain')]).toEqual([candles, blocks]);
    await runToEnd(smallSink(oracleSink, log, client, 1000).sink);
    await trimmer.trimOnce();
    expect([await count('ticks'), await tickDays()]).toEqual([2880, expected]);
  });
});
