import type { ClickHouse } from '../infra/clickhouse/client.js';
import type { TableSpec } from '../infra/clickhouse/ddl.js';

/** How far a stored time may be ahead of the clock: more than the clocks of machines differ. A later time was stored before the clock was set back. */
export const MAX_LEAD_MS = 60_000;

/**
 * Deletes the rows of a table whose time is more than MAX_LEAD_MS after `nowMs`. A clock that ran ahead wrote them: until it is as late again, they would count
 * as the newest and a ReplacingMergeTree with that version would drop what replaces them. Only for tables that are computed from others, and that have a
 * complete copy on each node.
 */
export async function deleteFutureRows(
  clickhouse: Pick<ClickHouse, 'query' | 'command'>,
  { name, column }: { readonly name: TableSpec['name']; readonly column: string },
  nowMs: number,
  signal?: AbortSignal,
): Promise<void> {
  const isFuture = `${column} > fromUnixTimestamp64Milli({latest:Int64}, 'UTC')`;
  const params = { latest: nowMs + MAX_LEAD_MS };
  const found = await clickhouse.query(`SELECT 1 FROM ${name} WHERE ${isFuture} LIMIT 1`, params, { signal });
  if (found.length === 0) return;
  // Waits until they are deleted, so that they replace no row that the caller inserts next.
  const settings = { mutations_sync: '1' } as const;
  await clickhouse.command(`ALTER TABLE ${name} DELETE WHERE ${isFuture}`, params, { settings, signal });
}
