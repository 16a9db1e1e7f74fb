import { readRowBinary } from '../../infra/clickhouse/row-binary.fixture.js';
import type { SinkProgress } from '../../processors/sink/progress-table.js';
import type { TableStore } from '../../processors/sink/table-store.js';

/** Tables that survive a crash of the sink. */
export interface FakeTables {
  /** Rows by table, values as text. */
  readonly rows: Map<string, (readonly string[])[]>;
  readonly tokens: Set<string>;
  /** Reported progress of the sink. */
  readonly progress?: readonly SinkProgress[];
}

export const createFakeTables = (): FakeTables => ({ rows: new Map(), tokens: new Set() });

/**
 * In-memory tables with deduplication tokens. `onInsert` runs before (`committed` false) and after (`committed` true) every insert and may
 * throw to simulate a lost request or a lost response.
 */
export function createFakeStore(
  tables: FakeTables,
  onInsert: (table: string, committed: boolean) => void = () => undefined,
): TableStore {
  return {
    async query<T>(sql: string, params: Readonly<Record<string, unknown>> = {}) {
      if (sql.includes('FROM sink_progress'))
        return (tables.progress ?? [])
          .filter(({ nextOffset }) => nextOffset === params.nextOffset)
          .map(({ recordKey, recordTimeMs }) => ({ record_key: recordKey, record_ms: String(recordTimeMs) })) as T[];
      const rows = (tables.rows.get('chunks') ?? [])
        .filter(([sink, topic, partition]) => {
          return sink === params.sink && topic === params.topic && Number(partition) === params.partition;
        })
        .map(([, , , first, last]) => ({ first_offset: first, last_offset: last }))
        .sort((a, b) => Number(b.first_offset) - Number(a.first_offset));
      return rows.slice(0, 1) as T[];
    },
    async insertBytes(table, _format, body, { dedupToken } = {}) {
      onInsert(table, false);
      if (dedupToken === undefined || !tables.tokens.has(dedupToken)) {
        if (dedupToken !== undefined) tables.tokens.add(dedupToken);
        const rows = tables.rows.get(table) ?? [];
        rows.push(...readRowBinary(body));
        tables.rows.set(table, rows);
      }
      onInsert(table, true);
    },
  };
}
