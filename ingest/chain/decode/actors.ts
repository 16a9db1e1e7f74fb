import type { Address } from '../../../schemas/primitives/address.js';
import { conditionId, negRiskQuestionId } from '../../../schemas/primitives/ids.js';
import { addresses, contractAt } from '../contracts.js';
import type { BlockIds } from './block-ids.js';
import type { DecodedLog, DecodedLogOf } from './read-log.js';
import type { TransactionTransfers, Transfer } from './transfers.js';

/**
 * Splits and merges of ConditionalTokens and NegRiskAdapter in one shape; the collateral of the NegRiskAdapter is the wrapped collateral.
 */
export interface SetAction {
  readonly logIndex: number;
  readonly stakeholder: string;
  readonly collateral: Address;
  readonly conditionId: string;
  readonly partition: readonly bigint[];
  readonly amount: bigint;
}

const BOTH_OUTCOMES = [1n, 2n] as const;

export function setAction(
  log: DecodedLogOf<'positionSplit' | 'positionsMerge' | 'negRiskPositionSplit' | 'negRiskPositionsMerge'>,
): SetAction {
  const { stakeholder, conditionId: condition, amount } = log.args;
  const common = { logIndex: log.logIndex, stakeholder, conditionId: condition, amount };
  return log.event === 'positionSplit' || log.event === 'positionsMerge'
    ? { ...common, collateral: log.args.collateralToken, partition: log.args.partition }
    : { ...common, collateral: addresses.wrappedCollateral, partition: BOTH_OUTCOMES };
}

const NO_COLLECTION = `0x${'0'.repeat(64)}`;

/**
 * Whether a log is of tokens that are split, merged or redeemed for other tokens of ConditionalTokens instead of collateral: below another position, or
 * of some outcomes only. Such logs are no event; the transfers of their tokens are.
 */
export function isWithoutCollateral(log: DecodedLog): boolean {
  switch (log.event) {
    case 'positionSplit':
    case 'positionsMerge': {
      const { parentCollectionId, partition } = log.args;
      const isWhole = partition.length === 2 && partition.includes(1n) && partition.includes(2n);
      return parentCollectionId !== NO_COLLECTION || !isWhole;
    }
    case 'payoutRedemption':
      return log.args.parentCollectionId !== NO_COLLECTION;
    default:
      return false;
  }
}

/**
 * Whether a split or merge of outcomes 1 and 2 is one of a condition with more outcomes: ConditionalTokens then burns or mints the token of both
 * instead of moving collateral. A condition with two outcomes has no such token.
 */
export function isOfSomeOutcomes(
  log: DecodedLogOf<'positionSplit' | 'positionsMerge'>,
  transfers: readonly Transfer[],
  ids: BlockIds,
): boolean {
  const { stakeholder, collateralToken, conditionId: condition, amount } = log.args;
  const isSplit = log.event === 'positionSplit';
  const [from, to] = isSplit ? [stakeholder, addresses.zero] : [addresses.zero, stakeholder];
  return transfers.some(
    (leg) =>
      leg.logIndex < log.logIndex &&
      leg.from === from &&
      leg.to === to &&
      leg.ids.length === 1 &&
      leg.values[0] === amount &&
      leg.ids[0] === ids.tokens(collateralToken, condition, [3n])[0],
  );
}

/** A pUSD wrap: how an adapter pays its user. */
export type Wrap = DecodedLogOf<'wrapped'>;

export const isCollateralAdapter = (address: string): boolean => contractAt(address)?.role === 'collateral_adapter';
export const isExchange = (address: string): boolean => contractAt(address)?.role === 'exchange';

/** Recipient of an adapter's pUSD payment after the given log; null when there is none. */
function wrapRecipientAfter(wraps: readonly Wrap[], adapter: string, logIndex: number, amount: bigint): string | null {
  const wrap = wraps.find(
    (one) => one.logIndex > logIndex && one.args.caller === adapter && one.args.amount === amount,
  );
  return wrap?.args.to ?? null;
}

/**
 * User of a split whose stakeholder is a collateral adapter: the recipient of the full set. The adapter itself when no transfer matches.
 */
export function splitUser(action: SetAction, legs: TransactionTransfers, ids: BlockIds): string {
  const tokens = ids.tokens(action.collateral, action.conditionId, action.partition);
  const amounts = tokens.map(() => action.amount);
  const leg = legs.take('after', action.logIndex, { from: action.stakeholder, batch: true }, tokens, amounts);
  return leg?.to ?? action.stakeholder;
}

/**
 * User of a merge whose stakeholder is a collateral adapter: the sender of the full set, else the recipient of the adapter's payment, else
 * the adapter.
 */
export function mergeUser(
  action: SetAction,
  legs: TransactionTransfers,
  ids: BlockIds,
  wraps: readonly Wrap[],
): string {
  const tokens = ids.tokens(action.collateral, action.conditionId, action.partition);
  const amounts = tokens.map(() => action.amount);
  const leg = legs.take('before', action.logIndex, { to: action.stakeholder, batch: true }, tokens, amounts);
  return (
    leg?.from ?? wrapRecipientAfter(wraps, action.stakeholder, action.logIndex, action.amount) ?? action.stakeholder
  );
}

export interface RedemptionAction {
  readonly logIndex: number;
  readonly redeemer: string;
  readonly collateral: Address;
  readonly conditionId: string;
  /** Without repetitions. */
  readonly indexSets: readonly bigint[];
  /** Redeemed shares per index set where the log has them, else null. */
  readonly amounts: readonly bigint[] | null;
  readonly payout: bigint;
}

export function redemptionAction(log: DecodedLogOf<'payoutRedemption' | 'negRiskPayoutRedemption'>): RedemptionAction {
  const common = {
    logIndex: log.logIndex,
    redeemer: log.args.redeemer,
    conditionId: log.args.conditionId,
    payout: log.args.payout,
  };
  return log.event === 'payoutRedemption'
    ? { ...common, collateral: log.args.collateralToken, indexSets: [...new Set(log.args.indexSets)], amounts: null }
    : {
        ...common,
        collateral: addresses.wrappedCollateral,
        indexSets: log.args.amounts.map((_amount, i) => 1n << BigInt(i)),
        amounts: log.args.amounts,
      };
}

export interface RedemptionUser {
  readonly user: string;
  readonly amounts: readonly bigint[] | null;
}

/**
 * User and amounts of a redemption. For a collateral adapter the user is the sender of the tokens (the adapter receives all shares of both
 * outcomes), else the recipient of its payment. ConditionalTokens burns the tokens of a direct redemption in transfers before the log,
 * which give the amounts.
 */
export function redemptionUser(
  action: RedemptionAction,
  legs: TransactionTransfers,
  ids: BlockIds,
  wraps: readonly Wrap[],
): RedemptionUser {
  const { redeemer, logIndex } = action;
  if (!isCollateralAdapter(redeemer)) {
    if (action.amounts !== null || legs.empty) return { user: redeemer, amounts: action.amounts };
    const tokens = ids.tokens(action.collateral, action.conditionId, action.indexSets);
    const ends = { from: redeemer, to: addresses.zero, batch: false };
    return { user: redeemer, amounts: legs.amountsBefore(logIndex, ends, tokens) };
  }
  const tokens = ids.tokens(action.collateral, action.conditionId, action.indexSets);
  const leg = legs.take('before', logIndex, { to: redeemer, batch: true }, tokens, action.amounts);
  if (leg !== null) {
    return { user: leg.from, amounts: tokens.map((token) => leg.values[leg.ids.indexOf(token)] ?? 0n) };
  }
  return { user: wrapRecipientAfter(wraps, redeemer, logIndex, action.payout) ?? redeemer, amounts: action.amounts };
}

const questionTokens = (ids: BlockIds, marketId: string, index: number, sets: readonly bigint[]): readonly bigint[] => {
  const questionId = negRiskQuestionId(marketId, index);
  const condition = conditionId({ oracle: addresses.negRiskAdapter, questionId });
  return ids.tokens(addresses.wrappedCollateral, condition, sets);
};

const isConverted = (indexSet: bigint, index: number): boolean => ((indexSet >> BigInt(index)) & 1n) === 1n;

/** NO tokens that a conversion takes. */
function convertedTokens(log: DecodedLogOf<'positionsConverted'>, ids: BlockIds): readonly bigint[] {
  const { marketId, indexSet } = log.args;
  const questions = Array.from({ length: 256 }, (_, i) => i).filter((i) => isConverted(indexSet, i));
  return questions.flatMap((i) => questionTokens(ids, marketId, i, [2n]));
}

/**
 * User of a conversion whose stakeholder is a collateral adapter: the sender of the NO tokens. The adapter itself when no transfer matches.
 */
export function conversionUser(
  log: DecodedLogOf<'positionsConverted'>,
  legs: TransactionTransfers,
  ids: BlockIds,
): string {
  const { stakeholder, amount } = log.args;
  const noTokens = convertedTokens(log, ids);
  const amounts = noTokens.map(() => amount);
  return legs.take('before', log.logIndex, { to: stakeholder }, noTokens, amounts)?.from ?? stakeholder;
}

/** Terms of a conversion that its log omits; null if the other logs of the transaction do not contain them either. */
export interface ConversionTerms {
  /** Number of questions in the market. */
  readonly questions: number | null;
  /** Part of the amount that the venue keeps. */
  readonly fee: bigint | null;
}

/**
 * The adapter sends the stakeholder one YES token of every question that was not converted, each in the converted amount minus the fee. It
 * sends none when all questions were converted: then the NO tokens are burnt and nothing is handed out, and a collateral adapter pays its
 * user (n - 1) x (amount - fee).
 */
export function conversionTerms(
  log: DecodedLogOf<'positionsConverted'>,
  transfers: readonly Transfer[],
  ids: BlockIds,
  wraps: readonly Wrap[],
): ConversionTerms {
  const { stakeholder, marketId, indexSet, amount } = log.args;
  const noTokens = convertedTokens(log, ids);
  const given = noTokens.length;
  // The nearest before the log: the others are of other conversions.
  for (const leg of transfers.toReversed()) {
    const count = given + leg.ids.length;
    if (
      leg.logIndex > log.logIndex ||
      leg.from !== addresses.negRiskAdapter ||
      leg.to !== stakeholder ||
      count > 256 ||
      indexSet >> BigInt(count) !== 0n
    )
      continue;
    const others = Array.from({ length: count }, (_, i) => i).filter((i) => !isConverted(indexSet, i));
    const expected = others.flatMap((i) => questionTokens(ids, marketId, i, [1n]));
    if (expected.length !== leg.ids.length || !expected.every((token) => leg.ids.includes(token))) continue;
    const [handed = amount] = leg.values;
    const isEven = leg.values.every((value) => value === handed);
    return { questions: count, fee: isEven && handed < amount ? amount - handed : 0n };
  }
  const isBurnt = transfers.some(
    (leg) =>
      leg.to === addresses.noTokenBurn && leg.ids.length === given && noTokens.every((no) => leg.ids.includes(no)),
  );
  // Bits 0 to n - 1, and no others.
  const isAll = isBurnt && given > 0 && indexSet === (1n << BigInt(given)) - 1n;
  return { questions: isAll ? given : null, fee: isAll ? feePaid(log, given, wraps) : null };
}

/** Fee of a conversion of all `given` questions, by what a collateral adapter paid its user; null for other stakeholders. */
function feePaid(log: DecodedLogOf<'positionsConverted'>, given: number, wraps: readonly Wrap[]): bigint | null {
  const { stakeholder, amount } = log.args;
  const times = BigInt(given - 1);
  if (!isCollateralAdapter(stakeholder) || times === 0n) return null;
  const paid = wraps.find((one) => one.logIndex > log.logIndex && one.args.caller === stakeholder)?.args.amount;
  if (paid === undefined || paid % times !== 0n || paid > times * amount) return null;
  return amount - paid / times;
}
