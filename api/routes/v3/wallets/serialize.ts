import { z } from 'zod';
import { moneyToNumber, ratio } from '../../../../schemas/primitives/money.js';
import type { Condition } from '../../../catalog/conditions.js';
import { priceDocs } from '../../../http/field-docs.js';
import { isoFrom } from '../../../tables/values.js';
import type { FlowRow, WalletEventRow } from '../../../wallet-events/events.sql.js';
import { eventId } from '../../../wallet-events/reader.js';

const timestamp = z.string().meta({ description: 'Unix seconds, as text.' });
const baseUnits = z.string().meta({ description: 'USDC base units (6 decimals).' });

export const setEventSchema = z.object({ id: z.string(), timestamp, condition: z.string(), amount: baseUnits });

const commonFieldsFrom = (row: WalletEventRow) => ({ id: eventId(row), timestamp: String(row.timestamp) });

/** A split or merge. */
export const setEventFrom = (row: WalletEventRow): z.input<typeof setEventSchema> => ({
  ...commonFieldsFrom(row),
  condition: row.subject_id,
  amount: row.amount,
});

export const conversionSchema = z.object({
  id: z.string(),
  timestamp,
  neg_risk_market_id: z.string(),
  amount: baseUnits,
  index_set: z.string().meta({ description: 'Decimal bit mask of the questions whose NO tokens were converted.' }),
  question_count: z.int().meta({
    description:
      'Questions of the market at the time of the conversion; of the catalogue today if the chain does not tell.',
  }),
});

export const conversionFrom = (row: WalletEventRow, questions: number): z.input<typeof conversionSchema> => ({
  ...commonFieldsFrom(row),
  neg_risk_market_id: row.subject_id,
  amount: row.amount,
  index_set: row.index_sets[0] ?? '0',
  question_count: questions,
});

export const activitySchema = z.object({
  event_type: z.enum(['split', 'merge', 'nrc', 'redemption']),
  id: z.string(),
  timestamp,
  ref_id: z.string().meta({ description: 'Condition id; for a conversion the neg-risk market id.' }),
  amount: baseUnits,
  extra: z.string().meta({ description: 'Index sets, as `{1,2}`.' }),
});

/** Partition of a two-outcome condition; splits and merges always use it. */
const FULL_SET = ['1', '2'];

export const activityFrom = (row: WalletEventRow): z.input<typeof activitySchema> => ({
  event_type: row.kind === 'conversion' ? 'nrc' : row.kind,
  ...commonFieldsFrom(row),
  ref_id: row.subject_id,
  amount: row.amount,
  extra: `{${(row.index_sets.length === 0 ? FULL_SET : row.index_sets).join(',')}}`,
});

const redemptionSources = [
  'direct_ctf',
  'direct_neg_risk',
  'direct_other',
  'auto_binary',
  'auto_neg_risk',
  'auto_combo',
] as const;

const AUTO: Readonly<Record<string, (typeof redemptionSources)[number]>> = {
  'AutoRedeemer.BinaryRedemption': 'auto_binary',
  'AutoRedeemer.NegRiskRedemption': 'auto_neg_risk',
  'AutoRedeemer.Redemption': 'auto_combo',
};

export const redemptionSchema = z.object({
  id: z.string(),
  timestamp,
  condition: z.string(),
  condition_id: z.string(),
  payout: baseUnits,
  payout_e6: baseUnits,
  payout_usdc: z.number(),
  index_sets: z.array(z.string()).nullable(),
  market_title: z.string().nullable(),
  market_slug: z.string().nullable(),
  market_image: z.string().nullable(),
  event_title: z.string().nullable(),
  event_slug: z.string().nullable(),
  neg_risk: z.boolean().nullable(),
  token_ids: z.array(z.string()).nullable(),
  outcomes: z.array(z.string()).nullable(),
  payouts: z.array(z.string()).nullable(),
  outcome_prices: z.array(z.number()).nullable().describe(priceDocs.payout),
  winning_outcome_index: z.int().nullable(),
  winning_outcome: z.string().nullable(),
  winning_token_id: z.string().nullable(),
  resolved_at: z.string().nullable().meta({ description: 'ISO-8601.' }),
  transaction_hash: z.string(),
  redemption_source: z.enum(redemptionSources),
  source_event: z.string(),
  block_number: z.int(),
  log_index: z.int(),
});

/** USD per share that each outcome pays. */
function outcomePrices(resolution: { payouts: readonly bigint[]; denominator: bigint }): number[] {
  return resolution.payouts.map((payout) => {
    const price = ratio(payout, resolution.denominator, 6);
    return price === null ? 0 : moneyToNumber(price);
  });
}

function sourceOf(row: WalletEventRow, condition: Condition): (typeof redemptionSources)[number] {
  const auto = row.source === null ? undefined : AUTO[row.source];
  if (auto !== undefined) return auto;
  if (condition.negRisk === null) return 'direct_other';
  return condition.negRisk ? 'direct_neg_risk' : 'direct_ctf';
}

export function redemptionFrom(row: WalletEventRow, condition: Condition): z.input<typeof redemptionSchema> {
  const { market, resolution } = condition;
  const winner = resolution?.winner ?? null;
  return {
    ...commonFieldsFrom(row),
    condition: row.subject_id,
    condition_id: row.subject_id,
    payout: row.amount,
    payout_e6: row.amount,
    payout_usdc: moneyToNumber(BigInt(row.amount)),
    index_sets: row.index_sets.length === 0 ? null : [...row.index_sets],
    market_title: market?.question ?? null,
    market_slug: market?.slug ?? null,
    market_image: market?.image ?? null,
    event_title: market?.eventTitle ?? null,
    event_slug: market?.eventSlug ?? null,
    neg_risk: condition.negRisk,
    token_ids: condition.tokenIds.length === 0 ? null : [...condition.tokenIds],
    outcomes: market === null ? null : [...market.outcomes],
    payouts: resolution === null ? null : resolution.payouts.map(String),
    outcome_prices: resolution === null ? null : outcomePrices(resolution),
    winning_outcome_index: winner,
    winning_outcome: winner === null ? null : (market?.outcomes[winner] ?? null),
    winning_token_id: winner === null ? null : (condition.tokenIds[winner] ?? null),
    resolved_at: resolution === null ? null : isoFrom(resolution.resolvedAtS * 1000),
    transaction_hash: row.tx_hash,
    redemption_source: sourceOf(row, condition),
    source_event: row.source === null ? 'PayoutRedemption' : row.source.replace(/^AutoRedeemer\./, ''),
    block_number: Number(row.block_number),
    log_index: Number(row.log_index),
  };
}

export const flowSchema = z.object({
  event_type: z.enum(['deposit', 'withdrawal']),
  direction: z.enum(['in', 'out']).describe('in: into the wallet; out: out of it.'),
  amount: z.number(),
  amount_usdc: z.number(),
  amount_raw: baseUnits,
  asset: z.string(),
  asset_symbol: z.string().nullable(),
  ramp: z.string().meta({ description: 'Contract that wrapped or unwrapped the collateral.' }),
  recipient: z.string(),
  source_event: z.enum(['Wrapped', 'Unwrapped']),
  transaction_hash: z.string(),
  block_number: z.int(),
  block_timestamp: z.int().meta({ description: 'Unix seconds.' }),
});

const SYMBOLS: Readonly<Record<string, string>> = {
  '0x2791bca1f2de4661ed88a30c99a7a9449aa84174': 'USDC.e',
  '0x3c499c542cef5e3811e1192ce70d8cc03d5c3359': 'USDC',
  '0xc011a7e12a19f7b1f670d46f03b03f3342e82dfb': 'pUSD',
};

export function flowFrom(wallet: string, row: FlowRow): z.input<typeof flowSchema> {
  const entering = row.direction === 'deposit';
  const amount = moneyToNumber(BigInt(row.amount));
  return {
    event_type: row.direction,
    direction: entering ? 'in' : 'out',
    amount,
    amount_usdc: amount,
    amount_raw: row.amount,
    asset: row.asset,
    asset_symbol: SYMBOLS[row.asset] ?? null,
    ramp: row.counterparty,
    recipient: wallet,
    source_event: entering ? 'Wrapped' : 'Unwrapped',
    transaction_hash: row.tx_hash,
    block_number: Number(row.block_number),
    block_timestamp: Number(row.timestamp),
  };
}
