/**
 * What a source of oracle prices delivers. Prices are integers scaled by 1e18 (`E18`), times are Unix milliseconds UTC. A source may
 * repeat itself and may be out of order: the ticker (see ticker.ts) makes ticks out of it.
 */

/** One price as a source saw it. */
export interface OraclePrice {
  /** `ASSET/USD`. */
  readonly feed: string;
  readonly isTwap: boolean;
  /** Averaging window of a TWAP price in seconds; null for spot. */
  readonly windowS: number | null;
  /** Oracle time. */
  readonly timestampMs: number;
  readonly priceE18: bigint;
  readonly bidE18: bigint | null;
  readonly askE18: bigint | null;
  readonly receivedMs: number;
  /** Where it was read, for people: `rtds`, `recorded`. */
  readonly source: string;
}

/** Time of the newest tick already in the log, per series (see seriesKey). Empty for a fresh log. */
export type ResumePoints = ReadonlyMap<string, number>;

/** What happens at the live end. Prices come in the order seen; everything that is ready at once is one batch. */
export type OracleLiveEvent =
  | { readonly type: 'prices'; readonly prices: readonly OraclePrice[] }
  | { readonly type: 'connected'; readonly connected: boolean; readonly detail: string };

export interface OracleSource {
  readonly mode: 'live' | 'recorded';
  /** For people: which service, or which recording and how it is shifted. */
  readonly description: string;
  /** Whole days added to recorded times during the live tail; null for a live service. */
  readonly shiftDays: number | null;
  /** Start of the recorded day being played (its own time); null for a live service. */
  readonly recordedFromMs: number | null;
  /** How many prices `history` will deliver, for the progress bar; 0 when there is none (left). */
  historyTotal(resume: ResumePoints): number;
  /** Prices before the live end that the log does not have yet, in batches. */
  history(resume: ResumePoints, signal: AbortSignal): AsyncIterable<readonly OraclePrice[]>;
  /** The live end, until the signal. Reconnects by itself. */
  live(resume: ResumePoints, signal: AbortSignal): AsyncIterable<OracleLiveEvent>;
}

/** The seven assets of the venue's crypto markets. */
export const oracleAssets = ['BTC', 'ETH', 'SOL', 'BNB', 'XRP', 'DOGE', 'HYPE'] as const;

/** Feed part of a tick id: `BTC/USD`, or `BTC/USD@60` for the 60-second TWAP. */
export function seriesKey(price: Pick<OraclePrice, 'feed' | 'windowS'>): string {
  return price.windowS === null ? price.feed : `${price.feed}@${price.windowS}`;
}
