import type { AnyEvent } from '../../schemas/codec.js';
import type { Topic } from '../../schemas/topics.js';
import type { EventKind } from '../../schemas/types.gen.js';
import { type Column, InvalidColumnValueError } from './columns.js';

type ColumnSet = Readonly<Record<string, Column<never>>>;

/** A table that a sink writes: its name and the inserted columns in order. */
export interface Table<Row = never> {
  readonly name: string;
  readonly columns: readonly string[];
  /** ClickHouse type per column, in the server's spelling. */
  readonly types: readonly string[];
  /** Name of the first column, if the log may repeat a row under a later offset: of rows with equal keys the table keeps the newest. */
  readonly key?: string;
  /** Set if later rows of the log replace earlier ones, so that the row count cannot be reconciled with the log. */
  readonly replaced?: true;
  /** One TabSeparated line. Throws InvalidColumnValueError that names the column. */
  readonly line: (row: Row) => string;
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
  const writers = names.map((column) => (columns[column] as Column<never>).write);
  return {
    name,
    columns: names,
    types: names.map((column) => (columns[column] as Column<never>).type),
    ...(key === undefined ? {} : { key }),
    ...(replaced ? { replaced } : {}),
    line: (row) => {
      const values = row as Readonly<Record<string, never>>;
      let out = '';
      for (let i = 0; i < names.length; i++) {
        const column = names[i] as string;
        try {
          out += (i === 0 ? '' : '\t') + (writers[i] as (value: never) => string)(values[column] as never);
        } catch (error) {
          if (error instanceof InvalidColumnValueError)
            throw new InvalidColumnValueError(`${name}.${column}: ${error.message}`);
          throw error;
        }
      }
      return `${out}\n`;
    },
  };
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
