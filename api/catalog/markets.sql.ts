import type { Sql } from '../tables/port.js';
import type { SqlBool } from '../tables/values.js';

export interface SluggedMarketRow {
  readonly condition_id: string;
  readonly has_tokens: SqlBool;
}

/** Selects the market with a slug; if markets share the slug, the open one. */
export const marketBySlugSql = (slug: string): Sql => ({
  text: `SELECT condition_id, notEmpty(token_ids) AS has_tokens FROM markets FINAL WHERE slug = {slug:String} ORDER BY closed, condition_id LIMIT 1`,
  params: { slug },
  singleChunk: true,
});

/** Where the outcome of a condition comes from; empty texts where unknown. */
export interface SettlementOriginRow {
  readonly oracle: string;
  readonly tx_hash: string;
  /** As the catalogue publishes it. */
  readonly source: string;
}

export const settlementOriginSql = (conditionId: string): Sql => ({
  text: `SELECT max(t.oracle) AS oracle, max(t.tx) AS tx_hash, max(t.source) AS source FROM (
      SELECT oracle, tx_hash AS tx, '' AS source FROM resolutions FINAL WHERE condition_id = {condition:String}
      UNION ALL
      SELECT '', '', ifNull(resolution_source, '') FROM markets FINAL WHERE condition_id = {condition:String}
    ) AS t`,
  params: { condition: conditionId },
  singleChunk: true,
});

/** Maximum length of a cached ranking, and so the deepest page of a list without chain order. */
export const MAX_RANKED = 10_000;

/** Orders of a search. `current`: open markets with trades, others with trades, open ones without (the first to end first), the rest; each by volume. */
export const searchSorts = ['volume', 'current'] as const;
export type SearchSort = (typeof searchSorts)[number];

/** Condition ids and sort values of markets whose question, slug and event title contain every word, case-insensitively; ascending for `current`. `nowS`: a market that ended earlier is not open. */
export function searchMarketsSql(words: readonly string[], sort: SearchSort, nowS: number): Sql {
  const text = `concat(question, '\\n', slug, '\\n', ifNull(event_title, ''))`;
  return {
    text:
      sort === 'volume'
        ? `SELECT condition_id AS id, volume AS value
      FROM markets FINAL
      WHERE arrayAll(word -> positionCaseInsensitiveUTF8(${text}, word) > 0, {words:Array(String)})
      ORDER BY volume DESC, condition_id
      LIMIT {rows:UInt32}`
        : `WITH found AS (
        SELECT condition_id, token_ids, volume, ifNull(toUnixTimestamp(end_at), 4294967295) AS end_s, active AND NOT closed AND end_s > {now:UInt32} AS is_open
        FROM markets FINAL
        WHERE arrayAll(word -> positionCaseInsensitiveUTF8(${text}, word) > 0, {words:Array(String)})
      )
      SELECT f.condition_id AS id, multiIf(sum(v.traded) > 0, if(max(f.is_open), 0, 1), max(f.is_open), 2, 3) AS class,
        toInt256(class) * toInt256('1000000000000000000000000000000000000') + toInt256(if(class = 2, max(f.end_s), 0)) * toInt256('10000000000000000000000000')
          - toInt256(round(least(greatest(max(f.volume) * 1e6, toFloat64(sum(v.traded))), 1e18))) AS value
      FROM (SELECT condition_id, volume, end_s, is_open, arrayJoin(if(empty(token_ids), [toUInt256(0)], token_ids)) AS token_id FROM found) AS f
      LEFT JOIN (
        SELECT token_id, sum(token_volumes.usdc) AS traded FROM token_volumes
        WHERE token_id IN (SELECT arrayJoin(token_ids) FROM found) GROUP BY token_id
      ) AS v ON v.token_id = f.token_id
      GROUP BY f.condition_id
      ORDER BY value, id
      LIMIT {rows:UInt32}`,
    params: { words, rows: MAX_RANKED, now: nowS },
  };
}

export type TagSort = 'volume_all_time' | 'liquidity' | 'created_at';
const TAG_VALUES: Readonly<Record<TagSort, string>> = {
  volume_all_time: 'volume',
  liquidity: 'liquidity',
  created_at: 'toUnixTimestamp64Milli(created_at)',
};

/** Condition ids and sort values of the markets of a tag. */
export const taggedMarketsSql = (tag: string, sort: TagSort): Sql => ({
  text: `SELECT condition_id AS id, ${TAG_VALUES[sort]} AS value
      FROM markets FINAL
      WHERE has(tag_slugs, {tag:String})
      ORDER BY value DESC NULLS LAST, condition_id
      LIMIT {rows:UInt32}`,
  params: { tag, rows: MAX_RANKED },
});

export interface TagRow {
  readonly tag: string;
  readonly markets: number | string;
  readonly events: number | string;
  /** Unix seconds of the oldest and newest market; 0: unknown. */
  readonly first_seen: number | string;
  readonly last_seen: number | string;
}

/** All tags with their numbers of markets and events, most markets first. */
export const tagsSql = (): Sql => ({
  text: `SELECT arrayJoin(tag_slugs) AS tag, count() AS markets, uniqExact(event_id) AS events,
        toUnixTimestamp(toDateTime(ifNull(min(created_at), toDateTime64(0, 3, 'UTC')), 'UTC')) AS first_seen,
        toUnixTimestamp(toDateTime(ifNull(max(created_at), toDateTime64(0, 3, 'UTC')), 'UTC')) AS last_seen
      FROM markets FINAL
      GROUP BY tag
      ORDER BY markets DESC, tag`,
  params: {},
});

export const tagLabelsSql = (slugs: readonly string[]): Sql => ({
  text: 'SELECT slug, label FROM tags FINAL WHERE slug IN {slugs:Array(String)}',
  params: { slugs },
  singleChunk: true,
});
