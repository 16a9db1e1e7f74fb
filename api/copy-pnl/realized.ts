import { conversionCosts } from '../../schemas/accounting/conversion.js';
import {
  acquire,
  costOf,
  createHolding,
  type Holding,
  minBigInt,
  release,
  releaseTracked,
  SCALE,
  toBase,
} from '../../schemas/accounting/holding.js';
import { divide } from '../../schemas/primitives/money.js';

/** A row of `wallet_activity`; integers as text, base units. See the table for the meaning of each column. */
export interface ActivityRow {
  readonly action: 'BUY' | 'SELL' | 'SPLIT' | 'MERGE' | 'REDEEM' | 'CONVERT' | 'SEND' | 'RECEIVE';
  readonly tokens: readonly string[];
  readonly amounts: readonly string[];
  readonly shares: string;
  readonly usdc: string;
  readonly fee_shares: string;
  readonly payout_numerators: readonly string[];
  readonly payout_denominator: string;
  readonly paid: readonly string[];
  readonly created: readonly string[];
  readonly is_resolved: boolean;
}

/** Realized profit of a wallet in a window, base units. */
export interface RealizedProfit {
  /** Tokens with a realized profit other than 0. */
  readonly closed: number;
  /** SELL fills of more shares than were bought in the window. */
  readonly overSells: number;
  readonly realized: bigint;
  readonly absolute: bigint;
  /** Sum over tokens of entry price (18 decimals) x absolute realized profit. */
  readonly weighted: bigint;
}

/** Cost and quantity of a token when shares with a cost last left it for a price. */
interface Entry {
  readonly cost: bigint;
  readonly quantity: bigint;
}

const abs = (value: bigint): bigint => (value < 0n ? -value : value);

/**
 * Realized profit by weighted average cost, as positions have it (`schemas/accounting`), from an empty state: shares sold beyond those bought
 * realize nothing, and shares received by transfer, or redeemed or converted without a known price, leave at their cost.
 */
export function createRealizedAccount() {
  const holdings = new Map<string, Holding>();
  const entries = new Map<string, Entry>();
  let overSells = 0;

  const holdingOf = (token: string): Holding => {
    const found = holdings.get(token) ?? createHolding('', token, 0);
    holdings.set(token, found);
    return found;
  };

  /** `amount`: null for all shares. `proceedsOf`: for the shares bought, of all shares that leave; 18 decimals. */
  const sell = (
    token: string,
    amount: bigint | null,
    proceedsOf: (tracked: bigint, all: bigint) => bigint,
    isFill = false,
  ): void => {
    const holding = holdingOf(token);
    const all = amount ?? holding.size + holding.received;
    const entry = { cost: holding.cost, quantity: holding.quantity };
    const { tracked, cost } = release(holding, all);
    if (isFill && all > tracked) overSells += 1;
    if (tracked === 0n) return;
    holding.realized += proceedsOf(tracked, all) - cost;
    entries.set(token, entry);
  };

  /** Shares received without cost leave first. */
  const leaveAtCost = (token: string, amount: bigint | null): void => {
    const holding = holdingOf(token);
    const all = amount ?? holding.size + holding.received;
    const received = minBigInt(all, holding.received);
    holding.received -= received;
    release(holding, all - received);
  };

  const convert = (row: ActivityRow, amount: bigint): void => {
    const given = row.tokens.map(holdingOf);
    const sets = given.reduce((least, { size }) => minBigInt(least, size), amount);
    const createdAmount = amount - BigInt(row.fee_shares);
    const withCost = amount === 0n ? 0n : (sets * createdAmount) / amount;
    const costs = given.map((holding) => costOf(holding, sets));
    const { profit, created } = conversionCosts(costs, row.created.length, withCost);
    given.forEach((holding, i) => {
      if (sets > 0n) entries.set(holding.token_id, { cost: holding.cost, quantity: holding.quantity });
      releaseTracked(holding, sets);
      release(holding, amount - sets);
      holding.realized += profit[i] ?? 0n;
    });
    row.created.forEach((token, i) => {
      const holding = holdingOf(token);
      acquire(holding, withCost, 0n, created[i] ?? 0n);
      holding.received += createdAmount - withCost;
    });
  };

  const redeem = (row: ActivityRow): void => {
    const usdc = BigInt(row.usdc);
    const denominator = BigInt(row.payout_denominator);
    row.tokens.forEach((token, i) => {
      const logged = row.amounts[i];
      if (logged === undefined) {
        const numerator = BigInt(row.payout_numerators[i] ?? 0);
        sell(token, null, (tracked, all) => (minBigInt((all * numerator) / denominator, usdc) * SCALE * tracked) / all);
        return;
      }
      const paid = BigInt(row.paid[i] ?? 0);
      sell(token, BigInt(logged), (tracked, all) => (paid * SCALE * tracked) / all);
    });
  };

  return {
    /** Rows in the order of the log. */
    apply(row: ActivityRow): void {
      const { tokens } = row;
      const [first = ''] = tokens;
      const shares = BigInt(row.shares);
      const count = BigInt(tokens.length);
      switch (row.action) {
        case 'BUY':
          acquire(holdingOf(first), shares, BigInt(row.fee_shares), BigInt(row.usdc) * SCALE);
          break;
        case 'SELL':
          sell(first, shares, (tracked, all) => (tracked * SCALE * BigInt(row.usdc)) / all, true);
          break;
        case 'SPLIT':
          for (const token of tokens) acquire(holdingOf(token), shares, 0n, (shares * SCALE) / count);
          break;
        case 'MERGE':
          for (const token of tokens) sell(token, shares, (tracked) => (tracked * SCALE) / count);
          break;
        case 'RECEIVE':
          holdingOf(first).received += shares;
          break;
        case 'SEND':
          leaveAtCost(first, shares);
          break;
        case 'REDEEM':
          if (row.is_resolved) redeem(row);
          else
            for (const [i, token] of tokens.entries())
              leaveAtCost(token, row.amounts[i] === undefined ? null : BigInt(row.amounts[i]));
          break;
        case 'CONVERT':
          if (row.is_resolved) convert(row, shares);
          else for (const token of tokens) leaveAtCost(token, shares);
          break;
      }
    },
    total(): RealizedProfit {
      const total = { closed: 0, overSells, realized: 0n, absolute: 0n, weighted: 0n };
      for (const [token, holding] of holdings) {
        const profit = toBase(holding.realized);
        if (profit === 0n) continue;
        const { cost, quantity } = entries.get(token) ?? { cost: 0n, quantity: 0n };
        // 18 decimals over 6: a million makes it 18 again.
        const entry = quantity === 0n ? 0n : divide(cost * 1_000_000n, quantity, 'half_up');
        total.closed += 1;
        total.realized += profit;
        total.absolute += abs(profit);
        total.weighted += entry * abs(profit);
      }
      return total;
    },
  };
}
