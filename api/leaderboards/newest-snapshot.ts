import type { ResponseCache } from '../cache/response-cache.js';
import type { Sql, Tables } from '../tables/port.js';

const NEWEST_SNAPSHOT_CACHE_MS = 1_000;
/** A snapshot never changes; the cache lifetime bounds how long an expired one is still served. */
export const SNAPSHOT_CACHE_MS = 60_000;

/** Time of the newest snapshot that a statement reads, Unix milliseconds, cached for up to a second; null before the first. */
export async function newestSnapshotAt(
  { tables, cache }: { readonly tables: Tables; readonly cache: ResponseCache },
  name: string,
  sql: Sql,
): Promise<number | null> {
  const load = async () => (await tables.rows<{ at: number | string }>(sql))[0];
  const lifeMs = (found: unknown) => (found === undefined ? 0 : NEWEST_SNAPSHOT_CACHE_MS);
  const { value: row } = await cache.get(`${name} newest`, lifeMs, load);
  return row === undefined ? null : Number(row.at);
}
