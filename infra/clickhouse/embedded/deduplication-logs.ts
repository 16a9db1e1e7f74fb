import { appendFileSync, existsSync, readdirSync, readFileSync, truncateSync } from 'node:fs';
import { join } from 'node:path';

/** A deduplication token whose insert wrote no part. */
export interface UnusedToken {
  /** Directory of the table below `store`. */
  readonly table: string;
  readonly part: string;
}

/** Operations in a deduplication log of the engine. */
const ADD = '1';
const DROP = '2';
const LOG_FILE = /^deduplication_log_(\d+)\.txt$/;
/** Partition, first and last block number, level, and the mutation if there was one. */
const PART = /^([^_]+)_(\d+)_(\d+)_\d+(?:_\d+)?$/;
/** More than the inserts into one table that can run at once. Older tokens may belong to parts that were removed since. */
const NEWEST_TOKENS = 64;

interface BlockRange {
  readonly partition: string;
  readonly first: number;
  readonly last: number;
}

function blockRangeOf(part: string): BlockRange | null {
  const [, partition, first, last] = PART.exec(part) ?? [];
  return partition === undefined ? null : { partition, first: Number(first), last: Number(last) };
}

const directoriesIn = (path: string): string[] =>
  existsSync(path)
    ? readdirSync(path, { withFileTypes: true })
        .filter((entry) => entry.isDirectory())
        .map((entry) => entry.name)
    : [];

/** Content of a log without the record that was being written when the process was killed, which is also cut off from the file. */
function readCompleteRecords(file: string): string {
  const text = readFileSync(file, 'utf8');
  const end = text.lastIndexOf('\n') + 1;
  if (end < text.length) truncateSync(file, Buffer.byteLength(text.slice(0, end)));
  return text.slice(0, end);
}

function repairTable(path: string): string[] {
  const folder = join(path, 'deduplication_logs');
  const files = readdirSync(folder)
    .filter((name) => LOG_FILE.test(name))
    .sort((a, b) => Number(LOG_FILE.exec(a)?.[1]) - Number(LOG_FILE.exec(b)?.[1]));
  const newest = files.at(-1);
  if (newest === undefined) return [];
  /** Part by block id, oldest first. */
  const tokens = new Map<string, string>();
  for (const file of files) {
    for (const record of readCompleteRecords(join(folder, file)).split('\n')) {
      const [operation, part, blockId] = record.split('\t');
      if (part === undefined || blockId === undefined) continue;
      tokens.delete(blockId);
      if (operation === ADD) tokens.set(blockId, part);
    }
  }
  const parts = directoriesIn(path).flatMap((name) => blockRangeOf(name) ?? []);
  const exists = (part: string): boolean => {
    const range = blockRangeOf(part);
    if (range === null) return true;
    return parts.some(
      ({ partition, first, last }) => partition === range.partition && first <= range.first && last >= range.last,
    );
  };
  const unused = [...tokens].slice(-NEWEST_TOKENS).filter(([, part]) => !exists(part));
  if (unused.length > 0)
    appendFileSync(join(folder, newest), unused.map(([blockId, part]) => `${DROP}\t${part}\t${blockId}\n`).join(''));
  return unused.map(([, part]) => part);
}

/**
 * Removes the deduplication tokens of inserts that wrote no part. The engine notes the token of an insert just before it commits the part; killed in
 * between, it would drop the repeated insert as a duplicate, and the rows would be lost. Must run before the engine opens the directory, and
 * only while no process has it open.
 */
export function dropUnusedTokens(directory: string): readonly UnusedToken[] {
  const store = join(directory, 'store');
  return directoriesIn(store).flatMap((prefix) =>
    directoriesIn(join(store, prefix)).flatMap((name) => {
      const path = join(store, prefix, name);
      if (!existsSync(join(path, 'deduplication_logs'))) return [];
      return repairTable(path).map((part) => ({ table: join(prefix, name), part }));
    }),
  );
}
