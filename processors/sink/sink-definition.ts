import type { AnyEvent } from '../../schemas/codec.js';
import type { Topic } from '../../schemas/topics.js';
import type { EventKind } from '../../schemas/types.gen.js';
import { type Column, InvalidColumnValueError } from './columns.js';

type ColumnSet = Readonly<Record<string, Column<never>>>;

/** A table a sink writes: its name and the columns it fills, in the order they are sent. */
export interface Table<Row = never> {
  readonly name: string;
  readonly columns: readonly string[];
  /** ClickHouse type per column, as the server prints it. */
  readonly types: readonly string[];
  /** The first column, where the log may repeat a row under a later offset: of rows equal in it the table keeps the newest. */
  readonly key?: string;
  /** Set where later rows of the log replace earlier ones, so that its rows cannot be counted against the log. */
  readonly replaced?: true;
  /** One TabSeparated line. Throws UnfitValueError that names the column. */
  readonly line: (row: Row) => string;
}

export type RowOf<C extends ColumnSet> = { readonly [K in keyof C]: C[K] extends Column<infer T> ? T : never };

/** Describe a table by its columns. The row type follows from them. `keyed`: the first column is its key. `replaced`: see Table. */
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

/** Where a record stands in the log. */
export interface LogPosition {
  readonly partition: number;
  readonly offset: number;
  /** The record's own time. */
  readonly timestampMs: number;
}

export type Emit = <Row>(table: Table<Row>, row: Row) => void;

/** A family of tables folded from one topic. */
export interface SinkDefinition {
  /** Name of its sinks in `chunks`, tokens and metrics. Never change it: tokens and resume points hang on it. */
  readonly name: string;
  readonly topic: Topic;
  /** Where its sinks record what they insert next, partition by partition as `topic`. */
  readonly plans: Topic;
  /** How long a small chunk waits for more; the sink's own default unless given. */
  readonly lingerMs?: number;
  /** Records of a chunk at most; the sink's own default unless given. */
  readonly maxChunkRecords?: number;
  readonly tables: readonly Table[];
  /** Its tables, `replaced` ones aside, keep every row (with a key: every key) they are given, so they can be counted against the log. Else newer rows replace older ones. */
  readonly retainsAllRows: boolean;
  /** Kinds that make rows; the topic's other kinds are passed over undecoded. */
  readonly kinds: ReadonlySet<EventKind>;
  /** The rows of one event. Pure: the same record always gives the same rows in the same order. */
  readonly rows: (event: AnyEvent, position: LogPosition, emit: Emit) => void;
}
