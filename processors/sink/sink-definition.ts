import type { AnyEvent } from '../../schemas/codec.js';
import type { Topic } from '../../schemas/topics.js';
import type { EventKind } from '../../schemas/types.gen.js';
import { type Column, InvalidColumnValueError } from './columns.js';
import { RowBuffer } from './row-buffer.js';

/** Initial size of a buffer per row; it grows with larger rows. */
const ROW_BYTES = 256;

type ColumnSet = Readonly<Record<string, Column<never>>>;

/** A table that a sink writes: its name and the inserted columns in order. */
export interface Table<Row = never> {
  readonly name: string;
  readonly columns: readonly string[];
  /** ClickHouse type per column, in the server's spelling. */
  readonly types: readonly string[];
  /** Name of the key column, if the log may repeat a row under a later offset: of rows with equal keys the table keeps the newest. */
  readonly key?: string;
  /** Set if later rows of the log replace earlier ones, so that the row count cannot be reconciled with the log. */
  readonly replaced?: true;
  /** Begins the bytes of an insert in the format of `SINK_FORMAT`: names and types of the columns. */
  readonly header: Buffer;
  /** Appends a row. Throws InvalidColumnValueError that names the column; the buffer then has an unfinished row. */
  readonly write: (into: RowBuffer, row: Row) => void;
}

export type RowOf<C extends ColumnSet> = { readonly [K in keyof C]: C[K] extends Column<infer T> ? T : never };

/** Defines a table by its columns, from which the row type is inferred. `keyed`: the first column is the key. `replaced`: see Table. */
export function defineTable<C extends Record<string, Column<never>>>(
  name: string,
  columns: C,
  { keyed = false, replaced = false } = {},
): Table<RowOf<C>> {
  const names = Object.keys(columns);
  const key = keyed ? names[0] : undefined;
  const types = names.map((column) => (columns[column] as Column<never>).type);
  const writers = names.map((column) => (columns[column] as Column<never>).write);
  return {
    name,
    columns: names,
    types,
    ...(key === undefined ? {} : { key }),
    ...(replaced ? { replaced } : {}),
    header: headerOf(names, types),
    write: (into, row) => {
      const values = row as Readonly<Record<string, never>>;
      let column = '';
      try {
        for (let i = 0; i < names.length; i++) {
          column = names[i] as string;
          (writers[i] as (into: RowBuffer, value: never) => void)(into, values[column] as never);
        }
      } catch (error) {
        if (error instanceof InvalidColumnValueError)
          throw new InvalidColumnValueError(`${name}.${column}: ${error.message}`);
        throw error;
      }
      into.endRow();
    },
  };
}

function headerOf(names: readonly string[], types: readonly string[]): Buffer {
  const header = new RowBuffer(Buffer.alloc(0));
  header.length(names.length);
  for (const name of names) header.text(name);
  for (const type of types) header.text(type);
  header.commit();
  return header.content();
}

/** Rows of a table in the format of `SINK_FORMAT`. Throws InvalidColumnValueError. */
export function encodeRows<Row>(table: Table<Row>, rows: readonly Row[]): Buffer {
  const buffer = new RowBuffer(table.header, table.header.length + ROW_BYTES * rows.length);
  for (const row of rows) table.write(buffer, row);
  buffer.commit();
  return buffer.content();
}

/** Position of a record in the log. */
export interface LogPosition {
  readonly partition: number;
  readonly offset: number;
  /** Timestamp of the record. */
  readonly timestampMs: number;
}

export type Emit = <Row>(table: Table<Row>, row: Row) => void;

/** A group of tables that is filled from one topic. */
export interface SinkDefinition {
  /** Name of the sinks in `chunks`, deduplication tokens and metrics. Must never change: tokens and resume points depend on it. */
  readonly name: string;
  readonly topic: Topic;
  /** Topic of the chunk plans, with the same partitions as `topic`. */
  readonly plans: Topic;
  /** Time a chunk below the maximum size waits for more records; default: the sink's. */
  readonly lingerMs?: number;
  /** Largest number of records per chunk; default: the sink's. */
  readonly maxChunkRecords?: number;
  readonly tables: readonly Table[];
  /** True if the tables (except `replaced` ones) retain every inserted row, or every key of a keyed table, so that they can be reconciled with the log. */
  readonly retainsAllRows: boolean;
  /** Event kinds that produce rows; records of other kinds are skipped without decoding. */
  readonly kinds: ReadonlySet<EventKind>;
  /** Emits the rows of one event. Pure: the same record always produces the same rows in the same order. */
  readonly rows: (event: AnyEvent, position: LogPosition, emit: Emit) => void;
}
