import { conversionCosts } from '../../schemas/accounting/conversion.js';
import {
  acquire,
  changeInBase,
  costOf,
  type Holding,
  minBigInt,
  realize,
  release,
  releaseTracked,
  SCALE,
} from '../../schemas/accounting/holding.js';
import { problems } from '../../schemas/primitives/problems.js';
import type { PnlEvent, WalletActivity } from '../../schemas/types.gen.js';
import { possiblyCreatedTokens } from './possible-tokens.js';
import { type PayoutRate, redemptionLegs, redemptionRates } from './redemption.js';

/** Mutable access to a wallet's positions. */
export interface Holdings {
  /** Returns the position and creates it if it does not exist. */
  getOrCreate(tokenId: string): Holding;
  /** Returns the position, or undefined. */
  get(tokenId: string): Holding | undefined;
}

/** Effects of an activity record on one position other than the change of the position itself. */
interface PositionEffect {
  readonly shares: bigint;
  readonly untracked?: bigint;
  readonly cash?: bigint;
  readonly realized?: bigint;
  readonly problem?: string | null;
  /** Whether it shows that the history lacks something; by default with a problem or untracked shares. */
  readonly isPartial?: boolean;
}

/** amount x part / whole, rounded towards zero; 0 if `whole` is 0. */
const mulDiv = (amount: bigint, part: bigint, whole: bigint): bigint => (whole === 0n ? 0n : (amount * part) / whole);

/**
 * Weighted average cost. A buy moves the average; a sale, merge or redemption realizes against it, for tracked shares only; a split buys and a
 * merge sells both outcomes at 0.50; a redemption pays the payout ratio, in whole base
 * units per outcome as ConditionalTokens does; a conversion moves the cost of the converted NO, less the released collateral, to the created YES.
 * Shares received by transfer have no cost, and no profit when they leave. Amounts round towards zero at 18 decimals. A conversion of an unknown
 * number of questions counts as an unclear change of every position that it may have created.
 *
 * Pure except that it mutates the holdings. Returns one event per affected position.
 */
export function applyActivity(activity: WalletActivity, holdings: Holdings): PnlEvent[] {
  const events: PnlEvent[] = [];
  // Collateral moves in base units, so the amount of one record is split over its positions in integer base units.
  let moved = 0n;
  const wholeCash = (cash: bigint): bigint => {
    moved += cash;
    return changeInBase(cash, moved) * SCALE;
  };

  const touch = (holding: Holding, change: (holding: Holding) => PositionEffect): void => {
    const costBefore = holding.cost;
    const feeSharesBefore = holding.fee_shares;
    const effect = change(holding);
    const fill = activity.action === 'BUY' || activity.action === 'SELL';
    if (holding.version === 0) holding.first_ms = activity.timestamp_ms;
    holding.version += 1;
    holding.last_ms = activity.timestamp_ms;
    if (effect.isPartial ?? (effect.problem != null || (effect.untracked ?? 0n) > 0n)) holding.unpriced += 1;
    if (fill) {
      holding.fills += 1;
      holding.fees += activity.fee;
      holding.last_trade_ms = activity.timestamp_ms;
      if (activity.action === 'BUY') holding.bought_usdc += activity.usdc;
      else holding.sold_usdc += activity.usdc;
    }
    if (activity.action === 'REDEEM') holding.last_redeem_ms = activity.timestamp_ms;
    events.push({
      id: activity.id,
      leg: events.length,
      wallet: activity.wallet,
      token_id: holding.token_id,
      block_number: activity.block_number,
      log_index: activity.log_index,
      timestamp_ms: activity.timestamp_ms,
      action: activity.action,
      exchange_version: activity.exchange_version,
      is_taker: activity.is_taker,
      shares: effect.shares,
      untracked: effect.untracked ?? 0n,
      usdc: fill ? activity.usdc : 0n,
      cash: wholeCash(effect.cash ?? 0n),
      cost: holding.cost - costBefore,
      realized: effect.realized ?? 0n,
      fee: fill ? activity.fee : 0n,
      fee_shares: holding.fee_shares - feeSharesBefore,
      minted: fill ? activity.minted : 0n,
      size_after: holding.size + holding.received,
      cost_after: holding.cost,
      realized_after: holding.realized,
      received_after: holding.received,
      fee_cost_after: holding.fee_cost,
      problem: effect.problem ?? null,
    });
  };

  /** Removes shares at a price per tracked share, given as a fraction. */
  const sell = (tokenId: string, amount: bigint, numerator: bigint, denominator: bigint): void => {
    touch(holdings.getOrCreate(tokenId), (holding) => {
      const { tracked, received, untracked, cost } = release(holding, amount);
      const cash = mulDiv(tracked * SCALE, numerator, denominator);
      const realized = realize(holding, cash, cost);
      return { shares: -(tracked + received), untracked, cash, realized };
    });
  };

  /** Removes shares at their cost without profit; `cash`: proceeds that are recorded but not realized. */
  const removeAtCost = (tokenId: string, amount: bigint | null, problem: string | null, cash = 0n): void => {
    touch(holdings.getOrCreate(tokenId), (holding) => {
      const requested = amount ?? holding.size + holding.received;
      const received = minBigInt(requested, holding.received);
      holding.received -= received;
      const out = release(holding, requested - received);
      holding.sent_cost += out.cost;
      return { shares: -(received + out.tracked), untracked: out.untracked, cash: cash * SCALE, problem };
    });
  };

  const buy = (tokenId: string, shares: bigint, feeShares: bigint, cost: bigint): void =>
    touch(holdings.getOrCreate(tokenId), (holding) => {
      acquire(holding, shares, feeShares, cost);
      return { shares: shares - feeShares, cash: -cost };
    });

  const convert = (): void => {
    const { tokens, created } = activity;
    const amount = activity.amounts?.[0] ?? 0n;
    if (activity.question_count === null) {
      for (const token of tokens) removeAtCost(token, amount, problems.unknownQuestions);
      for (const token of possiblyCreatedTokens(activity)) {
        const holding = holdings.getOrCreate(token);
        holding.unpriced += 1;
        if (holding.version === 0) continue;
        holding.version += 1;
        holding.last_ms = activity.timestamp_ms;
      }
      return;
    }
    const converted = tokens.map((token) => holdings.getOrCreate(token));
    // Sets whose NO shares all have a known cost; the others have no price.
    const sets = converted.reduce((least, { size }) => minBigInt(size, least), amount);
    const problem = sets < amount ? problems.unknownNo : activity.fee_unknown ? problems.unknownFee : null;
    // Shares received by transfer have no cost either, but the history has them.
    const isPartial = activity.fee_unknown || converted.some(({ size, received }) => size + received < amount);
    const createdAmount = amount - activity.fee_shares;
    // YES shares created by the sets with a known cost; the fee applies to all proportionally.
    const createdWithCost = amount === 0n ? 0n : (sets * createdAmount) / amount;
    const {
      cash,
      profit,
      created: createdCosts,
    } = conversionCosts(
      converted.map((holding) => costOf(holding, sets)),
      created.length,
      createdWithCost,
    );
    converted.forEach((one, i) => {
      touch(one, (holding) => {
        releaseTracked(holding, sets);
        const rest = release(holding, amount - sets);
        holding.sent_cost += rest.cost;
        const realized = profit[i] ?? 0n;
        holding.realized += realized;
        const shares = -(sets + rest.tracked + rest.received);
        return { shares, untracked: rest.untracked, cash: cash[i] ?? 0n, realized, problem, isPartial };
      });
    });
    created.forEach((token, i) => {
      touch(holdings.getOrCreate(token), (holding) => {
        acquire(holding, createdWithCost, 0n, createdCosts[i] ?? 0n);
        holding.received += createdAmount - createdWithCost;
        return { shares: createdAmount, problem, isPartial };
      });
    });
  };

  const redeem = (): void => {
    const { tokens, usdc } = activity;
    const positions = tokens.map((token) => {
      const found = holdings.get(token);
      return found === undefined || found.version === 0 ? undefined : found;
    });
    const logged = tokens.map((_token, i) => activity.amounts?.[i] ?? null);
    const shares = logged.map(
      (amount, i) => amount ?? (positions[i] === undefined ? 0n : positions[i].size + positions[i].received),
    );
    const rates = redemptionRates(activity, shares);
    if (rates === undefined) {
      // The payout per outcome is unknown: the whole payout is recorded with the first one of which shares are redeemed.
      const redeemed = tokens.flatMap((_token, i) => (shares[i] === 0n ? [] : [i]));
      const [payee = 0] = redeemed;
      for (const i of new Set([payee, ...redeemed]))
        removeAtCost(tokens[i] as string, logged[i] ?? null, problems.unknownRatio, i === payee ? usdc : 0n);
      return;
    }
    redemptionLegs(usdc, shares, rates).forEach(({ paid, known, untrackedShares }, i) => {
      // A redemption of the other outcomes does not change a position without shares.
      if (paid === 0n && shares[i] === 0n) return;
      const rate = rates[i] as PayoutRate;
      touch(holdings.getOrCreate(tokens[i] as string), (holding) => {
        const { tracked, received, untracked, cost } = release(holding, logged[i] ?? null);
        const all = tracked + received + untracked;
        const realized = realize(holding, mulDiv(known * SCALE, tracked, all), cost);
        const agrees = untrackedShares === 0n && paid === mulDiv(all, rate.numerator, rate.denominator);
        const isSeen = untracked === 0n || paid === 0n;
        const seen = tracked + received > 0n;
        const problem = agrees && isSeen ? null : agrees || !seen ? problems.unknownShares : problems.payoutDisagrees;
        return {
          shares: -(tracked + received),
          untracked: untracked + untrackedShares,
          // Shares received by transfer are recorded without cost and proceeds, unless the payout is unclear.
          cash: problem === null ? realized + cost : paid * SCALE,
          realized,
          problem,
        };
      });
    });
  };

  const first = activity.tokens[0] ?? '';
  const amount = activity.amounts?.[0] ?? 0n;
  switch (activity.action) {
    case 'BUY':
      buy(first, amount, activity.fee_shares, activity.usdc * SCALE);
      break;
    case 'SELL':
      sell(first, amount, activity.usdc, amount);
      break;
    case 'SPLIT':
      for (const token of activity.tokens) buy(token, amount, 0n, (amount * SCALE) / BigInt(activity.tokens.length));
      break;
    case 'MERGE':
      for (const token of activity.tokens) sell(token, amount, 1n, BigInt(activity.tokens.length));
      break;
    case 'REDEEM':
      redeem();
      break;
    case 'CONVERT':
      convert();
      break;
    case 'SEND':
      removeAtCost(first, amount, null);
      break;
    case 'RECEIVE':
      touch(holdings.getOrCreate(first), (holding) => {
        holding.received += amount;
        return { shares: amount };
      });
      break;
  }
  return events;
}
