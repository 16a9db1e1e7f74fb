import type { AnyEvent } from '../../schemas/codec.js';
import { comboPositions, isComboCondition } from '../../schemas/primitives/combo-ids.js';
import { splitNegRiskQuestionId } from '../../schemas/primitives/ids.js';
import { addresses, isVenueContract } from '../../schemas/primitives/venue.js';
import type {
  ActivityState,
  ComboLifecycle,
  PositionChange,
  PositionSplit,
  PositionsConverted,
  Redemption,
  Trade,
  WalletActivity,
} from '../../schemas/types.gen.js';
import { isUnreadable, type KeyedState } from '../stateful/stateful-processor.js';
import { type MatchedFill, matchFills } from './matches.js';
import { conditionOfQuestion, isOfVenueCollateral, type Tokens } from './tokens.js';

type ActivityStates = KeyedState<ActivityState>;
type ActivityFields = Partial<WalletActivity> & Pick<WalletActivity, 'wallet' | 'action'>;
interface EventHeader {
  readonly id: string;
  readonly block_number: number;
  readonly log_index: number;
  readonly timestamp_ms: number;
}

/** Larger amounts are rejected: no share count of the venue is near this limit, but amounts of worthless tokens are unbounded. */
const MAX_AMOUNT = 2n ** 62n;
/** Unit of a market's fee: 1 / BIPS. */
const BIPS = 10_000n;

/** Written as one object literal: object spread costs several times as much as the rest of the computation. */
function activityRecord(event: EventHeader, fields: ActivityFields): WalletActivity {
  return {
    id: fields.id ?? event.id,
    wallet: fields.wallet,
    block_number: event.block_number,
    log_index: event.log_index,
    timestamp_ms: event.timestamp_ms,
    action: fields.action,
    exchange_version: fields.exchange_version ?? 0,
    is_taker: fields.is_taker ?? false,
    subject: fields.subject ?? '',
    tokens: fields.tokens ?? [],
    amounts: fields.amounts ?? null,
    usdc: fields.usdc ?? 0n,
    fee: fields.fee ?? 0n,
    fee_shares: fields.fee_shares ?? 0n,
    minted: fields.minted ?? 0n,
    numerators: fields.numerators ?? null,
    denominator: fields.denominator ?? '1',
    created: fields.created ?? [],
    question_count: fields.question_count ?? null,
    fee_unknown: fields.fee_unknown ?? false,
  };
}

/** A fill is an activity of the wallet that signed its order: one per maker order and one for the taker order. */
function fillActivity(fill: Trade, match: MatchedFill): WalletActivity[] {
  if (isVenueContract(fill.maker)) return [];
  const shareFee = fill.fee_shares > 0n;
  const signerActivity = activityRecord(fill, {
    wallet: fill.maker,
    action: fill.side,
    exchange_version: fill.exchange_version,
    is_taker: fill.is_taker_order,
    tokens: [fill.token_id],
    amounts: [match.shares],
    usdc: match.usdc,
    fee: shareFee ? 0n : fill.fee,
    fee_shares: fill.fee_shares,
    minted: match.minted,
  });
  if (!match.direct) return [signerActivity];
  const takerActivity = activityRecord(fill, {
    id: `${fill.id}-taker`,
    wallet: fill.taker,
    action: fill.side === 'BUY' ? 'SELL' : 'BUY',
    exchange_version: fill.exchange_version,
    is_taker: true,
    tokens: [fill.token_id],
    amounts: [match.shares],
    usdc: match.usdc,
  });
  return [signerActivity, takerActivity];
}

function redemptionActivity(event: Redemption, tokens: Tokens, states: ActivityStates): WalletActivity[] {
  const { redeemer, condition_id, index_sets, amounts, payout, collateral_token } = event;
  const combo = isComboCondition(condition_id);
  if (isVenueContract(redeemer) || !isOfVenueCollateral(event)) return [];
  const ids = combo
    ? index_sets.map((set) => comboPositions(condition_id)[set === 1 ? 0 : 1] as string)
    : index_sets.map((set) => tokens.ofIndexSet(collateral_token, condition_id, set));
  const payouts = states.get(condition_id)?.numerators ?? null;
  const numerators =
    payouts?.length === undefined
      ? null
      : index_sets.map((set) =>
          String(payouts.reduce((sum, one, outcome) => ((set >> outcome) & 1 ? sum + BigInt(one) : sum), 0n)),
        );
  return [
    activityRecord(event, {
      wallet: redeemer,
      action: 'REDEEM',
      subject: condition_id,
      tokens: ids,
      amounts,
      usdc: payout,
      numerators,
      denominator: payouts === null ? '1' : String(payouts.reduce((sum, one) => sum + BigInt(one), 0n)),
    }),
  ];
}

/**
 * A conversion takes NO shares of question i for every bit i of the index set and creates YES shares of every other question that the market has
 * at that time. The venue's fee is deducted from the YES and the collateral. If neither the transaction nor the preparation of the market
 * has it, the amounts are those without a fee and `fee_unknown` is set.
 */
function conversionActivity(event: PositionsConverted, tokens: Tokens, states: ActivityStates): WalletActivity[] {
  if (isVenueContract(event.stakeholder)) return [];
  const bits = BigInt(event.index_set);
  const market = states.get(event.market_id);
  // As the adapter computes it.
  const feeBips = market?.fee_bips ?? null;
  const fee = event.fee ?? (event.amount * BigInt(feeBips ?? 0)) / BIPS;
  const pair = (index: number) => {
    return tokens.pairOf(addresses.wrappedCollateral, conditionOfQuestion(event.market_id, index));
  };
  const indexes = Array.from({ length: 256 }, (_, i) => i);
  const converted = indexes.filter((i) => ((bits >> BigInt(i)) & 1n) === 1n);
  const count = event.question_count ?? market?.question_count ?? null;
  const remaining = indexes.slice(0, count ?? 0).filter((i) => !converted.includes(i));
  return [
    activityRecord(event, {
      wallet: event.stakeholder,
      action: 'CONVERT',
      subject: event.market_id,
      tokens: converted.map((i) => pair(i)[1]),
      amounts: converted.map(() => event.amount),
      usdc: (event.amount - fee) * BigInt(Math.max(converted.length - 1, 0)),
      fee_shares: fee,
      created: remaining.map((i) => pair(i)[0]),
      question_count: count,
      fee_unknown: event.fee === null && feeBips === null,
    }),
  ];
}

function transferActivity(
  event: EventHeader & Pick<PositionChange, 'from' | 'to' | 'token_id' | 'amount'>,
): WalletActivity[] {
  const { from, to, token_id, amount } = event;
  if (from === to || amount === 0n || amount >= MAX_AMOUNT) return [];
  const common = { tokens: [token_id], amounts: [amount] };
  const sides: WalletActivity[] = [];
  if (!isVenueContract(from))
    sides.push(activityRecord(event, { ...common, id: `${event.id}-from`, wallet: from, action: 'SEND', subject: to }));
  if (!isVenueContract(to))
    sides.push(
      activityRecord(event, { ...common, id: `${event.id}-to`, wallet: to, action: 'RECEIVE', subject: from }),
    );
  return sides;
}

/** Activities of combo protocol steps that create, burn, redeem or transfer whole positions; other steps only change the composition of a position. */
function comboActivity(event: ComboLifecycle): WalletActivity[] {
  const { user, amount, recipient, source_position_ids: source, destination_position_ids: destination } = event;
  if (user === null || amount === null || amount >= MAX_AMOUNT || isVenueContract(user)) return [];
  const common = { wallet: user, subject: event.condition_ids[0] ?? '' };
  const amounts = (ids: readonly string[]) => ids.map(() => amount);
  switch (event.action) {
    case 'Split':
      if (destination.length !== 2) return [];
      return [
        activityRecord(event, {
          ...common,
          action: 'SPLIT',
          tokens: destination,
          amounts: amounts(destination),
          usdc: amount,
        }),
      ];
    case 'Merge':
      if (source.length !== 2) return [];
      return [
        activityRecord(event, { ...common, action: 'MERGE', tokens: source, amounts: amounts(source), usdc: amount }),
      ];
    case 'Redeem':
      return [
        activityRecord(event, {
          ...common,
          action: 'REDEEM',
          tokens: source,
          amounts: amounts(source),
          usdc: event.payout ?? 0n,
        }),
      ];
    case 'Transfer':
      // Without a recipient: events from before the field existed.
      if (recipient === null)
        return [activityRecord(event, { ...common, action: 'SEND', tokens: source, amounts: amounts(source) })];
      return source.flatMap((token_id) => transferActivity({ ...event, from: user, to: recipient, token_id, amount }));
    default:
      return [];
  }
}

function updateState(states: ActivityStates, id: string, change: Partial<ActivityState>): void {
  states.set(id, { ...(states.get(id) ?? { id, numerators: null, question_count: null, fee_bips: null }), ...change });
}

/** Questions are prepared in index order, so the highest index gives their number. */
function updateQuestionCount(states: ActivityStates, oracle: string, questionId: string): void {
  if (oracle !== addresses.negRiskAdapter) return;
  const { marketId, index } = splitNegRiskQuestionId(questionId);
  if ((states.get(marketId)?.question_count ?? 0) <= index)
    updateState(states, marketId, { question_count: index + 1 });
}

function fullSetActivity(event: PositionSplit, action: 'SPLIT' | 'MERGE', tokens: Tokens): WalletActivity[] {
  const { stakeholder, collateral_token, condition_id, amount } = event;
  if (isVenueContract(stakeholder) || !isOfVenueCollateral(event)) return [];
  return [
    activityRecord(event, {
      wallet: stakeholder,
      action,
      subject: condition_id,
      tokens: tokens.pairOf(collateral_token, condition_id),
      amounts: [amount, amount],
      usdc: amount,
    }),
  ];
}

const setAction = { position_split: 'SPLIT', position_merge: 'MERGE' } as const;

export interface BlockActivity {
  readonly activity: readonly WalletActivity[];
  /** Events that could not be processed, by index. */
  readonly problems: readonly { readonly index: number; readonly reason: string }[];
}

/** Activity of one block's events (ascending log index); updates `states` with the block's resolutions, question counts and fees. */
export function computeBlockActivity(
  events: readonly AnyEvent[],
  tokens: Tokens,
  states: ActivityStates,
): BlockActivity {
  const byTransaction = new Map<string, Trade[]>();
  for (const event of events) {
    if (event.kind !== 'trade') continue;
    const list = byTransaction.get(event.value.tx_hash);
    if (list === undefined) byTransaction.set(event.value.tx_hash, [event.value]);
    else list.push(event.value);
  }
  const matches = new Map<string, ReadonlyMap<Trade, MatchedFill>>();
  for (const [txHash, fills] of byTransaction) matches.set(txHash, matchFills(fills));

  const ofFact = (event: AnyEvent): readonly WalletActivity[] => {
    switch (event.kind) {
      case 'trade': {
        const match = matches.get(event.value.tx_hash)?.get(event.value);
        return match === undefined ? [] : fillActivity(event.value, match);
      }
      case 'position_split':
      case 'position_merge':
        return fullSetActivity(event.value, setAction[event.kind], tokens);
      case 'redemption':
        return redemptionActivity(event.value, tokens, states);
      case 'positions_converted':
        return conversionActivity(event.value, tokens, states);
      case 'position_change':
        return transferActivity(event.value);
      case 'combo_lifecycle':
        return comboActivity(event.value);
      case 'condition_resolved':
        updateState(states, event.value.condition_id, { numerators: event.value.payout_numerators });
        return [];
      case 'neg_risk_market':
        updateState(states, event.value.market_id, { fee_bips: event.value.fee_bips });
        return [];
      case 'condition_prepared':
        updateQuestionCount(states, event.value.oracle, event.value.question_id);
        return [];
      default:
        return [];
    }
  };

  const activity: WalletActivity[] = [];
  const problems: { index: number; reason: string }[] = [];
  events.forEach((event, index) => {
    try {
      for (const one of ofFact(event)) activity.push(one);
    } catch (error) {
      if (!isUnreadable(error)) throw error;
      problems.push({ index, reason: error.message });
    }
  });
  return { activity, problems };
}
