import type { Address } from '../../../schemas/primitives/address.js';
import { conditionId, negRiskQuestionId } from '../../../schemas/primitives/ids.js';
import { addresses, contractAt } from '../contracts.js';
import type { BlockIds } from './block-ids.js';
import type { DecodedLogOf } from './read-log.js';
import type { TransactionTransfers, Transfer } from './transfers.js';

/** Splits and merges of both contracts in one shape; the NegRiskAdapter's collateral is the wrapped one. */
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

/** A pUSD wrap, by which an adapter pays its user. */
export type Wrap = DecodedLogOf<'wrapped'>;

export const isCollateralAdapter = (address: string): boolean => contractAt(address)?.role === 'collateral_adapter';
export const isExchange = (address: string): boolean => contractAt(address)?.role === 'exchange';

/** Who an adapter paid in pUSD after the given log. */
function wrapRecipientAfter(wraps: readonly Wrap[], adapter: string, logIndex: number, amount: bigint): string | null {
  const wrap = wraps.find(
    (one) => one.logIndex > logIndex && one.args.caller === adapter && one.args.amount === amount,
  );
  return wrap?.args.to ?? null;
}

/** User of a split whose stakeholder is a collateral adapter: who the adapter hands the full set to. The adapter itself when untold. */
export function splitUser(action: SetAction, legs: TransactionTransfers, ids: BlockIds): string {
  const tokens = ids.tokens(action.collateral, action.conditionId, action.partition);
  const amounts = tokens.map(() => action.amount);
  const leg = legs.take('after', action.logIndex, { from: action.stakeholder, batch: true }, tokens, amounts);
  return leg?.to ?? action.stakeholder;
}

/** User of a merge whose stakeholder is a collateral adapter: who handed it the full set, or who it paid. */
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
  /** Shares given in per index set, where the log itself says so. */
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
 * User and amounts of a redemption. Behind a collateral adapter the user is who handed it the tokens (it takes all of both outcomes), or who it
 * paid. A direct one of ConditionalTokens burns token by token before its log, which tells the amounts.
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

/** User of a conversion whose stakeholder is a collateral adapter: who handed it the NO tokens. The adapter itself when untold. */
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

/** What the YES tokens tell that the adapter hands out in a conversion. */
export interface ConversionLeg {
  readonly questions: number;
  /** Of the amount, kept by the venue. */
  readonly fee: bigint;
}

/**
 * How many questions the market of a conversion has, and its fee: the adapter hands the stakeholder one YES token of every question that was not converted, each
 * of the amount less the fee. Null when no leg of the transaction is exactly that, as when all questions were converted.
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
