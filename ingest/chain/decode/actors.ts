import type { Address } from '../../../schemas/primitives/address.js';
import { conditionId, negRiskQuestionId } from '../../../schemas/primitives/ids.js';
import { addresses, contractAt } from '../contracts.js';
import type { BlockIds } from './block-ids.js';
import type { DecodedLogOf } from './read-log.js';
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
    ? { ...common, collateral: log.args.collateralToken, indexSets: log.args.indexSets, amounts: null }
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

/**
 * User of a conversion whose stakeholder is a collateral adapter: the sender of the NO tokens. The adapter itself when no transfer matches.
 */
export function conversionUser(
  log: DecodedLogOf<'positionsConverted'>,
  legs: TransactionTransfers,
  ids: BlockIds,
): string {
  const { stakeholder, marketId, indexSet, amount } = log.args;
  const noTokens: bigint[] = [];
  for (let i = 0; i < 256; i++) {
    if (((indexSet >> BigInt(i)) & 1n) === 0n) continue;
    noTokens.push(...questionTokens(ids, marketId, i, [2n]));
  }
  const amounts = noTokens.map(() => amount);
  return legs.take('before', log.logIndex, { to: stakeholder }, noTokens, amounts)?.from ?? stakeholder;
}

/** Result of the YES token transfer of a conversion. */
export interface ConversionLeg {
  readonly questions: number;
  /** Part of the amount that the venue keeps. */
  readonly fee: bigint;
}

/**
 * Number of questions in the market of a conversion, and its fee: the adapter sends the stakeholder one YES token of every question that
 * was not converted, each in the converted amount minus the fee. Null when no transfer of the transaction matches exactly, e.g. when all
 * questions were converted.
 */
export function conversionLeg(
  log: DecodedLogOf<'positionsConverted'>,
  transfers: readonly Transfer[],
  ids: BlockIds,
): ConversionLeg | null {
  const { stakeholder, marketId, indexSet, amount } = log.args;
  const converted = (index: number) => ((indexSet >> BigInt(index)) & 1n) === 1n;
  const given = Array.from({ length: 256 }, (_, i) => i).filter(converted).length;
  for (const leg of transfers) {
    const count = given + leg.ids.length;
    if (
      leg.from !== addresses.negRiskAdapter ||
      leg.to !== stakeholder ||
      count > 256 ||
      indexSet >> BigInt(count) !== 0n
    )
      continue;
    const others = Array.from({ length: count }, (_, i) => i).filter((i) => !converted(i));
    const expected = others.flatMap((i) => questionTokens(ids, marketId, i, [1n]));
    if (expected.length !== leg.ids.length || !expected.every((token) => leg.ids.includes(token))) continue;
    const [handed = amount] = leg.values;
    const isEven = leg.values.every((value) => value === handed);
    return { questions: count, fee: isEven && handed < amount ? amount - handed : 0n };
  }
  return null;
}
