import { type Topic, topics } from '../../schemas/topics.js';

/** What one topic or table stores. Bytes of a topic: keys and values; of a table: files of its active parts. */
export interface StoredSize {
  readonly name: string;
  readonly retention: string;
  readonly records: number;
  readonly bytes: number;
}

const DAY_MS = 86_400_000;

/** Retention of a topic in words. `rawHistoryDays`: the setting for topics without a retention of their own. */
export function retentionOf({ compacted, retentionMs }: Topic, rawHistoryDays: number | null): string {
  const limit =
    retentionMs === null
      ? null
      : retentionMs % DAY_MS === 0
        ? `${retentionMs / DAY_MS} d`
        : `${retentionMs / 3_600_000} h`;
  if (compacted) return limit === null ? 'newest per key' : `newest per key, ${limit}`;
  return limit ?? (rawHistoryDays === null ? 'all' : `${rawHistoryDays} d`);
}

/** The interval of a table's TTL in its engine clause, such as `2 hour`; `all` without one. The table of ticks has the retention of their topic. */
export function retentionOfTable(name: string, engineFull: string, rawHistoryDays: number | null): string {
  if (/^ticks(_local)?$/.test(name)) return retentionOf(topics.oracleTicks, rawHistoryDays);
  const [, unit = '', count] = / TTL .*\+ toInterval(\w+)\((\d+)\)/.exec(engineFull) ?? [];
  return count === undefined ? 'all' : `${count} ${unit.toLowerCase()}`;
}

const number = (value: number): string => Math.round(value).toLocaleString('en');
const megabytes = (bytes: number): string => (bytes / 1e6).toLocaleString('en', { maximumFractionDigits: 1 });

/** Markdown table, largest first, without empty entries. The last column scales the bytes to a million fills; it is empty without fills. */
export function sizeTable(what: string, sizes: readonly StoredSize[], fills: number): string {
  const rows = sizes
    .filter(({ records }) => records > 0)
    .sort((a, b) => b.bytes - a.bytes || a.name.localeCompare(b.name))
    .map(({ name, retention, records, bytes }) => [
      `\`${name}\``,
      retention,
      number(records),
      megabytes(bytes),
      number(bytes / records),
      fills === 0 ? '' : megabytes((bytes / fills) * 1e6),
    ]);
  const total = sizes.reduce((sum, { bytes }) => sum + bytes, 0);
  return [
    [what, 'Retention', 'Records', 'MB', 'Bytes per record', 'MB per million fills'],
    Array.from({ length: 6 }, () => '---'),
    ...rows,
    ['all', '', '', megabytes(total), '', fills === 0 ? '' : megabytes((total / fills) * 1e6)],
  ]
    .map((cells) => `| ${cells.join(' | ')} |`)
    .join('\n');
}
