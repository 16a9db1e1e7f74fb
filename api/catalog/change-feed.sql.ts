import type { Sql } from '../tables/port.js';

/** Tables whose new rows are followed. Each is written from one partition of the log, so that its offsets only rise; `order_books` has a version that does. */
export const watchedTables = [
  'markets',
  'tokens',
  'token_quotes',
  'resolutions',
  'chain_tokens',
  'token_settlements',
  'fills',
  'order_books',
  'tags',
] as const;
export type WatchedTable = (typeof watchedTables)[number];

const idColumns: Readonly<Record<WatchedTable, string>> = {
  markets: 'condition_id',
  tokens: 'toString(token_id)',
  token_quotes: 'toString(token_id)',
  resolutions: 'condition_id',
  chain_tokens: 'toString(token_id)',
  token_settlements: 'toString(token_id)',
  fills: 'toString(token_id)',
  order_books: 'toString(token_id)',
  tags: 'slug',
};

/** The number that rises with each row, and, where only some rows matter, their condition: books that may price a token, verified or not any more. */
const cursors: Partial<Record<WatchedTable, { readonly column: string; readonly where: string }>> = {
  order_books: { column: '_version', where: 'NOT synthetic' },
};
const cursorOf = (source: WatchedTable): string => cursors[source]?.column ?? '_offset';
const whereOf = (source: WatchedTable): string => cursors[source]?.where ?? 'true';

export interface WatermarkRow {
  readonly source: WatchedTable;
  /** Cursor after the newest row, as text; 0 for an empty table. */
  readonly next: string;
}

/** The newest fill has the highest offset; the other tables are small. */
const newestOffsetHints: Partial<Record<WatchedTable, string>> = {
  fills: 'SELECT _offset FROM fills ORDER BY block_number DESC, log_index DESC LIMIT 1',
};

/** Next offset of each table. `exact`: computed from all rows instead of the newest one. */
export const watermarksSql = (exact: boolean): Sql => ({
  text: watchedTables
    .map((source) => {
      const rows = (exact ? undefined : newestOffsetHints[source]) ?? `SELECT ${cursorOf(source)} FROM ${source}`;
      return `SELECT '${source}' AS source, toString(if(count() = 0, 0, max(${cursorOf(source)}) + 1)) AS next FROM (${rows})`;
    })
    .join(' UNION ALL '),
  params: {},
  singleChunk: true,
});

export interface ChangedRow extends WatermarkRow {
  /** Condition or token id. */
  readonly id: string;
}

/** Ids of rows written at or after these offsets; at most `rows` per table. */
export const changesSql = (next: Readonly<Record<WatchedTable, bigint>>, rows: number): Sql => ({
  text: watchedTables
    .map(
      (
        source,
      ) => `SELECT '${source}' AS source, ${idColumns[source]} AS id, toString(max(${cursorOf(source)}) + 1) AS next
      FROM ${source} WHERE ${cursorOf(source)} >= {${source}:UInt64} AND ${whereOf(source)} GROUP BY id LIMIT {rows:UInt32}`,
    )
    .join(' UNION ALL '),
  params: { ...next, rows },
});
