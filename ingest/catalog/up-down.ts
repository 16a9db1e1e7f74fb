/**
 * The venue's short crypto markets ("up or down"), whose slugs follow from the clock. 5 and 15 minute windows start at multiples of their length in UTC; 4 hours are six blocks
 * from midnight in New York; 1 hour and daily slugs spell New York time.
 */

export const upDownCoins = ['btc', 'eth', 'sol', 'bnb', 'xrp', 'doge', 'hype'] as const;
export type UpDownCoin = (typeof upDownCoins)[number];
export type UpDownDuration = '5m' | '15m' | '1h' | '4h' | '1d';

export interface UpDownWindow {
  readonly coin: UpDownCoin;
  readonly duration: UpDownDuration;
  /** Unix seconds; null where the slug spells a date. */
  readonly windowStartS: number | null;
}

/** Names in hourly and daily slugs. Hyperliquid has two spellings upstream: both are requested. */
const names: Readonly<Record<UpDownCoin, readonly string[]>> = {
  btc: ['bitcoin'],
  eth: ['ethereum'],
  sol: ['solana'],
  bnb: ['bnb'],
  xrp: ['xrp'],
  doge: ['dogecoin'],
  hype: ['hyperliquid', 'hype'],
};
const coinOfName = new Map(upDownCoins.flatMap((coin) => names[coin].map((name) => [name, coin] as const)));

const TIMESTAMP_SLUG = /^(btc|eth|sol|bnb|xrp|doge|hype)-updown-(5m|15m|4h)-(\d{10})$/;
const DATE_SLUG = /^([a-z]+)-up-or-down-(on-)?[a-z]+-\d{1,2}(?:-\d{4})?(-\d{1,2}[ap]m-et)?$/;

/** Asset, duration and start of a short-form slug; null for other slugs. */
export function parseUpDownSlug(slug: string): UpDownWindow | null {
  const grid = TIMESTAMP_SLUG.exec(slug);
  if (grid !== null) {
    return {
      coin: grid[1] as UpDownCoin,
      duration: grid[2] as UpDownDuration,
      windowStartS: Number(grid[3]),
    };
  }
  const spelled = DATE_SLUG.exec(slug);
  const coin = spelled === null ? undefined : coinOfName.get(spelled[1] ?? '');
  if (spelled === null || coin === undefined) return null;
  const daily = spelled[2] !== undefined;
  if (daily === (spelled[3] !== undefined)) return null;
  return { coin, duration: daily ? '1d' : '1h', windowStartS: null };
}

/** Slugs of every short-form market whose window contains the instant. */
export function upDownSlugsAt(nowMs: number): string[] {
  const nowS = Math.floor(nowMs / 1000);
  const eastern = easternTime(nowMs);
  const hour12 = eastern.hour % 12 === 0 ? 12 : eastern.hour % 12;
  const spelledHour = `${spelledDate(eastern)}-${hour12}${eastern.hour < 12 ? 'am' : 'pm'}-et`;
  // A daily window runs from noon to noon and is named by its end.
  const spelledDay = spelledDate(easternTime(eastern.hour < 12 ? nowMs : nowMs + 12 * 3_600_000));
  const block = fourHourBlockStartS(nowMs);
  return upDownCoins.flatMap((coin) => [
    `${coin}-updown-5m-${nowS - (nowS % 300)}`,
    `${coin}-updown-15m-${nowS - (nowS % 900)}`,
    `${coin}-updown-4h-${block}`,
    ...names[coin].flatMap((name) => [`${name}-up-or-down-${spelledHour}`, `${name}-up-or-down-on-${spelledDay}`]),
  ]);
}

/** Slugs of the previous, current and next window of every duration. */
export function upDownSlugsAround(nowMs: number): string[] {
  const steps = [300_000, 900_000, 3_600_000, 4 * 3_600_000, 24 * 3_600_000];
  const instants = [nowMs, ...steps.flatMap((step) => [nowMs - step, nowMs + step])];
  const wanted = new Set(upDownSlugsAt(nowMs));
  for (const instant of instants) {
    for (const slug of upDownSlugsAt(instant)) {
      const form = parseUpDownSlug(slug);
      if (form !== null && Math.abs(instant - nowMs) === stepOf(form.duration)) wanted.add(slug);
    }
  }
  return [...wanted];
}

function stepOf(duration: UpDownDuration): number {
  return { '5m': 300_000, '15m': 900_000, '1h': 3_600_000, '4h': 4 * 3_600_000, '1d': 24 * 3_600_000 }[duration];
}

interface Eastern {
  readonly year: number;
  readonly month: string;
  readonly day: number;
  readonly hour: number;
}

const easternFormat = new Intl.DateTimeFormat('en-US', {
  timeZone: 'America/New_York',
  year: 'numeric',
  month: 'long',
  day: 'numeric',
  hour: '2-digit',
  hourCycle: 'h23',
});

function easternTime(ms: number): Eastern {
  const parts = new Map(easternFormat.formatToParts(ms).map(({ type, value }) => [type, value]));
  return {
    year: Number(parts.get('year')),
    month: (parts.get('month') ?? '').toLowerCase(),
    day: Number(parts.get('day')),
    hour: Number(parts.get('hour')),
  };
}

function spelledDate({ month, day, year }: Eastern): string {
  return `${month}-${day}-${year}`;
}

/** Start of the New York 4-hour block: back to its hour on the clock, also when the clock changed within it. */
function fourHourBlockStartS(nowMs: number): number {
  const wanted = easternTime(nowMs).hour - (easternTime(nowMs).hour % 4);
  let startS = Math.floor(nowMs / 3_600_000) * 3600;
  while (easternTime(startS * 1000).hour > wanted) startS -= 3600;
  return startS;
}
