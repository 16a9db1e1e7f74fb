import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { mkdir, mkdtemp, rename, rm } from 'node:fs/promises';
import { basename, join, resolve } from 'node:path';
import { type Engine, openEngine } from '../clickhouse/embedded/engine.js';
import { UsageError } from '../command-line.js';
import { FatalError } from '../errors.js';
import { isWholeFile } from '../export/whole-file.js';
import type { Logger } from '../telemetry/logger.js';
import type { ImportArguments } from './arguments.js';
import { type ExportedFile, exportedFiles, missingDatasets } from './exported-files.js';
import { IMPORT_FORMAT, type ImportedChainFile, type ImportedFile, type ImportManifest } from './format.js';
import {
  allConditionsSql,
  type ConditionRow,
  chainDatasets,
  chainRowsSql,
  conditionsSql,
  invalidRowSql,
  text,
  tickRowsSql,
} from './import.sql.js';
import { linesOf, writeLines } from './lines.js';
import { importedMarket, isCombo } from './markets.js';
import { contentName, readImport, removeLeftovers, replaceImport, WORK_PREFIX } from './replace-import.js';

const MEMORY_BYTES = 1024 ** 3;
const DAY_S = 86_400;
const MARKETS = 'markets.ndjson.gz';

async function sha256Of(path: string): Promise<string> {
  const hash = createHash('sha256');
  for await (const chunk of createReadStream(path)) hash.update(chunk as Buffer);
  return hash.digest('hex');
}

async function rowsOf<T>(engine: Engine, sql: string): Promise<T[]> {
  const lines = (await engine.queryText(sql, 'JSONEachRow')).split('\n');
  return lines.filter((line) => line !== '').map((line) => JSON.parse(line) as T);
}

export interface ImportReport {
  readonly manifest: ImportManifest;
  readonly rows: number;
  readonly ticks: number;
  /** Markets of whose tokens the files do not tell the collateral. */
  readonly unknown: number;
}

/**
 * Turns files of `npm run export` into a recorded source, which replaces the one of an earlier import when it is complete. Throws UsageError when there
 * is nothing to import, FatalError for files that do not belong together.
 */
export async function importExport(
  deps: { readonly logger: Logger; readonly print: (line: string) => void },
  { folder, out }: ImportArguments,
): Promise<ImportReport> {
  const { logger, print } = deps;
  // The engine resolves relative names against a directory of its own.
  const files = exportedFiles(resolve(folder));
  for (const { path, format } of files)
    if (!(await isWholeFile(path, format)))
      throw new UsageError(`${basename(path)} is empty or cut: copy or export it again`);
  for (const line of missingDatasets(files)) print(line);
  await mkdir(out, { recursive: true });
  const earlier = await readImport(out);
  await removeLeftovers(out, earlier);
  const work = await mkdtemp(join(resolve(out), WORK_PREFIX));
  const directory = join(work, 'engine');
  const engine = await openEngine({ directory, memoryBytes: MEMORY_BYTES, logger });
  try {
    const named = async (draft: string): Promise<Pick<ImportedFile, 'file' | 'sha256'> & { path: string }> => {
      const sha256 = await sha256Of(join(work, draft));
      const file = contentName(draft, sha256);
      await rename(join(work, draft), join(work, file));
      return { file, sha256, path: join(work, file) };
    };
    const save = async (name: string, sql: string): Promise<string> => {
      const path = join(work, name);
      await engine.queryText(
        `${sql} INTO OUTFILE ${text(path)} COMPRESSION 'gzip' FORMAT JSONEachRow SETTINGS output_format_json_quote_64bit_integers = 0`,
      );
      return path;
    };
    const write = async (name: string, sql: string): Promise<ImportedFile & { path: string }> => {
      const path = await save(name, sql);
      const [counted] = await rowsOf<{ n: string }>(
        engine,
        `SELECT toString(count()) AS n FROM file(${text(path)}, LineAsString, 'line String')`,
      );
      return { ...(await named(name)), rows: Number(counted?.n ?? 0) };
    };
    const days = [...new Set(files.map(({ day }) => day))].sort();
    const chain: ImportedChainFile[] = [];
    const ticks: ImportedFile[] = [];
    for (const day of days) {
      const ofDay = files.filter((file) => file.day === day);
      const written: string[] = [];
      if (isOfChain(ofDay)) {
        const { path, ...file } = await write(`chain-${day}.ndjson.gz`, chainRowsSql(ofDay));
        await requireValidRows(engine, path, day);
        if (file.rows > 0) chain.push({ ...file, ...(await blocksOf(engine, path)) });
        await save(`conditions-${day}.ndjson.gz`, conditionsSql(ofDay));
        written.push(`${file.rows.toLocaleString('en')} rows of the chain`);
      }
      if (ofDay.some(({ dataset }) => dataset === 'ticks')) {
        const { path, ...file } = await write(`ticks-${day}.ndjson.gz`, tickRowsSql(ofDay));
        if (file.rows > 0) ticks.push(file);
        written.push(`${file.rows.toLocaleString('en')} ticks`);
      }
      print(`${day}  ${written.join(', ')}`);
    }
    assertAscending(chain);
    const added = await rowsAdded(engine, work, chain, earlier?.chain ?? []);
    if (added !== null)
      print(
        `Note: ${added.rows.toLocaleString('en')} rows up to block ${added.block} are not in the import that was here. A product that has read that one continues after this block and never reads them: start it with a new ODDSTREAM_DATA.`,
      );
    const conditions = isOfChain(files)
      ? await save('conditions.ndjson.gz', allConditionsSql(join(work, 'conditions-*.ndjson.gz')))
      : null;
    const { rows, unknown } = await writeMarkets(join(work, MARKETS), conditions);
    const { path: _, ...marketsFile } = await named(MARKETS);
    const dayS = (day: string | undefined) => Date.parse(`${day}T00:00:00Z`) / 1000;
    const manifest: ImportManifest = {
      format: IMPORT_FORMAT,
      from_s: dayS(days[0]),
      to_s: dayS(days.at(-1)) + DAY_S,
      chain,
      ticks,
      markets: { ...marketsFile, rows },
    };
    await replaceImport({ out, work }, earlier, manifest);
    const sum = (list: readonly ImportedFile[]) => list.reduce((total, { rows }) => total + rows, 0);
    return { manifest, rows: sum(chain), ticks: sum(ticks), unknown };
  } finally {
    await engine.close();
    await rm(work, { recursive: true, force: true });
  }
}

/** Writes the markets of a file of ConditionRow; null: none. */
async function writeMarkets(
  path: string,
  conditions: string | null,
): Promise<{ readonly rows: number; readonly unknown: number }> {
  let [rows, unknown] = [0, 0];
  async function* markets() {
    if (conditions === null) return;
    for await (const row of linesOf<ConditionRow>(conditions)) {
      const market = importedMarket(row);
      if (market !== null) {
        rows += 1;
        yield market;
      } else if (!isCombo(row.condition)) unknown += 1;
    }
  }
  await writeLines(path, markets());
  return { rows, unknown };
}

/** Throws UsageError that names the first row of a day with a value that no exported row has, e.g. of a file that was edited. */
async function requireValidRows(engine: Engine, path: string, day: string): Promise<void> {
  const [bad] = await rowsOf<{ block: string; log: number; field: string; value: string }>(engine, invalidRowSql(path));
  if (bad !== undefined)
    throw new UsageError(
      `${day}, block ${bad.block}, log ${bad.log}: ${bad.field} is ${JSON.stringify(bad.value.slice(0, 100))}. Export the day again`,
    );
}

/** Rows up to the last block of the earlier import that it did not have; null: none. */
async function rowsAdded(
  engine: Engine,
  work: string,
  chain: readonly ImportedChainFile[],
  earlier: readonly ImportedChainFile[],
): Promise<{ readonly rows: number; readonly block: number } | null> {
  const block = earlier.at(-1)?.last_block;
  if (block === undefined) return null;
  let rows = -earlier.reduce((sum, file) => sum + file.rows, 0);
  for (const { file, first_block, last_block, rows: all } of chain) {
    if (first_block > block) continue;
    if (last_block <= block) rows += all;
    else {
      const [counted] = await rowsOf<{ n: string }>(
        engine,
        `SELECT toString(countIf(block <= ${block})) AS n FROM file(${text(join(work, file))}, JSONEachRow, 'block UInt64')`,
      );
      rows += Number(counted?.n ?? 0);
    }
  }
  return rows > 0 ? { rows, block } : null;
}

const isOfChain = (files: readonly ExportedFile[]): boolean =>
  files.some(({ dataset }) => (chainDatasets as readonly string[]).includes(dataset));

async function blocksOf(
  engine: Engine,
  path: string,
): Promise<Pick<ImportedChainFile, 'blocks' | 'first_block' | 'last_block'>> {
  const [found] = await rowsOf<Record<string, string>>(
    engine,
    `SELECT toString(uniqExact(block)) AS blocks, toString(min(block)) AS first_block, toString(max(block)) AS last_block
    FROM file(${text(path)}, JSONEachRow, 'block UInt64')`,
  );
  return {
    blocks: Number(found?.blocks),
    first_block: Number(found?.first_block),
    last_block: Number(found?.last_block),
  };
}

function assertAscending(chain: readonly ImportedChainFile[]): void {
  chain.forEach((file, index) => {
    const before = chain[index - 1];
    if (before !== undefined && file.first_block <= before.last_block)
      throw new FatalError(
        `${file.file} begins with block ${file.first_block}, ${before.file} ends with ${before.last_block}: the files are of different chains`,
      );
  });
}
