/**
 * Sources of oracle prices. Prices are integers scaled by 1e18 (`E18`), times are Unix milliseconds UTC. A source may repeat prices and may
 * deliver them out of order: the tick writer (see tick-writer.ts) turns them into ticks.
 */

/** One observed price. */
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
  /** Human-readable origin: `rtds`, `recorded`. */
  readonly source: string;
}

/** Time of the newest tick in the log, or in its last minutes, per series (see seriesKey). Empty for an empty log. */
export type ResumePoints = ReadonlyMap<string, number>;

/** Update of the live feed. Prices are in order of receipt; a batch has all prices available at once. */
export type OracleLiveEvent =
  | { readonly type: 'prices'; readonly prices: readonly OraclePrice[] }
  | { readonly type: 'connected'; readonly connected: boolean; readonly detail: string };

export interface OracleSource {
  readonly mode: 'live' | 'recorded';
  /** Human-readable: the service, or the recording and its time shift. */
  readonly description: string;
  /** Whole days added to recorded times during the live tail; null for a live service. */
  readonly shiftDays: number | null;
  /** Start of the recorded day being played (its own time); null for a live service. */
  readonly recordedFromMs: number | null;
  /** True if a series may end long before another one, so that its resume point is not in the last minutes of the log. */
  readonly hasEndedSeries?: boolean;
  /** Number of prices that `history` will deliver, for progress; 0 when none remain. */
  historyTotal(resume: ResumePoints): number;
  /** Prices before the live feed that are not in the log yet, in batches. */
  history(resume: ResumePoints, signal: AbortSignal): AsyncIterable<readonly OraclePrice[]>;
  /** Live feed until the signal. Reconnects automatically. */
  live(resume: ResumePoints, signal: AbortSignal): AsyncIterable<OracleLiveEvent>;
}

/** The seven assets of the venue's crypto markets. */
export const oracleAssets = ['BTC', 'ETH', 'SOL', 'BNB', 'XRP', 'DOGE', 'HYPE'] as const;

/** Feed part of a tick id: `BTC/USD`, or `BTC/USD@60` for the 60-second TWAP. */
export function seriesKey(price: Pick<OraclePrice, 'feed' | 'windowS'>): string {
  return price.windowS === null ? price.feed : `${price.feed}@${price.windowS}`;
}
