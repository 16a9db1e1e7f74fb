import { type CachedLookup, createCachedLookup, type Lookup } from '../catalog/cached-lookup.js';
import type { ChangeFeed } from '../catalog/change-feed.js';
import type { Tables } from '../tables/port.js';
import { type HourlyClosesRow, hourlyClosesSql } from './hourly-closes.sql.js';

/** Closes of a token by time, three numbers each: end of the hour (Unix seconds), price (1e-6 USD), log position of the trade (block x 2^20 + log index). */
export type HourlyCloses = Float64Array;
export const NUMBERS_PER_CLOSE = 3;

export interface HourlyClosesReader {
  /** Closes by token; those before `fromS` may be one. */
  readonly since: (tokenIds: readonly string[], fromS: number) => ReturnType<Lookup<HourlyCloses>>;
  /** Those of the last month. */
  readonly recent: CachedLookup<HourlyCloses>;
}

const HOUR_S = 3_600;
/** Cached range: a month and a day. Earlier ranges are read each time. */
const CACHED_RANGE_S = 31 * 24 * HOUR_S;
/** Capacity per cached market: a month's closes of two rarely traded tokens. */
const BYTES_PER_MARKET = 1_000;
/** Estimate of an entry without its closes. */
const ENTRY_BYTES = 250;
/** Tokens per statement: ids have up to 78 digits, and the parameters of a statement are limited. */
const TOKEN_BATCH = 4_000;

const NONE: HourlyCloses = new Float64Array();
const closesFrom = ({ ends, prices, places }: HourlyClosesRow): HourlyCloses =>
  Float64Array.from(ends.flatMap((endS, n) => [endS, prices[n] as number, places[n] as number]));

/** Creates the reader. The closes of the last month are cached until the token is traded again. */
export function createHourlyClosesReader(deps: {
  tables: Tables;
  nowMs: () => number;
  changes: ChangeFeed;
  cachedMarkets: number;
}): HourlyClosesReader {
  const recentFromS = () => Math.floor(deps.nowMs() / 1000 / HOUR_S) * HOUR_S - CACHED_RANGE_S;
  const read = async (tokenIds: readonly string[], fromS: number): Promise<Map<string, HourlyCloses>> => {
    const found = new Map<string, HourlyCloses>();
    for (let at = 0; at < tokenIds.length; at += TOKEN_BATCH) {
      const sql = hourlyClosesSql(tokenIds.slice(at, at + TOKEN_BATCH), fromS);
      for (const row of await deps.tables.rows<HourlyClosesRow>(sql)) found.set(row.token, closesFrom(row));
    }
    return found;
  };
  const recent = createCachedLookup<HourlyCloses>({
    read: (tokenIds) => read(tokenIds, recentFromS()),
    unknown: NONE,
    nowMs: deps.nowMs,
    maxSize: deps.cachedMarkets * BYTES_PER_MARKET,
    sizeOf: (closes) => ENTRY_BYTES + closes.byteLength,
    invalidation: { changes: deps.changes, tables: ['fills'] },
  });
  return {
    since: (tokenIds, fromS) => (fromS < recentFromS() ? read(tokenIds, fromS) : recent(tokenIds)),
    recent,
  };
}
