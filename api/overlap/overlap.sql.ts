import { hexText } from '../../infra/clickhouse/hex.js';
import type { Sql, SqlValue } from '../tables/port.js';

export const overlapSorts = ['volume', 'fills', 'markets'] as const;
export type OverlapSort = (typeof overlapSorts)[number];

/** Time range: `fromS` <= t < `toS`, Unix seconds. */
export interface Span {
  readonly fromS: number;
  readonly toS: number;
}

/** Sums over the tags as text, USDC in base units. `markets` counts a market with two of the tags twice, as `wallet_tags` does. */
export interface OverlapSumsRow {
  readonly id: string;
  readonly fills: string;
  readonly volume: string;
  readonly markets: string;
  /** Sort value of the wallet; for a span, an upper bound of it. */
  readonly rank: string;
}

/** Last value of the column type of the tables' times. */
const MAX_TIME_S = 2 ** 32 - 1;
const measures: readonly OverlapSort[] = ['fills', 'volume', 'markets'];

/** One row if at least one pass has computed the sums. */
export const overlapReadySql: Sql = { text: 'SELECT 1 AS ready FROM wallet_tags_progress LIMIT 1', params: {} };

/** Rows per tag, including replaced ones. One SELECT per tag, because ClickHouse then counts from the index; with GROUP BY it reads the rows. */
export function tagSizesSql(tags: readonly string[]): Sql {
  const params: Record<string, SqlValue> = {};
  const parts = tags.map((tag, n) => {
    params[`tag_${n}`] = tag;
    return `(SELECT {tag_${n}:String} AS id, count() AS size FROM wallet_tags WHERE tag = {tag_${n}:String})`;
  });
  return { text: `SELECT id, toString(size) AS size FROM (${parts.join(' UNION ALL ')})`, params };
}

/** Wallets whose address begins with a byte below this one are a random 1/8 of all: addresses are parts of hashes. */
const SAMPLE_SHARE = 8;
const SAMPLE_END = (256 / SAMPLE_SHARE).toString(16).padEnd(40, '0');

/**
 * Sort value at rank `depth` (from 0) of each tag, replaced row versions included; no row for tags with fewer wallets. Of tags in `sampled` it is an
 * estimate from an eighth of their wallets.
 */
export function tagBoundsSql(of: {
  tags: readonly string[];
  sampled: ReadonlySet<string>;
  sort: OverlapSort;
  depth: number;
}): Sql {
  const params: Record<string, SqlValue> = {
    depth: of.depth,
    sample_depth: Math.floor(of.depth / SAMPLE_SHARE),
    sample_end: SAMPLE_END,
  };
  const parts = of.tags.map((tag, n) => {
    params[`tag_${n}`] = tag;
    const sampled = of.sampled.has(tag);
    return `(SELECT {tag_${n}:String} AS id, toString(w.${of.sort}) AS bound FROM wallet_tags AS w WHERE tag = {tag_${n}:String}
      ${sampled ? 'AND wallet < toFixedString(unhex({sample_end:String}), 20)' : ''}
      ORDER BY w.${of.sort} DESC LIMIT 1 OFFSET {${sampled ? 'sample_depth' : 'depth'}:UInt32})`;
  });
  return { text: `SELECT id, bound FROM (${parts.join(' UNION ALL ')})`, params };
}

/**
 * Wallets that have all tags, highest first, ties by wallet; only wallets that are above the bound of at least one tag in any version of their row.
 * Reads one column of the tags and the rows of those wallets.
 */
export function topOverlapSql(of: {
  tags: readonly string[];
  sort: OverlapSort;
  /** Bound by tag; null: all wallets of the tag. */
  bounds: ReadonlyMap<string, bigint | null>;
  minVolume: bigint;
  rows: number;
}): Sql {
  const params: Record<string, SqlValue> = { tags: of.tags, min_volume: of.minVolume, rows: of.rows };
  const above = [...of.bounds].map(([tag, bound], n) => {
    params[`tag_${n}`] = tag;
    if (bound === null) return `(tag = {tag_${n}:String})`;
    params[`bound_${n}`] = bound;
    return `(tag = {tag_${n}:String} AND w.${of.sort} > {bound_${n}:UInt64})`;
  });
  const measure = 1 + measures.indexOf(of.sort);
  return {
    text: `SELECT ${hexText('wallet')} AS id, toString(sum(s.1)) AS fills, toString(sum(s.2)) AS volume, toString(sum(s.3)) AS markets,
        toString(sum(s.${measure})) AS rank
      FROM (
        SELECT tag, wallet, argMax((w.fills, w.volume, w.markets), w.version) AS s FROM wallet_tags AS w
        WHERE tag IN {tags:Array(String)} AND wallet IN (SELECT wallet FROM wallet_tags AS w WHERE ${above.join(' OR ')})
        GROUP BY tag, wallet
      )
      WHERE s.1 > 0
      GROUP BY wallet
      HAVING count() = length({tags:Array(String)}) AND sum(s.2) >= {min_volume:UInt64}
      ORDER BY sum(s.${measure}) DESC, id LIMIT {rows:UInt32}`,
    params,
  };
}

/**
 * Wallets that have all tags in a range of addresses (hexadecimal prefixes, both inclusive), highest first, ties by wallet. With a `span`, only wallets
 * that traded on its days, ranked by an upper bound of their value in the span: the smaller of their total in these tags, and their total on those
 * days times the number of tags.
 */
export function overlapRangeSql(of: {
  tags: readonly string[];
  sort: OverlapSort;
  first: string;
  last: string;
  minVolume: bigint;
  span: Span | null;
  /** Lowest sort value to return. */
  floor: string;
  rows: number;
}): Sql {
  const pad = (digits: string, filler: string) => digits.padEnd(40, filler);
  const ever = `sum(w.${of.sort})`;
  const ofDays = of.sort === 'volume' ? 'any(d.volume)' : 'any(d.fills)';
  const rank = of.span === null ? ever : `least(${ever}, ${ofDays} * length({tags:Array(String)}))`;
  const days = `INNER JOIN (
        SELECT toFixedString(unhex(substring(wallet, 3)), 20) AS trader, sum(w.fills) AS fills, sum(w.volume) AS volume FROM wallet_days AS w
        WHERE wallet >= {first_text:String} AND wallet <= {last_text:String}
          AND day >= toDate(toDateTime({from_s:UInt32}, 'UTC')) AND day <= toDate(toDateTime({to_s:UInt32}, 'UTC'))
        GROUP BY wallet HAVING sum(w.fills) > 0
      ) AS d ON d.trader = w.wallet`;
  const params: Record<string, SqlValue> = {
    tags: of.tags,
    first: pad(of.first, '0'),
    last: pad(of.last, 'f'),
    min_volume: of.minVolume,
    floor: of.floor,
    rows: of.rows,
  };
  if (of.span !== null) {
    params.first_text = `0x${pad(of.first, '0')}`;
    params.last_text = `0x${pad(of.last, 'f')}`;
    params.from_s = Math.min(of.span.fromS, MAX_TIME_S);
    params.to_s = Math.min(Math.max(0, of.span.toS - 1), MAX_TIME_S);
  }
  return {
    text: `SELECT ${hexText('w.wallet')} AS id, toString(sum(w.fills)) AS fills, toString(sum(w.volume)) AS volume, toString(sum(w.markets)) AS markets,
        toString(${rank}) AS rank
      FROM (
        SELECT wallet, fills, volume, markets FROM wallet_tags FINAL
        WHERE tag IN {tags:Array(String)} AND wallet >= toFixedString(unhex({first:String}), 20) AND wallet <= toFixedString(unhex({last:String}), 20)
          AND wallet_tags.fills > 0
      ) AS w
      ${of.span === null ? '' : days}
      GROUP BY w.wallet
      HAVING count() = length({tags:Array(String)}) AND sum(w.volume) >= {min_volume:UInt64} AND ${rank} >= {floor:UInt64}
      ORDER BY ${rank} DESC, id LIMIT {rows:UInt32}`,
    params,
  };
}

/** Exact sums of one wallet over the tags, as text. */
export interface ExactOverlapRow {
  readonly id: string;
  readonly fills: string;
  readonly volume: string;
  /** Number of distinct conditions over all tags. */
  readonly markets: string;
}

/** Wallets by address, or all wallets whose address has a prefix (hexadecimal digits). */
export type WalletChoice = { readonly wallets: readonly string[] } | { readonly prefix: string };

/**
 * Exact sums over the tags, of all fills or of the fills in a span; only wallets with a fill in each of the tags, highest first, ties by wallet. Reads the
 * positions (for a span: the events of positions) of all the wallets.
 */
export function exactOverlapSql(of: {
  choice: WalletChoice;
  tags: readonly string[];
  span: Span | null;
  sort: OverlapSort;
  minVolume: bigint;
  rows: number;
}): Sql {
  const { choice, tags, span } = of;
  const params: Record<string, SqlValue> = { tags, min_volume: of.minVolume, rows: of.rows };
  let chosen = 'wallet IN {wallets:Array(String)}';
  let tokens = ` AND token_id IN (SELECT token_id FROM positions WHERE ${chosen})`;
  if ('wallets' in choice) params.wallets = choice.wallets;
  else {
    chosen = 'wallet >= {first:String} AND wallet <= {last:String}';
    tokens = '';
    params.first = `0x${choice.prefix.padEnd(40, '0')}`;
    params.last = `0x${choice.prefix.padEnd(40, 'f')}`;
  }
  let own = `SELECT wallet, token_id, toUInt64(p.fills) AS n, p.bought_usdc + p.sold_usdc AS usdc FROM positions AS p FINAL
          WHERE ${chosen} AND p.fills > 0`;
  if (span !== null) {
    params.from_s = Math.min(span.fromS, MAX_TIME_S);
    params.to_s = Math.min(span.toS, MAX_TIME_S);
    own = `SELECT wallet, token_id, count() AS n, sum(e.usdc) AS usdc FROM pnl_events AS e FINAL
          WHERE ${chosen} AND timestamp >= toDateTime({from_s:UInt32}, 'UTC') AND timestamp < toDateTime({to_s:UInt32}, 'UTC')
            AND action IN ('BUY', 'SELL')
          GROUP BY wallet, token_id`;
  }
  const values: Readonly<Record<OverlapSort, string>> = {
    fills: 'sum(o.n * length(t.matched))',
    volume: 'sum(o.usdc * length(t.matched))',
    markets: 'uniqExact(t.condition_id)',
  };
  return {
    text: `SELECT o.wallet AS id, toString(${values.fills}) AS fills, toString(${values.volume}) AS volume, toString(${values.markets}) AS markets
      FROM (${own}) AS o
      INNER JOIN (
        SELECT token_id, condition_id, arrayFilter(tag -> has({tags:Array(String)}, tag), tags) AS matched FROM overlap_token_tags FINAL
        WHERE notEmpty(matched)${tokens}
      ) AS t ON t.token_id = o.token_id
      GROUP BY o.wallet
      HAVING length(groupUniqArrayArray(t.matched)) = length({tags:Array(String)}) AND ${values.volume} >= {min_volume:UInt64}
      ORDER BY ${values[of.sort]} DESC, id LIMIT {rows:UInt32}`,
    params,
  };
}
