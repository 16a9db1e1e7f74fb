import type { Changes } from '../catalogue/changes.js';
import { createHeldLookup, type Packing } from '../catalogue/held-lookup.js';
import type { Tables } from '../tables/port.js';
import { type ClosesRow, closesSql } from './closes.sql.js';
import { type Close, packCloses, unpackCloses } from './packed-closes.js';

/** The closes of one of the tokens asked for, by their ends; those of hours that ended before `fromS` may be one, of the newest trade of them all. */
export type ClosesOf = (tokenId: string) => readonly Close[];
export interface ClosesReader {
  (tokenIds: readonly string[], fromS: number): Promise<ClosesOf>;
  /** Reads the last month's of these ahead of questions, while there is room; again after an hour in which a token traded. */
  readonly hold: (tokenIds: readonly string[]) => Promise<void>;
}

const HOUR_S = 3_600;
/** Held: a month and a day. What begins before that is read each time. */
const WINDOW_S = 31 * 24 * HOUR_S;
/** Of a month's closes of some 300,000 tokens that trade now and then. */
const MAX_BYTES = 60_000_000;
/** Token ids have up to 78 digits, and the parameters of a statement their limit. */
const TOKENS_AT_ONCE = 4_000;

const hourOf = (atS: number): number => Math.floor(atS / HOUR_S) * HOUR_S;

interface HeldCloses {
  readonly packed: string;
  /** The first hour that traded since, Unix seconds: once it is over, its close is missing here. */
  readonly tradedS: number;
}

const packedOf = (row: ClosesRow): string => {
  const closes = row.ends.map((endS, n) => ({
    endS,
    price: row.prices[n] as number,
    place: row.places[n] as number,
  }));
  return packCloses(closes.sort((a, b) => a.endS - b.endS));
};

/** `<hour that traded, or nothing> <closes>`; nothing at all for a token that never traded. */
const asText: Packing<HeldCloses | null> = {
  encoding: 'latin1',
  pack: (held) => (held === null ? '' : [Number.isFinite(held.tradedS) ? held.tradedS : '', held.packed].join(' ')),
  unpack(text) {
    if (text === '') return null;
    const at = text.indexOf(' ');
    return { packed: text.slice(at + 1), tradedS: at === 0 ? Number.POSITIVE_INFINITY : Number(text.slice(0, at)) };
  },
};

/** Reads what tokens traded at; the last month's closes are held, until an hour in which a token traded is over. */
export function createClosesReader(deps: { tables: Tables; nowMs: () => number; changes: Changes }): ClosesReader {
  const nowS = () => Math.floor(deps.nowMs() / 1000);
  const read = async (ids: readonly string[], fromS: number): Promise<Map<string, HeldCloses>> => {
    const found = new Map<string, HeldCloses>();
    for (let at = 0; at < ids.length; at += TOKENS_AT_ONCE) {
      const rows = await deps.tables.rows<ClosesRow>(closesSql(ids.slice(at, at + TOKENS_AT_ONCE), fromS));
      for (const row of rows) found.set(row.token, { packed: packedOf(row), tradedS: Number.POSITIVE_INFINITY });
    }
    return found;
  };
  const recent = createHeldLookup<HeldCloses | null>({
    read: (ids) => read(ids, hourOf(nowS()) - WINDOW_S),
    unknown: null,
    nowMs: deps.nowMs,
    maxBytes: MAX_BYTES,
    packed: asText,
    current: (closes) => closes === null || closes.tradedS + HOUR_S > nowS(),
    follow: {
      changes: deps.changes,
      sources: ['fills'],
      kept(closes, _source, sinceS) {
        if (closes === null) return undefined;
        return closes.tradedS <= hourOf(sinceS) ? closes : { ...closes, tradedS: hourOf(sinceS) };
      },
    },
  });
  const closesOf = async (tokenIds: readonly string[], fromS: number): Promise<ClosesOf> => {
    const found = fromS < hourOf(nowS()) - WINDOW_S ? await read(tokenIds, fromS) : await recent(tokenIds);
    return (token) => {
      const closes = found.get(token);
      return closes == null ? [] : unpackCloses(closes.packed);
    };
  };
  return Object.assign(closesOf, { hold: recent.hold });
}
