import type { AnyEvent } from '../../schemas/codec.js';
import { comboPositions } from '../../schemas/primitives/combo-ids.js';
import { conditionId as conditionOf, negRiskQuestionId, splitNegRiskQuestionId } from '../../schemas/primitives/ids.js';
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
import { isUnreadable, type State } from '../fold/fold.js';
import { type MatchedFill, matchFills } from './matches.js';
import { isVenueCollateral, type Tokens } from './tokens.js';

type Memory = State<ActivityState>;
type Rest = Partial<WalletActivity> & Pick<WalletActivity, 'wallet' | 'action'>;
interface Located {
  readonly id: string;
  readonly block_number: number;
  readonly log_index: number;
  readonly timestamp_ms: number;
}

/** No share count of the venue comes near it; amounts of worthless tokens may be anything. */
const MAX_AMOUNT = 2n ** 62n;
const COMBO_CONDITION_LENGTH = 64;

/** One object literal: spreading into it costs several times what all else does. */
function record(fact: Located, rest: Rest): WalletActivity {
  return {
    id: rest.id ?? fact.id,
    wallet: rest.wallet,
    block_number: fact.block_number,
    log_index: fact.log_index,
    timestamp_ms: fact.timestamp_ms,
    action: rest.action,
    exchange_version: rest.exchange_version ?? 0,
    is_taker: rest.is_taker ?? false,
    subject: rest.subject ?? '',
    tokens: rest.tokens ?? [],
    amounts: rest.amounts ?? null,
    usdc: rest.usdc ?? 0n,
    fee: rest.fee ?? 0n,
    fee_shares: rest.fee_shares ?? 0n,
    minted: rest.minted ?? 0n,
    numerators: rest.numerators ?? null,
    denominator: rest.denominator ?? '1',
    created: rest.created ?? [],
    question_count: rest.question_count ?? null,
  };
}

/** A fill is the activity of the wallet that signed its order: the makers' and, once, the taker's own. */
function ofFill(fill: Trade, match: MatchedFill): WalletActivity[] {
  if (isVenueContract(fill.maker)) return [];
  const shareFee = fill.fee_shares > 0n;
  const own = record(fill, {
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
  if (!match.direct) return [own];
  const other = record(fill, {
    id: `${fill.id}-taker`,
    wallet: fill.taker,
    action: fill.side === 'BUY' ? 'SELL' : 'BUY',
    exchange_version: fill.exchange_version,
    is_taker: true,
    tokens: [fill.token_id],
    amounts: [match.shares],
    usdc: match.usdc,
  });
  return [own, other];
}

function ofRedemption(fact: Redemption, tokens: Tokens, memory: Memory): WalletActivity[] {
  const { redeemer, condition_id, index_sets, amounts, payout, collateral_token } = fact;
  const combo = condition_id.length === COMBO_CONDITION_LENGTH;
  if (isVenueContract(redeemer) || !(combo || isVenueCollateral(collateral_token))) return [];
  const ids = combo
    ? index_sets.map((set) => comboPositions(condition_id)[set === 1 ? 0 : 1] as string)
    : index_sets.map((set) => tokens.ofIndexSet(collateral_token, condition_id, set));
  const payouts = memory.get(condition_id)?.numerators ?? null;
  const numerators =
    payouts?.length === undefined
      ? null
      : index_sets.map((set) =>
          String(payouts.reduce((sum, one, slot) => ((set >> slot) & 1 ? sum + BigInt(one) : sum), 0n)),
        );
  return [
    record(fact, {
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

/** NO of question i for every bit i of the index set; YES of every other question the market has at that time. */
function ofConversion(fact: PositionsConverted, tokens: Tokens, memory: Memory): WalletActivity[] {
  if (isVenueContract(fact.stakeholder)) return [];
  const bits = BigInt(fact.index_set);
  const pair = (index: number) => {
    const questionId = negRiskQuestionId(fact.market_id, index);
    const condition = conditionOf({ oracle: addresses.negRiskAdapter, questionId });
    return tokens.pairOf(addresses.wrappedCollateral, condition);
  };
  const indexes = Array.from({ length: 256 }, (_, i) => i);
  const given = indexes.filter((i) => ((bits >> BigInt(i)) & 1n) === 1n);
  const count = fact.question_count ?? memory.get(fact.market_id)?.question_count ?? null;
  const others = indexes.slice(0, count ?? 0).filter((i) => !given.includes(i));
  return [
    record(fact, {
      wallet: fact.stakeholder,
      action: 'CONVERT',
      subject: fact.market_id,
      tokens: given.map((i) => pair(i)[1]),
      amounts: given.map(() => fact.amount),
      usdc: fact.amount * BigInt(Math.max(given.length - 1, 0)),
      created: others.map((i) => pair(i)[0]),
      question_count: count,
    }),
  ];
}

function ofTransfer(fact: PositionChange): WalletActivity[] {
  const { from, to, token_id, amount } = fact;
  if (from === to || amount === 0n || amount >= MAX_AMOUNT) return [];
  const common = { tokens: [token_id], amounts: [amount] };
  const sides: WalletActivity[] = [];
  if (!isVenueContract(from))
    sides.push(record(fact, { ...common, id: `${fact.id}-from`, wallet: from, action: 'SEND', subject: to }));
  if (!isVenueContract(to))
    sides.push(record(fact, { ...common, id: `${fact.id}-to`, wallet: to, action: 'RECEIVE', subject: from }));
  return sides;
}

/** Steps of the combo protocol that make, unmake, redeem or move whole positions; its other transformations change what a position is made of. */
function ofCombo(fact: ComboLifecycle): WalletActivity[] {
  const { user, amount, source_position_ids: source, destination_position_ids: destination } = fact;
  if (user === null || amount === null || amount >= MAX_AMOUNT || isVenueContract(user)) return [];
  const common = { wallet: user, subject: fact.condition_ids[0] ?? '' };
  const amounts = (ids: readonly string[]) => ids.map(() => amount);
  switch (fact.action) {
    case 'Split':
      if (destination.length !== 2) return [];
      return [
        record(fact, { ...common, action: 'SPLIT', tokens: destination, amounts: amounts(destination), usdc: amount }),
      ];
    case 'Merge':
      if (source.length !== 2) return [];
      return [record(fact, { ...common, action: 'MERGE', tokens: source, amounts: amounts(source), usdc: amount })];
    case 'Redeem':
      return [
        record(fact, {
          ...common,
          action: 'REDEEM',
          tokens: source,
          amounts: amounts(source),
          usdc: fact.payout ?? 0n,
        }),
      ];
    case 'Transfer':
      return [record(fact, { ...common, action: 'SEND', tokens: source, amounts: amounts(source) })];
    default:
      return [];
  }
}

function remember(memory: Memory, id: string, change: Partial<ActivityState>): void {
  memory.set(id, { ...(memory.get(id) ?? { id, numerators: null, question_count: null }), ...change });
}

/** Questions are prepared in order of their index, so the highest one tells how many there are. */
function rememberQuestion(memory: Memory, oracle: string, questionId: string): void {
  if (oracle !== addresses.negRiskAdapter) return;
  const { marketId, index } = splitNegRiskQuestionId(questionId);
  if ((memory.get(marketId)?.question_count ?? 0) <= index) remember(memory, marketId, { question_count: index + 1 });
}

function ofFullSet(fact: PositionSplit, action: 'SPLIT' | 'MERGE', tokens: Tokens): WalletActivity[] {
  const { stakeholder, collateral_token, condition_id, amount } = fact;
  if (isVenueContract(stakeholder) || !isVenueCollateral(collateral_token)) return [];
  return [
    record(fact, {
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
  /** Facts nothing could be made of, by their index. */
  readonly problems: readonly { readonly index: number; readonly reason: string }[];
}

/** Activity of one block's facts (ascending log index), and what the memory takes from them. */
export function activityOfBlock(facts: readonly AnyEvent[], tokens: Tokens, memory: Memory): BlockActivity {
  const byTransaction = new Map<string, Trade[]>();
  for (const fact of facts) {
    if (fact.kind !== 'trade') continue;
    const list = byTransaction.get(fact.value.tx_hash);
    if (list === undefined) byTransaction.set(fact.value.tx_hash, [fact.value]);
    else list.push(fact.value);
  }
  const matches = new Map<string, ReadonlyMap<Trade, MatchedFill>>();
  for (const [txHash, fills] of byTransaction) matches.set(txHash, matchFills(fills));

  const ofFact = (fact: AnyEvent): readonly WalletActivity[] => {
    switch (fact.kind) {
      case 'trade': {
        const match = matches.get(fact.value.tx_hash)?.get(fact.value);
        return match === undefined ? [] : ofFill(fact.value, match);
      }
      case 'position_split':
      case 'position_merge':
        return ofFullSet(fact.value, setAction[fact.kind], tokens);
      case 'redemption':
        return ofRedemption(fact.value, tokens, memory);
      case 'positions_converted':
        return ofConversion(fact.value, tokens, memory);
      case 'position_change':
        return ofTransfer(fact.value);
      case 'combo_lifecycle':
        return ofCombo(fact.value);
      case 'condition_resolved':
        remember(memory, fact.value.condition_id, { numerators: fact.value.payout_numerators });
        return [];
      case 'condition_prepared':
        rememberQuestion(memory, fact.value.oracle, fact.value.question_id);
        return [];
      default:
        return [];
    }
  };

  const activity: WalletActivity[] = [];
  const problems: { index: number; reason: string }[] = [];
  facts.forEach((fact, index) => {
    try {
      for (const one of ofFact(fact)) activity.push(one);
    } catch (error) {
      if (!isUnreadable(error)) throw error;
      problems.push({ index, reason: error.message });
    }
  });
  return { activity, problems };
}
