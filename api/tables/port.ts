/** Value of a bound `{name:Type}` parameter. Arrays become ClickHouse arrays. */
export type SqlValue = string | number | bigint | boolean | readonly (string | number | bigint)[];

/** More rows than this are not few. */
export { SINGLE_CHUNK_MAX_ROWS } from '../../infra/clickhouse/rows.js';

/** A statement and its bound parameters. Input reaches the text of a statement nowhere. */
export interface Sql {
  readonly text: string;
  readonly params: Readonly<Record<string, SqlValue>>;
  /** True where no answer has more than FEW_ROWS rows: the embedded engine hands those over in one piece, which takes less. An answer that has more fails. */
  readonly singleChunk?: boolean;
}

/** The tables, for reading. Rows are objects by column name; wide integers and decimals are selected as text. */
export interface Tables {
  rows<T>(sql: Sql): Promise<T[]>;
  /** True when the database answers. Never throws. */
  reachable(): Promise<boolean>;
}
