import { RetryableError } from '../../infra/errors.js';

/** Value of a bound `{name:Type}` parameter. Arrays become ClickHouse arrays. */
export type SqlValue = string | number | bigint | boolean | readonly (string | number | bigint)[];

/** Row limit of a statement with `singleChunk`. */
export { SINGLE_CHUNK_MAX_ROWS } from '../../infra/clickhouse/rows.js';

/** A statement and its bound parameters. Request input never becomes part of the text. */
export interface Sql {
  readonly text: string;
  readonly params: Readonly<Record<string, SqlValue>>;
  /** True if no result has more than SINGLE_CHUNK_MAX_ROWS rows: the embedded engine returns it in one chunk, which costs less. A larger result fails. */
  readonly singleChunk?: boolean;
  /** Stops reading after so many seconds; the result is of the rows read until then. */
  readonly cutOffAfterS?: number;
}

/** The processors have not created the tables yet, as at every first start. */
export class MissingTablesError extends RetryableError {}

/** Read access to the tables. Rows are objects by column name; wide integers and decimals are selected as text. */
export interface Tables {
  rows<T>(sql: Sql): Promise<T[]>;
  /** True if the database responds. Never throws. */
  reachable(): Promise<boolean>;
}
