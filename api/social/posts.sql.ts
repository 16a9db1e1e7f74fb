import { type Metric, type Query, termText } from '../../schemas/social/query/query.js';
import type { Sql, SqlValue } from '../tables/port.js';

export interface StoredPostRow {
  readonly id: string;
  /** The post as served, JSON. */
  readonly body: string;
  readonly reply_to_username: string;
  /** Unix ms. */
  readonly fetched_ms: string;
}

const COLUMNS = 'id, body, reply_to_username, toUnixTimestamp64Milli(fetched_at) AS fetched_ms';
const NEWEST_FIRST = 'ORDER BY created_at DESC, toUInt128OrZero(id) DESC';
const METRIC_COLUMNS: Readonly<Record<Metric, string>> = { likes: 'likes', retweets: 'retweets', replies: 'replies' };

/** The condition of a query on `social_posts`; its values are bound. The meaning is that of `matches`. */
function conditionOf(query: Query, bind: (value: SqlValue, type: string) => string): string {
  switch (query.type) {
    case 'all':
    case 'any':
      return `(${query.parts.map((part) => conditionOf(part, bind)).join(query.type === 'all' ? ' AND ' : ' OR ')})`;
    case 'not':
      return `NOT ${conditionOf(query.part, bind)}`;
    case 'term':
      return `has(terms, ${bind(termText(query), 'String')})`;
    case 'phrase': {
      // The terms narrow the search by the index; the position decides.
      const words = bind([...new Set(query.words)], 'Array(String)');
      return `(hasAll(terms, ${words}) AND position(words, ${bind(` ${query.words.join(' ')} `, 'String')}) > 0)`;
    }
    case 'since':
      return `created_at >= fromUnixTimestamp64Milli(${bind(query.timeMs, 'Int64')}, 'UTC')`;
    case 'until':
      return `created_at < fromUnixTimestamp64Milli(${bind(query.timeMs, 'Int64')}, 'UTC')`;
    case 'min':
      return `${METRIC_COLUMNS[query.metric]} >= ${bind(query.count, 'UInt64')}`;
  }
}

/** The newest posts that match. */
export function searchSql(query: Query, max: number): Sql {
  const params: Record<string, SqlValue> = { rows: max };
  const bind = (value: SqlValue, type: string): string => {
    const name = `p${Object.keys(params).length}`;
    params[name] = value;
    return `{${name}:${type}}`;
  };
  const where = conditionOf(query, bind);
  return {
    text: `SELECT ${COLUMNS} FROM social_posts FINAL WHERE ${where} ${NEWEST_FIRST} LIMIT {rows:UInt32}`,
    params,
    singleChunk: true,
  };
}

/** Posts by id; the range of their times is the table's key. */
export function postsByIdSql(ids: readonly string[], range: { readonly fromMs: number; readonly toMs: number }): Sql {
  return {
    text: `SELECT ${COLUMNS} FROM social_posts FINAL
      WHERE created_at BETWEEN fromUnixTimestamp64Milli({from:Int64}, 'UTC') AND fromUnixTimestamp64Milli({to:Int64}, 'UTC') AND id IN {ids:Array(String)}`,
    params: { ids, from: range.fromMs, to: range.toMs },
    singleChunk: true,
  };
}
