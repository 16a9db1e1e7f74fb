import { applyActivity } from '../../processors/positions/apply-activity.js';
import { createHolding, type Holding, toBase } from '../../schemas/accounting/holding.js';
import type { WalletActivity } from '../../schemas/types.gen.js';

/** Score of a window, computed row by row; base units, slippage in ten-thousandths of base units. */
export interface ReferenceScore {
  rows: number;
  fills: number;
  bought: bigint;
  sold: bigint;
  settledIn: bigint;
  settledOut: bigint;
  fees: bigint;
  slippage: bigint;
  kinds: Record<string, number>;
  closed: number;
  overSells: number;
  realized: bigint;
  absolute: bigint;
  /** Sum of entry price (18 decimals) x absolute profit. */
  weighted: bigint;
}

const least = (a: bigint, b: bigint) => (a < b ? a : b);
const abs = (a: bigint) => (a < 0n ? -a : a);

/**
 * Reference implementation of the score of one wallet's window: row by row, with the accounting of positions from an empty state. `slippageBps`: 200 is
 * 2 %.
 */
export function referenceScore(
  activity: readonly WalletActivity[],
  window: { readonly fromS: number; readonly toS: number },
  slippageBps = 200n,
): ReferenceScore {
  const score: ReferenceScore = {
    rows: 0,
    fills: 0,
    bought: 0n,
    sold: 0n,
    settledIn: 0n,
    settledOut: 0n,
    fees: 0n,
    slippage: 0n,
    kinds: {},
    closed: 0,
    overSells: 0,
    realized: 0n,
    absolute: 0n,
    weighted: 0n,
  };
  const holdings = new Map<string, Holding>();
  /** Cost and quantity of a token when shares with a cost last left it for a price. */
  const entries = new Map<string, { cost: bigint; quantity: bigint }>();
  for (const one of activity) {
    const second = Math.floor(one.timestamp_ms / 1000);
    if (second < window.fromS || second >= window.toS) continue;
    const before = new Map([...one.tokens, ...one.created].map((token) => [token, { ...holdings.get(token) }]));
    const amount = one.amounts?.[0] ?? 0n;
    if (one.action !== 'SEND' && one.action !== 'RECEIVE') score.rows++;
    score.fees += one.fee;
    switch (one.action) {
      case 'BUY':
        score.fills++;
        score.bought += one.usdc;
        // price x 1.02 x shares, but at most a dollar per share, and at least the amount paid.
        score.slippage += [least(one.usdc * (10_000n + slippageBps), amount * 10_000n) - one.usdc * 10_000n, 0n].reduce(
          (a, b) => (a > b ? a : b),
        );
        break;
      case 'SELL':
        score.fills++;
        score.sold += one.usdc;
        score.slippage += one.usdc * slippageBps;
        if (amount > (before.get(one.tokens[0] ?? '')?.size ?? 0n)) score.overSells++;
        break;
      case 'SPLIT':
        score.settledOut += one.usdc;
        break;
      case 'MERGE':
      case 'REDEEM':
      case 'CONVERT':
        score.settledIn += one.usdc;
        break;
    }
    score.kinds[one.action] = (score.kinds[one.action] ?? 0) + 1;
    const events = applyActivity(one, {
      get: (token) => holdings.get(token),
      getOrCreate(token) {
        const found = holdings.get(token) ?? createHolding(one.wallet, token, one.timestamp_ms);
        holdings.set(token, found);
        return found;
      },
    });
    for (const event of events) {
      const was = before.get(event.token_id);
      if (event.realized === 0n || was?.quantity === undefined || was.cost === undefined) continue;
      entries.set(event.token_id, { cost: was.cost, quantity: was.quantity });
    }
  }
  for (const holding of holdings.values()) {
    const profit = toBase(holding.realized);
    score.realized += profit;
    score.absolute += abs(profit);
    if (profit === 0n) continue;
    score.closed++;
    const { cost, quantity } = entries.get(holding.token_id) as { cost: bigint; quantity: bigint };
    // Half up: twice the scaled cost plus the quantity, over twice the quantity.
    const entry = ((abs(cost) * 2_000_000n + quantity) / (2n * quantity)) * (cost < 0n ? -1n : 1n);
    score.weighted += entry * abs(profit);
  }
  return score;
}
