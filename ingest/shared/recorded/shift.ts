import { type Hex, keccakOfHex } from '../../../schemas/primitives/hash.js';
import { conditionId, tokenPair } from '../../../schemas/primitives/ids.js';
import { addresses } from '../../chain/contracts.js';
import { coinName } from './series.js';
import type { GammaObject, RecordedCatalog, RecordedMarket } from './types.js';

/** Seconds of a day. */
export const DAY_S = 86_400;

/** Whole days from `recordedS` to the last time of day equal to it that is not after `nowS`. Negative before the recording. */
export function shiftDaysFor(nowS: number, recordedS: number): number {
  return Math.floor((nowS - recordedS) / DAY_S);
}

function uint32(days: number): string {
  if (!Number.isInteger(days) || days < 0 || days > 0xffffffff) throw new RangeError(`Not a shift: ${days} days`);
  return days.toString(16).padStart(8, '0');
}

/** Id of a recorded transaction or question that is played `days` later: keccak256(id ++ uint32 days). */
export function shiftHash(hash: Hex, days: number): Hex {
  return keccakOfHex(hash.slice(2) + uint32(days));
}

const eastern = new Intl.DateTimeFormat('en-US', {
  timeZone: 'America/New_York',
  month: 'long',
  day: 'numeric',
  hour: 'numeric',
  minute: '2-digit',
  hour12: true,
});

function easternParts(timeS: number): { date: string; time: string } {
  const parts = Object.fromEntries(eastern.formatToParts(timeS * 1000).map(({ type, value }) => [type, value]));
  return { date: `${parts.month} ${parts.day}`, time: `${parts.hour}:${parts.minute}${parts.dayPeriod}` };
}

/** Title of a 5- or 15-minute window as the venue writes it: US Eastern time with its daylight saving. */
export function windowTitle(coin: string, startS: number, endS: number): string {
  const start = easternParts(startS);
  return `${coinName(coin)} Up or Down - ${start.date}, ${start.time}-${easternParts(endS).time} ET`;
}

const DATE = /^\d{4}-\d{2}-\d{2}/;

function shiftDate(text: string, days: number): string {
  const day = new Date(Date.parse(`${text.slice(0, 10)}T00:00:00Z`) + days * DAY_S * 1000);
  return day.toISOString().slice(0, 10) + text.slice(10);
}

/** Shifts dates and replaces ids and texts that name the window; other fields are unchanged. */
function shiftRaw(raw: GammaObject, days: number, changed: GammaObject): GammaObject {
  const moved = Object.entries(raw).map(([key, value]) => [
    key,
    typeof value === 'string' && DATE.test(value) ? shiftDate(value, days) : value,
  ]);
  return { ...(Object.fromEntries(moved) as GammaObject), ...changed };
}

/**
 * A 5- or 15-minute window played `days` later: times move by whole days, ids are derived from the recorded ones, slug and title name the
 * new window. Throws RangeError for a market without window or question id.
 */
export function shiftMarket(market: RecordedMarket, days: number): RecordedMarket {
  const { coin, duration, startS, endS, questionId: recordedQuestion } = market;
  if (coin === null || duration === null || startS === null || endS === null || recordedQuestion === null)
    throw new RangeError(`Only windows with a question id can be shifted: ${market.slug}`);
  const move = <T extends number | null>(timeS: T) => (timeS === null ? timeS : timeS + days * DAY_S) as T;
  const questionId = shiftHash(recordedQuestion, days);
  const condition = conditionId({ oracle: addresses.cryptoOracle, questionId });
  const tokenIds = tokenPair(addresses.usdcE, condition);
  const slug = `${coin}-updown-${duration}-${move(startS)}`;
  const title = windowTitle(coin, move(startS), move(endS));
  const raw =
    market.raw === null
      ? null
      : shiftRaw(market.raw, days, {
          id: `${market.raw.id}-d${days}`,
          slug,
          question: title,
          conditionId: condition,
          questionID: questionId,
          clobTokenIds: JSON.stringify(tokenIds),
        });
  return {
    ...market,
    slug,
    title,
    conditionId: condition,
    questionId,
    tokenIds,
    startS: move(startS),
    endS: move(endS),
    createdS: move(market.createdS),
    resolvedS: move(market.resolvedS),
    eventSlug: slug,
    eventId: market.eventId === null ? null : `${market.eventId}-d${days}`,
    raw,
    shiftDays: days,
  };
}

/** Windows of the shifted timeline: always the same market per window start. */
export interface LiveMarkets {
  /** Recorded windows that are played, by time of day. */
  readonly templates: readonly RecordedMarket[];
  /** null: the recording has no window of that kind at that time of day. */
  find(coin: string, duration: string, startS: number): RecordedMarket | null;
  /** Windows whose start lies in [fromS, toS), by start, then coin. */
  between(fromS: number, toS: number): RecordedMarket[];
}

/**
 * Maps each time of day to a recorded window: for BTC the 288 markets of the recorded day, for other coins the windows of the wallet
 * activity, with priority for the 24 hours of the tail. Caches a bounded number of shifted markets.
 */
export function createLiveMarkets(recording: RecordedCatalog): LiveMarkets {
  const { day, tail } = recording.meta;
  const templates = new Map<string, RecordedMarket>();
  const add = (market: RecordedMarket) => {
    const key = `${market.coin}:${market.duration}:${market.startS! % DAY_S}`;
    if (!templates.has(key)) templates.set(key, market);
  };
  const dayFromS = day.from_ms / 1000;
  const inDay = (startS: number, fromS: number) => startS >= fromS && startS < fromS + DAY_S;
  for (const market of recording.markets.slice(0, day.markets)) if (inDay(market.startS!, dayFromS)) add(market);
  const others = recording.markets.filter((market) => market.idsFrom === 'derived' && market.duration === '5m');
  for (const market of others) if (inDay(market.startS!, tail.from_s)) add(market);
  for (const market of others) add(market);
  const ordered = [...templates.values()].sort(
    (a, b) => (a.startS! % DAY_S) - (b.startS! % DAY_S) || (a.coin! < b.coin! ? -1 : 1),
  );

  const shiftedMarkets = new Map<string, RecordedMarket>();
  const shifted = (template: RecordedMarket, startS: number): RecordedMarket => {
    const key = `${template.coin}:${template.duration}:${startS}`;
    let market = shiftedMarkets.get(key);
    if (market === undefined) {
      market = shiftMarket(template, (startS - template.startS!) / DAY_S);
      if (shiftedMarkets.size >= 8192) shiftedMarkets.delete(shiftedMarkets.keys().next().value!);
      shiftedMarkets.set(key, market);
    }
    return market;
  };
  return {
    templates: ordered,
    find(coin, duration, startS) {
      const template = templates.get(`${coin}:${duration}:${startS % DAY_S}`);
      return template === undefined ? null : shifted(template, startS);
    },
    between(fromS, toS) {
      const found: RecordedMarket[] = [];
      for (let dayS = Math.floor(fromS / DAY_S) * DAY_S; dayS < toS; dayS += DAY_S) {
        for (const template of ordered) {
          const startS = dayS + (template.startS! % DAY_S);
          if (startS >= fromS && startS < toS) found.push(shifted(template, startS));
        }
      }
      return found;
    },
  };
}
