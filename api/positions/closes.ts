import type { Changes } from '../catalogue/changes.js';
import { createHeldLookup } from '../catalogue/held-lookup.js';
import type { Tables } from '../tables/port.js';
import { type ClosesRow, closesSql } from './closes.sql.js';

/** What a token last traded at in an hour. */
export interface Close {
  /** End of the hour, Unix seconds. */
  readonly endS: number;
  /** 1e-6 USD. */
  readonly price: bigint;
  /** Of the trade: block x 2^20 + log index. */
  readonly place: bigint;
}

/** The closes of one of the tokens asked for, in no order; those of hours that ended before `fromS` may be one, of the newest trade of them all. */
export type ClosesOf = (tokenId: string) => readonly Close[];
export type ClosesReader = (tokenIds: readonly string[], fromS: number) => Promise<ClosesOf>;

const HOUR_S = 3_600;
/** Held: a month and a day. What begins before that is read each time. */
const WINDOW_S = 31 * 24 * HOUR_S;
/** Some 30 MB: a close has 24 bytes, what holds a token's some 200. */
const MAX_HELD = 1_000_000;
const ENTRY_WEIGHT = 8;
/** Token ids have up to 78 digits, and the parameters of a statement their limit. */
const TOKENS_AT_ONCE = 4_000;

const hourOf = (atS: number): number => Math.floor(atS / HOUR_S) * HOUR_S;

interface HeldCloses {
  /** End, price and place of each close in turn. */
  readonly numbers: BigUint64Array;
  /** The first hour that traded since, Unix seconds: once it is over, its close is missing here. */
  tradedS: number;
}

const held = (row: ClosesRow): HeldCloses => {
  const numbers = new BigUint64Array(row.ends.length * 3);
  for (const [n, end] of row.ends.entries()) {
    numbers[n * 3] = BigInt(end);
    numbers[n * 3 + 1] = BigInt(row.prices[n] as string);
    numbers[n * 3 + 2] = BigInt(row.places[n] as string);
  }
  return { numbers, tradedS: Number.POSITIVE_INFINITY };
};

const closesFrom = ({ numbers }: HeldCloses): Close[] =>
  Array.from({ length: numbers.length / 3 }, (_, n) => ({
    endS: Number(numbers[n * 3]),
    price: numbers[n * 3 + 1] as bigint,
    place: numbers[n * 3 + 2] as bigint,
  }));

/** Reads what tokens traded at; the last month's closes are held, until an hour in which a token traded is over. */
export function createClosesReader(deps: { tables: Tables; nowMs: () => number; changes: Changes }): ClosesReader {
  const nowS = () => Math.floor(deps.nowMs() / 1000);
  const read = async (ids: readonly string[], fromS: number): Promise<Map<string, HeldCloses>> => {
    const found = new Map<string, HeldCloses>();
    for (let at = 0; at < ids.length; at += TOKENS_AT_ONCE) {
      const rows = await deps.tables.rows<ClosesRow>(closesSql(ids.slice(at, at + TOKENS_AT_ONCE), fromS));
      for (const row of rows) found.set(row.token, held(row));
    }
    return found;
  };
  const recent = createHeldLookup<HeldCloses | null>({
    read: (ids) => read(ids, hourOf(nowS()) - WINDOW_S),
    unknown: null,
    nowMs: deps.nowMs,
    maxHeld: MAX_HELD,
    weigh: (closes) => ENTRY_WEIGHT + (closes?.numbers.length ?? 0) / 3,
    current: (closes) => closes === null || closes.tradedS + HOUR_S > nowS(),
    follow: {
      changes: deps.changes,
      sources: ['fills'],
      keeps: (closes, _source, sinceS) => {
        if (closes === null) return false;
        closes.tradedS = Math.min(closes.tradedS, hourOf(sinceS));
        return true;
      },
    },
  });
  return async (tokenIds, fromS) => {
    const found = fromS < hourOf(nowS()) - WINDOW_S ? await read(tokenIds, fromS) : await recent(tokenIds);
    return (token) => {
      const closes = found.get(token);
      return closes == null ? [] : closesFrom(closes);
    };
  };
}
