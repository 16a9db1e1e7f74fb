import type { ClickHouse } from '../../infra/clickhouse/client.js';
import { rowText } from './fingerprint.js';

/** What differs between a live table and its rebuilt one, enough to find the chunk and the parts that the rows came from. */
export interface Differences {
  /** Rows, of the newest version of each key, that only one of the two tables has. */
  readonly onlyLive: number;
  readonly onlyRebuilt: number;
  /** Some of those rows, both versions of a key after each other. */
  readonly rows: readonly { readonly side: 'live' | 'rebuilt'; readonly key: string; readonly row: string }[];
  /** Every stored row of the keys in `rows`, older versions too. Empty for a table of a cluster, whose parts are on its nodes. */
  readonly stored: readonly { side: 'live' | 'rebuilt'; key: string; part: string; offset: string | null }[];
  /** The newest parts of both tables; `state`: active, inactive, or why it was detached. */
  readonly parts: readonly { side: 'live' | 'rebuilt'; part: string; rows: string; state: string; at: string }[];
}

const MAX_ROWS = 20;
const MAX_PARTS = 40;
/** Characters of a row's text: enough for its keys and offsets, not for a description of a market. */
const MAX_TEXT = 600;

/** Finds the differing rows of a table that has the same columns in both databases, which are on one server. */
export async function findDifferences(live: ClickHouse, rebuilt: ClickHouse, table: string): Promise<Differences> {
  const text = await rowText(live, table);
  const params = { live: live.database, rebuilt: rebuilt.database, table };
  const [spec] = await live.query<{ key: string; has_offset: number }>(
    `SELECT sorting_key AS key, (SELECT count() FROM system.columns WHERE database = {live:String} AND table = {table:String} AND name = '_offset') AS has_offset
     FROM system.tables WHERE database = {live:String} AND name = {table:String}`,
    params,
  );
  const sortingKey = spec?.key ?? '';
  // Safe to interpolate: the key is that of the server's own table.
  const key = sortingKey === '' ? text : `toString(tuple(${sortingKey}))`;
  const offset = Number(spec?.has_offset ?? 0) > 0 ? 'toString(_offset)' : 'NULL';
  // Aliases that no column has: an alias would replace the column in the text of the row.
  const fromBoth = (select: string, suffix: string): string =>
    (['live', 'rebuilt'] as const)
      .map((side) => `SELECT '${side}' AS __side, ${select} FROM {${side}:Identifier}.{table:Identifier} ${suffix}`)
      .join('\nUNION ALL\n');

  const [found] = await live.query<{ only_live: string; only_rebuilt: string; hashes: string[] }>(
    `SELECT toString(countIf(copies > 0)) AS only_live, toString(countIf(copies < 0)) AS only_rebuilt,
       arrayMap(h -> toString(h), groupArray(${MAX_ROWS})(__hash)) AS hashes
     FROM (
       SELECT __hash, sum(if(__side = 'live', 1, -1)) AS copies FROM (${fromBoth(`cityHash64(${text}) AS __hash`, 'FINAL')})
       GROUP BY __hash HAVING copies != 0
     )`,
    params,
  );
  const hashes = (found?.hashes ?? []).map(BigInt);
  const keysOfHashes = `SELECT __key FROM (${fromBoth(
    `${key} AS __key`,
    `FINAL WHERE cityHash64(${text}) IN (SELECT arrayJoin({hashes:Array(UInt64)}))`,
  )})`;
  const rows = await live.query<Differences['rows'][number]>(
    `SELECT __side AS side, substring(__key, 1, ${MAX_TEXT}) AS key, substring(__row, 1, ${MAX_TEXT}) AS row
     FROM (${fromBoth(`${key} AS __key, ${text} AS __row`, `FINAL WHERE ${key} IN (${keysOfHashes})`)})
     ORDER BY __key, __side LIMIT ${2 * MAX_ROWS}`,
    { ...params, hashes },
  );
  const stored =
    sortingKey === ''
      ? []
      : await live.query<Differences['stored'][number]>(
          `SELECT __side AS side, substring(__key, 1, ${MAX_TEXT}) AS key, __part AS part, __offset AS offset
           FROM (${fromBoth(`${key} AS __key, _part AS __part, ${offset} AS __offset`, `WHERE ${key} IN (${keysOfHashes})`)})
           ORDER BY __key, __side, __offset LIMIT ${4 * MAX_ROWS}`,
          { ...params, hashes },
        );
  const parts = await live.query<Differences['parts'][number]>(
    `SELECT if(database = {live:String}, 'live', 'rebuilt') AS side, part, rows, state, toString(modified) AS at
     FROM (
       SELECT database, name AS part, toString(rows) AS rows, if(active, 'active', 'inactive') AS state, modification_time AS modified
       FROM system.parts WHERE database IN ({live:String}, {rebuilt:String}) AND table = {table:String}
       UNION ALL
       SELECT database, name, '', concat('detached ', ifNull(reason, '')), modification_time
       FROM system.detached_parts WHERE database IN ({live:String}, {rebuilt:String}) AND table = {table:String}
     ) ORDER BY modified DESC, side, part LIMIT ${MAX_PARTS}`,
    params,
  );
  return {
    onlyLive: Number(found?.only_live ?? 0),
    onlyRebuilt: Number(found?.only_rebuilt ?? 0),
    rows,
    stored,
    parts,
  };
}
