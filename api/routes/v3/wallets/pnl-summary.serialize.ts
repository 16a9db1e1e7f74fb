import { z } from 'zod';
import { moneyToNumber } from '../../../../schemas/primitives/money.js';
import type {
  PnlBucket,
  PositionsSummary,
  SpanPnl,
  WalletFees,
  WalletSummaries,
  WalletSummary,
} from '../../../pnl/reader.js';
import { allCompleteField } from '../../../positions/completeness.js';

const usd = (description: string) => z.number().meta({ description });
/** Meaning of open in this group. */
const OPEN_POSITIONS = 'Shares held, market not settled.';
const lossField = usd('Negative or 0.');

/** Fields of a wallet's PnL summary. */
const summaryFields = {
  net_realized_pnl: usd('gross_profit + gross_loss, USD, before fees.'),
  gross_profit: z.number(),
  gross_loss: lossField,
  unrealized_pnl: usd('Of shares with a known cost, at the current price; shares without a price count 0.'),
  total_pnl: z.number(),
  wins: z.int().meta({ description: 'Positions with a realized profit.' }),
  losses: z.int().meta({ description: 'Positions with a realized loss.' }),
  position_count: z.int(),
  open_positions: z.int().meta({ description: OPEN_POSITIONS }),
  total_volume: usd("USD of the wallet's own fills, bought and sold."),
};

const summaryFrom = (summary: WalletSummary) => ({
  net_realized_pnl: moneyToNumber(summary.realized),
  gross_profit: moneyToNumber(summary.grossProfit),
  gross_loss: moneyToNumber(summary.grossLoss),
  unrealized_pnl: moneyToNumber(summary.unrealized),
  total_pnl: moneyToNumber(summary.realized + summary.unrealized),
  wins: summary.wins,
  losses: summary.losses,
  position_count: summary.positions,
  open_positions: summary.openPositions,
  total_volume: moneyToNumber(summary.volume),
});

/** The same of a wallet's current positions. */
export const positionsSummaryFields = { ...summaryFields, complete: allCompleteField };
export const positionsSummaryFrom = (summary: PositionsSummary) => ({
  ...summaryFrom(summary),
  complete: summary.isComplete,
});

const positionTypes = ['market', 'combo'] as const;

/** Fields that include_combos adds to a summary. */
const comboFields = {
  include_combos: z.literal(true),
  included_position_types: z.array(z.enum(positionTypes)),
  combo_pnl: z.object({
    position_type: z.literal('combo'),
    included: z.literal(true),
    realized_pnl: z.number(),
    unrealized_pnl: z.number(),
    total_pnl: z.number(),
    position_count: z.int(),
    open_positions: z.int().meta({ description: OPEN_POSITIONS }),
    complete: allCompleteField,
  }),
  realized_pnl: usd('Markets and combos together.'),
};

/** A wallet's summary, with the fields of its combos on request. */
export const walletSummaryFields = {
  address: z.string(),
  ...positionsSummaryFields,
  ...z.object(comboFields).partial().shape,
};
export const walletSummaryFrom = (address: string, { markets, combos }: WalletSummaries, includeCombos: boolean) => ({
  address,
  ...positionsSummaryFrom(markets),
  ...(includeCombos ? combosFrom(markets, combos) : {}),
});

const combosFrom = (markets: PositionsSummary, combos: PositionsSummary) => ({
  include_combos: true as const,
  included_position_types: [...positionTypes],
  combo_pnl: {
    position_type: 'combo' as const,
    included: true as const,
    realized_pnl: moneyToNumber(combos.realized),
    unrealized_pnl: moneyToNumber(combos.unrealized),
    total_pnl: moneyToNumber(combos.realized + combos.unrealized),
    position_count: combos.positions,
    open_positions: combos.openPositions,
    complete: combos.isComplete,
  },
  realized_pnl: moneyToNumber(markets.realized + combos.realized),
});

const notLoaded = z.object({
  available: z.literal(false),
  loaded: z.literal(false),
  status: z.literal('not_loaded'),
  amount: z.null(),
  raw: z.null(),
});
const FEES_SOURCE = 'v3.order_fills' as const;

export const accountingSchema = z.object({
  available: z.boolean(),
  loaded: z.boolean(),
  has_order_filled_rows: z.boolean(),
  source: z.literal(FEES_SOURCE),
  fees_paid: z.object({
    available: z.boolean(),
    loaded: z.boolean(),
    amount: z.number(),
    raw: z.string().meta({ description: 'USDC base units.' }),
    fee_fill_count: z.int(),
    order_owner_fill_count: z.int(),
    first_fee_block: z.string().nullable(),
    last_fee_block: z.string().nullable(),
  }),
  maker_rebates: notLoaded,
  rewards: notLoaded,
  order_filled_through_block: z.string(),
  projector_status: z.literal('ready'),
});

const unknownAmountFields = {
  available: false,
  loaded: false,
  status: 'not_loaded',
  amount: null,
  raw: null,
} as const;

/** Fees of the wallet's own orders. Rebates and rewards are not paid by the indexed contract events. */
export const accountingFrom = (fees: WalletFees): z.input<typeof accountingSchema> => ({
  available: true,
  loaded: true,
  has_order_filled_rows: fees.fills > 0,
  source: FEES_SOURCE,
  fees_paid: {
    available: true,
    loaded: true,
    amount: moneyToNumber(fees.amount),
    raw: fees.amount.toString(),
    fee_fill_count: fees.feeFills,
    order_owner_fill_count: fees.fills,
    first_fee_block: fees.firstBlock,
    last_fee_block: fees.lastBlock,
  },
  maker_rebates: unknownAmountFields,
  rewards: unknownAmountFields,
  order_filled_through_block: fees.throughBlock,
  projector_status: 'ready',
});

/** Sums of realized PnL within a time span. */
export const spanFields = {
  realized_pnl: usd('USD, before fees.'),
  gross_profit: z.number(),
  gross_loss: lossField,
  wins: z.int(),
  losses: z.int(),
  events: z.int(),
};

export const spanFrom = (span: SpanPnl) => ({
  realized_pnl: moneyToNumber(span.realized),
  gross_profit: moneyToNumber(span.grossProfit),
  gross_loss: moneyToNumber(span.grossLoss),
  wins: span.wins,
  losses: span.losses,
  events: span.events,
});

/** Unrealized PnL at the end of a time span. */
export const unrealizedFields = {
  unrealized_pnl: z.number().nullable(),
  total_pnl: z.number().nullable(),
  open_positions_at_date: z.int().nullable().meta({ description: OPEN_POSITIONS }),
};
type Unrealized = z.input<z.ZodObject<typeof unrealizedFields>>;
export const unrealizedUnknown: Unrealized = { unrealized_pnl: null, total_pnl: null, open_positions_at_date: null };

export function unrealizedFrom(
  realized: SpanPnl,
  open: { readonly markets: WalletSummary; readonly combos: WalletSummary },
  combos: boolean,
): Unrealized {
  const unrealized = open.markets.unrealized + (combos ? open.combos.unrealized : 0n);
  return {
    unrealized_pnl: moneyToNumber(unrealized),
    total_pnl: moneyToNumber(realized.realized + unrealized),
    open_positions_at_date: open.markets.openPositions + (combos ? open.combos.openPositions : 0),
  };
}

const bucketFields = {
  bucket: z.int().meta({ description: 'Start, Unix seconds, UTC.' }),
  ...spanFields,
  cumulative_pnl: usd('Running sum within this response.'),
};
const totalFields = {
  total_realized_pnl: z.number(),
  total_events: z.int(),
  total_wins: z.int(),
  total_losses: z.int(),
};

export const seriesFields = {
  bucket_count: z.int(),
  buckets: z.array(z.object(bucketFields)),
  ...totalFields,
};

const totalsFrom = (span: SpanPnl) => ({
  total_realized_pnl: moneyToNumber(span.realized),
  total_events: span.events,
  total_wins: span.wins,
  total_losses: span.losses,
});

/** Buckets with their running sum, and the totals over all buckets. */
export function seriesFrom(buckets: readonly PnlBucket[]) {
  let sum: SpanPnl = { realized: 0n, grossProfit: 0n, grossLoss: 0n, wins: 0, losses: 0, events: 0 };
  const shown = buckets.map((bucket) => {
    sum = {
      realized: sum.realized + bucket.realized,
      grossProfit: sum.grossProfit + bucket.grossProfit,
      grossLoss: sum.grossLoss + bucket.grossLoss,
      wins: sum.wins + bucket.wins,
      losses: sum.losses + bucket.losses,
      events: sum.events + bucket.events,
    };
    return { bucket: bucket.startS, ...spanFrom(bucket), cumulative_pnl: moneyToNumber(sum.realized) };
  });
  return { bucket_count: shown.length, buckets: shown, ...totalsFrom(sum) };
}

const openPositionFields = {
  open_positions: z.int().meta({ description: OPEN_POSITIONS }),
  unrealized_pnl: z.number(),
  total_pnl: z.number(),
};

export const allTimeFields = {
  bucket_count: z.literal(1),
  buckets: z.array(
    z.object({ ...bucketFields, position_count: z.int(), ...openPositionFields, total_volume: z.number() }),
  ),
  ...totalFields,
  total_positions: z.int(),
  ...openPositionFields,
  complete: allCompleteField,
};

/** A wallet's whole history as one bucket; wins, losses and events count positions. */
export function allTimeFrom(summary: PositionsSummary, nowS: number) {
  const { net_realized_pnl, unrealized_pnl, total_pnl, open_positions, position_count, total_volume } =
    summaryFrom(summary);
  const all = { ...summary, events: summary.wins + summary.losses };
  const openFields = { open_positions, unrealized_pnl, total_pnl };
  const bucket = {
    bucket: summary.lastAtS ?? nowS,
    ...spanFrom(all),
    cumulative_pnl: net_realized_pnl,
    position_count,
    ...openFields,
    total_volume,
  };
  return {
    bucket_count: 1 as const,
    buckets: [bucket],
    ...totalsFrom(all),
    total_positions: position_count,
    ...openFields,
    complete: summary.isComplete,
  };
}

/** Example summary of the OpenAPI document. */
export const exampleSummary: PositionsSummary = {
  realized: 42_800_000n,
  grossProfit: 44_800_000n,
  grossLoss: -2_000_000n,
  unrealized: 168_070_000n,
  volume: 987_650_000n,
  positions: 5,
  openPositions: 1,
  wins: 3,
  losses: 1,
  isComplete: true,
  lastAtS: 1_790_000_200,
};
