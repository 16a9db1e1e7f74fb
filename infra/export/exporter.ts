import { createReadStream, createWriteStream } from 'node:fs';
import { mkdir, rename, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { RetryableError } from '../errors.js';
import { type ExportArguments, type ExportFormat, formats } from './arguments.js';
import { type Dataset, datasets } from './datasets.js';
import { indexedEndS } from './indexed-end.js';
import { isWholeFile } from './whole-file.js';

const DAY_S = 86_400;
/** Time after a block within which all tables have its rows. */
const SETTLED_S = 60;

/** The analysts' database. */
export interface ExportDatabase {
  readonly name: string;
  query<T>(sql: string, params: Readonly<Record<string, unknown>>): Promise<T[]>;
  /** The result in `format`, as bytes. */
  stream(sql: string, params: Readonly<Record<string, unknown>>, format: string): Promise<Readable>;
}

/** A file and its span, Unix seconds: `fromS` <= time < `toS`, within one UTC day. */
export interface ExportFile {
  readonly name: string;
  readonly fromS: number;
  readonly toS: number;
}

const iso = (timeS: number): string => new Date(timeS * 1000).toISOString().replace('.000', '');
const compact = (timeS: number): string => iso(timeS).replace(/[-:]/g, '');

/** One file per UTC day. A name contains the exact span, so that a file of an unfinished day never counts as that of the whole day. */
export function filesOf({ dataset, format, fromS }: ExportArguments, toS: number): readonly ExportFile[] {
  const files: ExportFile[] = [];
  for (let start = fromS; start < toS; ) {
    const end = Math.min((Math.floor(start / DAY_S) + 1) * DAY_S, toS);
    files.push({ name: `${dataset}_${compact(start)}_${compact(end)}.${format}`, fromS: start, toS: end });
    start = end;
  }
  return files;
}

/** Rows of a CSV file without its header; line breaks within quotes do not count. */
async function csvRows(path: string): Promise<number> {
  let quoted = false;
  let lines = 0;
  for await (const chunk of createReadStream(path)) {
    for (const byte of chunk as Buffer) {
      if (byte === 0x22) quoted = !quoted;
      else if (byte === 0x0a && !quoted) lines += 1;
    }
  }
  return lines - 1;
}

/** Whether a file of an earlier run is there; `damaged`: empty or cut, as a power failure may leave it. */
async function earlierFile(path: string, format: ExportFormat): Promise<'none' | 'whole' | 'damaged'> {
  const found = await stat(path).catch(() => null);
  if (found === null) return 'none';
  return (await isWholeFile(path, format)) ? 'whole' : 'damaged';
}

export interface ExportReport {
  /** Files that are complete now, and those among them that an earlier run had written. */
  readonly files: number;
  readonly skipped: number;
  readonly rows: number;
  /** Where the export ends before `--to`, as a sentence; null: it has the requested span. */
  readonly unreached: string | null;
}

export interface ExportDeps {
  readonly database: ExportDatabase;
  readonly print: (line: string) => void;
  /** Whether processors of this machine have the tables and have processed the log; null: none respond. */
  readonly processorsReady: () => Promise<boolean | null>;
  /** Whether all tables have the records that the log has now, whichever processors fill them. */
  readonly tablesComplete: () => Promise<boolean>;
  /** Resolves when all tables have the rows of the blocks that are indexed now. */
  readonly settle: () => Promise<void>;
}

const LOADING = 'The tables are still loading: repeat the command when /readyz of all processors is 200';

/**
 * Requested and possible end of an export, Unix seconds, exclusive. Throws RetryableError when nothing is indexed, while tables load, and when that is
 * unknown, unless `force`: each partition of a topic loads by itself, so that any day may lack rows.
 */
async function endOf(
  { database, processorsReady, tablesComplete, settle }: ExportDeps,
  { dataset, toS, force }: ExportArguments,
): Promise<{ readonly requestedS: number; readonly indexedS: number }> {
  const isReady = await processorsReady();
  if (isReady === false) throw new RetryableError(LOADING);
  if (isReady === null && !force)
    throw new RetryableError(
      'No processors respond on this machine, so whether the tables are complete is not known: run the command where they do, or add --force when their /readyz is 200',
    );
  const indexedS = await indexedEndS(database, dataset);
  if (indexedS === 0) throw new RetryableError('Nothing is indexed yet: repeat the command later');
  // After the end was read: what is indexed by then is in the log, and so in all tables that have the log.
  if (isReady === true && !(await tablesComplete())) throw new RetryableError(LOADING);
  const requestedS = toS ?? Math.floor(indexedS / DAY_S) * DAY_S;
  // Each table is filled by itself, some seconds after the block is indexed.
  if (requestedS > indexedS - SETTLED_S) await settle();
  return { requestedS, indexedS };
}

/**
 * Writes the rows of a dataset in a span, up to the last indexed block. A file appears under its name only when it is complete. Throws RetryableError for
 * a truncated result, and unless the tables are complete (`force`: unless they are known not to be).
 */
export async function exportDataset(deps: ExportDeps, options: ExportArguments): Promise<ExportReport> {
  const { database, print } = deps;
  const { requestedS, indexedS } = await endOf(deps, options);
  const dataset: Dataset = datasets[options.dataset];
  const { time, orderBy, coverage, nameless, columns = '*', view: stored = options.dataset } = dataset;
  const view = `${database.name}.${stored}`;
  const toS = Math.min(requestedS, indexedS);
  const unreached =
    toS < requestedS
      ? `Indexed up to ${iso(indexedS - 1)}: the export ends there, before --to. Repeat the command later for the rest`
      : null;
  if (options.toS === null)
    print(`${iso(indexedS).slice(0, 10)} is not over, and left out: name --to for a part of it.`);
  const files = filesOf(options, toS);
  await mkdir(options.out, { recursive: true });

  const within = `${time} >= toDateTime({from:UInt32}, 'UTC') AND ${time} < toDateTime({to:UInt32}, 'UTC')`;
  const warnIfIncomplete = async ({ fromS }: ExportFile) => {
    if (coverage === null) return;
    const rows = await database.query<{ state: string; why: string }>(
      `SELECT state, why FROM ${database.name}.coverage WHERE day = toDate(toDateTime({from:UInt32}, 'UTC')) AND source = {source:String}`,
      { from: fromS, source: coverage },
    );
    const day = new Date(fromS * 1000).toISOString().slice(0, 10);
    for (const { state, why } of rows) if (state !== 'available') print(`  ${day} is ${state}: ${why}`);
  };
  const write = async (
    file: ExportFile,
    path: string,
  ): Promise<{ readonly rows: number; readonly nameless: number }> => {
    const params = { from: file.fromS, to: file.toS };
    const [counted] = await database.query<{ n: string; nameless: string }>(
      `SELECT toString(count()) AS n, toString(countIf(${nameless ?? 'false'})) AS nameless FROM ${view} WHERE ${within}`,
      params,
    );
    const rows = Number(counted?.n ?? 0);
    const partial = `${path}.partial`;
    const sql = `SELECT ${columns} FROM ${view} WHERE ${within} ORDER BY ${orderBy}`;
    // On the disk before it has its name: after a power failure it would be there, empty or cut.
    const written = createWriteStream(partial, { flush: true });
    await pipeline(await database.stream(sql, params, formats[options.format]), written);
    const isWhole =
      options.format === 'csv' ? (await csvRows(partial)) === rows : await isWholeFile(partial, options.format);
    if (!isWhole) {
      await rm(partial);
      throw new RetryableError(`${file.name} was not received completely; repeat the command to resume`);
    }
    await rename(partial, path);
    return { rows, nameless: Number(counted?.nameless ?? 0) };
  };

  let [skipped, total] = [0, 0];
  for (const [index, file] of files.entries()) {
    const path = join(options.out, file.name);
    const label = `${String(index + 1).padStart(String(files.length).length)}/${files.length}  ${file.name}`;
    await warnIfIncomplete(file);
    const earlier = await earlierFile(path, options.format);
    if (earlier === 'whole') {
      skipped += 1;
      print(`${label}  is there already`);
      continue;
    }
    if (earlier === 'damaged') print(`${label}  is damaged and is written again`);
    const written = await write(file, path);
    total += written.rows;
    print(`${label}  ${written.rows.toLocaleString('en')} rows`);
    if (written.nameless > 0)
      print(
        `  ${written.nameless.toLocaleString('en')} of them are of markets that the catalogue does not list: their names are empty. Once it lists them, delete the file and repeat the command`,
      );
  }
  return { files: files.length, skipped, rows: total, unreached };
}
