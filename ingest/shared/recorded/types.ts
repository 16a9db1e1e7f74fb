import type { Hex } from '../../../schemas/primitives/hash.js';

/** JSON object as the venue's catalogue API serves it, unknown fields included. */
export type GammaObject = Record<string, unknown>;

/** Where a market's ids come from: the catalogue itself, trade rows (condition and token ids), or the rule for missing ids. */
export type IdSource = 'gamma' | 'data-api' | 'derived';

/** Source of a window's outcome. `inferred`: the side with the higher last trade price. */
export type OutcomeSource = 'recorded' | 'positions' | 'inferred';

/** A market of the recording, at its recorded times or shifted by whole days. Times are Unix seconds. */
export interface RecordedMarket {
  readonly slug: string;
  readonly title: string;
  readonly conditionId: Hex;
  /** null where only the condition id is known. */
  readonly questionId: Hex | null;
  /** Decimal uint256, index 0 = first outcome (Up, Yes). */
  readonly tokenIds: readonly [string, string];
  readonly idsFrom: IdSource;
  readonly negRisk: boolean;
  readonly outcomes: readonly string[];
  /** `btc`, `eth` ...; null for markets that are not crypto windows. */
  readonly coin: string | null;
  /** `5m`, `15m`, `4h`, `1h`. */
  readonly duration: string | null;
  /** Window start; null for markets without a window. */
  readonly startS: number | null;
  readonly endS: number | null;
  /** Creation time; a day before the window where it is not recorded. */
  readonly createdS: number | null;
  /** Resolution time on chain; null: not resolved in the recording. */
  readonly resolvedS: number | null;
  /** Index of the winning outcome. */
  readonly outcome: number | null;
  readonly outcomeFrom: OutcomeSource | null;
  /** Last price of the first outcome that was recorded before the end. */
  readonly lastPrice: number | null;
  readonly eventSlug: string;
  readonly eventId: string | null;
  readonly icon: string | null;
  /** Price to beat, 1e18; only the markets of the recorded day have one, and not all of them. */
  readonly strikeE18: bigint | null;
  /** Recorded catalog object; null where the recording has none. See `gammaMarket`. */
  readonly raw: GammaObject | null;
  /** Days added to the recorded times; null: recorded times. */
  readonly shiftDays: number | null;
}

export interface RecordedTick {
  readonly timestampMs: number;
  readonly priceE18: bigint;
  /** Send time at the price server. */
  readonly serverMs: number;
  /** Receive time at the recorder. */
  readonly receivedMs: number;
}

export interface RecordedSeries {
  readonly id: string | null;
  readonly slug: string;
  readonly title: string;
  readonly recurrence: string;
}

export interface RecordedTag {
  readonly id: string;
  readonly slug: string;
  readonly label: string;
}

export interface RecordingMeta {
  readonly format: number;
  readonly sources: readonly string[];
  /** The day of the ticks and of the 5-minute markets. */
  readonly day: { readonly from_ms: number; readonly markets: number };
  /** The 24 hours of wallet activity that are played as live tail, and the end of the same wallets' history at recorded times. */
  readonly tail: { readonly from_s: number; readonly history_until_s: number };
  readonly counts: Readonly<Record<string, unknown>>;
}

/** Chain events as parallel columns; see `tests/recorded/README.md` for the meaning of each. */
export interface RecordedChain {
  readonly wallets: readonly Hex[];
  /** 32 bytes per transaction. */
  readonly hashes: Buffer;
  readonly timeS: Float64Array;
  /** Index into `meta.sources`. */
  readonly source: Float64Array;
  /** Number of actions per transaction. */
  readonly actions: Float64Array;
  /** Per action: 0 match, 1 merge, 2 redemption. */
  readonly kind: Float64Array;
  /** Per action: index into `markets`. */
  readonly market: Float64Array;
  /** Per match. */
  readonly makers: Float64Array;
  /** Per match: 0 = synthetic taker, else wallet index + 1. */
  readonly takerWallet: Float64Array;
  /** Per match with a known taker: side (0 BUY, 1 SELL) * 2 + outcome. */
  readonly takerBits: Float64Array;
  readonly takerUsdc: Float64Array;
  /** Gross. */
  readonly takerShares: Float64Array;
  /** BUY: shares, SELL: USDC. */
  readonly takerFee: Float64Array;
  /** Per maker order: 0 = synthetic, else wallet index + 1. */
  readonly legWallet: Float64Array;
  readonly legBits: Float64Array;
  readonly legUsdc: Float64Array;
  readonly legShares: Float64Array;
  /** Per merge or redemption. */
  readonly userWallet: Float64Array;
  readonly userAmount: Float64Array;
}

/** What the catalogue source and the windows of the live tail read. */
export interface RecordedCatalog {
  readonly meta: Pick<RecordingMeta, 'day' | 'tail'>;
  /** The first `meta.day.markets` are the 5-minute BTC markets of the recorded day, by window start. */
  readonly markets: readonly RecordedMarket[];
  /** Events as the catalogue served them (without their markets). Windows and venue markets have none: see `gammaEvent`. */
  readonly gammaEvents: readonly GammaObject[];
  readonly series: readonly RecordedSeries[];
  readonly tags: readonly RecordedTag[];
}

export interface Recording extends RecordedCatalog {
  readonly meta: RecordingMeta;
  /** BTC/USD, ascending, at most one per second. */
  ticks(): Iterable<RecordedTick>;
  /** Decoded on first use. */
  chain(): RecordedChain;
}
