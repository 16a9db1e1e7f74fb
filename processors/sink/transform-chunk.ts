import { yieldToEventLoop } from '../../infra/event-loop.js';
import type { LogRecord, NewRecord } from '../../infra/log/port.js';
import { type Codec, CodecError } from '../../schemas/codec.js';
import type { EventKind } from '../../schemas/types.gen.js';
import { deadLetterRecord } from '../dead-letter.js';
import { InvalidColumnValueError } from './columns.js';
import { hash53 } from './hash53.js';
import { RowBuffer } from './row-buffer.js';
import type { Emit, SinkDefinition, Table } from './sink-definition.js';

export interface TableRows {
  readonly table: Table;
  readonly rows: number;
  /** Of a keyed table: a hash of each row's key, in log order. */
  readonly keys: readonly number[];
  /** In the format of `SINK_FORMAT`. */
  readonly body: Buffer;
}

export interface TransformedChunk {
  readonly tables: readonly TableRows[];
  /** Records for dead.letters. */
  readonly deadLetters: readonly NewRecord[];
}

/** Records between two yields to the event loop, so that a large chunk does not block other work of the process. */
const RECORDS_PER_YIELD = 1_000;
const SPARE_BYTES = 16 * 1024;

/**
 * Converts records of one partition to rows of a SinkDefinition's tables. Pure. A record that cannot be decoded, has a kind that the topic
 * does not carry or has a value outside its column's range becomes a dead letter and produces no row.
 */
export function createChunkTransform(options: { definition: SinkDefinition; codec: Codec; partition: number }) {
  const { definition, codec, partition } = options;
  const topicKinds = new Set<EventKind>(definition.topic.kinds);

  /** Size in bytes of the last chunk per table, as the initial buffer capacity. */
  const expectedBytes = new Map<Table, number>();

  const deadLetter = (record: LogRecord, reason: string): NewRecord =>
    deadLetterRecord({ codec, by: definition.name, topic: definition.topic.name, partition, record, reason });

  return async (records: readonly LogRecord[]): Promise<TransformedChunk> => {
    const buffers = new Map<Table, RowBuffer>(
      definition.tables.map((table) => [table, new RowBuffer(table.header, expectedBytes.get(table))]),
    );
    const deadLetters: NewRecord[] = [];
    const keys = new Map<Table, number[]>();
    const keysOf = (table: Table): number[] => {
      const found = keys.get(table) ?? [];
      keys.set(table, found);
      return found;
    };
    const emit: Emit = (table, row) => {
      const buffer = buffers.get(table as unknown as Table);
      if (buffer === undefined) return;
      table.write(buffer, row);
      if (table.key !== undefined)
        keysOf(table as unknown as Table).push(hash53(String((row as Readonly<Record<string, unknown>>)[table.key])));
    };
    let done = 0;
    for (const record of records) {
      if (++done % RECORDS_PER_YIELD === 0) await yieldToEventLoop();
      if (record.value === null) continue;
      try {
        const kind = codec.kindOf(record.value);
        if (!topicKinds.has(kind)) throw new CodecError(`${kind} does not belong into ${definition.topic.name}`);
        if (!definition.kinds.has(kind)) continue;
        definition.rows(
          codec.decode(record.value),
          { partition, offset: record.offset, timestampMs: record.timestampMs },
          emit,
        );
        for (const buffer of buffers.values()) buffer.commit();
      } catch (error) {
        if (!(error instanceof CodecError || error instanceof InvalidColumnValueError)) throw error;
        for (const [table, buffer] of buffers) {
          buffer.rollback();
          if (table.key !== undefined) keysOf(table).length = buffer.rows;
        }
        deadLetters.push(deadLetter(record, error.message));
      }
    }
    const tables: TableRows[] = [];
    for (const [table, buffer] of buffers) {
      if (buffer.rows === 0) continue;
      const body = buffer.content();
      expectedBytes.set(table, body.length + SPARE_BYTES);
      tables.push({ table, rows: buffer.rows, keys: keys.get(table) ?? [], body });
    }
    return { tables, deadLetters };
  };
}
