import { createCachedLookup } from '../catalog/cached-lookup.js';
import type { ChangeFeed } from '../catalog/change-feed.js';
import type { Tables } from '../tables/port.js';
import { type HourlyClosesRow, hourlyClosesSql } from './hourly-closes.sql.js';
import { type HourlyClose, packCloses, unpackCloses } from './packed-hourly-closes.js';

/** Closes of a requested token by their end. Hours before `fromS` may be one entry with the newest of their trades. */
export type HourlyClosesOf = (tokenId: string) => readonly HourlyClose[];
export interface HourlyClosesReader {
  (tokenIds: readonly string[], fromS: number): Promise<HourlyClosesOf>;
  /** Reads last month's closes of tokens into the cache while it has capacity; again after an hour with a trade. */
  readonly prefetch: (tokenIds: readonly string[]) => Promise<void>;
}

const HOUR_S = 3_600;
/** Cached range: a month and a day. Earlier ranges are read each time. */
const CACHED_RANGE_S = 31 * 24 * HOUR_S;
/** Capacity: a month's closes of about 100,000 rarely traded tokens. */
const MAX_BYTES = 40_000_000;
/** Estimate of an entry without its closes. */
const ENTRY_BYTES = 250;
/** Tokens per statement: ids have up to 78 digits, and the parameters of a statement are limited. */
const TOKEN_BATCH = 4_000;

const hourOf = (atS: number): number => Math.floor(atS / HOUR_S) * HOUR_S;

interface CachedCloses {
  readonly packed: string;
  /** First hour with a trade since the read, Unix seconds: after its end the cached closes are outdated. */
  readonly tradedHourS: number;
}

const packHourlyCloses = (row: HourlyClosesRow): string => {
  const closes = row.ends.map((endS, n) => ({
    endS,
    price: row.prices[n] as number,
    place: row.places[n] as number,
  }));
  return packCloses(closes.sort((a, b) => a.endS - b.endS));
};

/** Reads hourly closes of tokens; caches those of the last month until an hour with a trade has ended. */
export function createHourlyClosesReader(deps: {
  tables: Tables;
  nowMs: () => number;
  changes: ChangeFeed;
}): HourlyClosesReader {
  const nowS = () => Math.floor(deps.nowMs() / 1000);
  const read = async (ids: readonly string[], fromS: number): Promise<Map<string, CachedCloses>> => {
    const found = new Map<string, CachedCloses>();
    for (let at = 0; at < ids.length; at += TOKEN_BATCH) {
      const rows = await deps.tables.rows<HourlyClosesRow>(hourlyClosesSql(ids.slice(at, at + TOKEN_BATCH), fromS));
      for (const row of rows)
        found.set(row.token, { packed: packHourlyCloses(row), tradedHourS: Number.POSITIVE_INFINITY });
    }
    return found;
  };
  const recent = createCachedLookup<CachedCloses | null>({
    read: (ids) => read(ids, hourOf(nowS()) - CACHED_RANGE_S),
    unknown: null,
    nowMs: deps.nowMs,
    maxSize: MAX_BYTES,
    sizeOf: (closes) => ENTRY_BYTES + (closes?.packed.length ?? 0),
    isFresh: (closes) => closes === null || closes.tradedHourS + HOUR_S > nowS(),
    invalidation: {
      changes: deps.changes,
      tables: ['fills'],
      update(closes, _source, sinceS) {
        if (closes === null) return undefined;
        return closes.tradedHourS <= hourOf(sinceS) ? closes : { ...closes, tradedHourS: hourOf(sinceS) };
      },
    },
  });
  const closesOf = async (tokenIds: readonly string[], fromS: number): Promise<HourlyClosesOf> => {
    const found = fromS < hourOf(nowS()) - CACHED_RANGE_S ? await read(tokenIds, fromS) : await recent(tokenIds);
    return (token) => {
      const closes = found.get(token);
      return closes == null ? [] : unpackCloses(closes.packed);
    };
  };
  return Object.assign(closesOf, { prefetch: recent.prefetch });
}
