import { divide } from '../../schemas/primitives/money.js';
import { problems } from '../../schemas/primitives/problems.js';
import type { FeeShareRow } from './series.sql.js';

/** Bought shares go out first, as in a sale. */
const TREATED_AS_SOLD = new Set<string>([
  '',
  problems.unknownShares,
  problems.payoutDisagrees,
  problems.unknownNo,
  problems.unknownFee,
]);
const min = (a: bigint, b: bigint): bigint => (a < b ? a : b);

/** Cost of shares that were paid as fees, per bucket of the time grid. */
export interface FeeCost {
  readonly bucketIndex: number;
  readonly value: bigint;
}

/**
 * Cost of fee shares where their position was closed: they brought no proceeds. The cash of the closing event leaves it out; if the event has no clear
 * price, it is their part of the average cost, which refers to the current shares and the fee shares since the position was last closed. Both are
 * rounded per event; the last closing has what is left of the position's own sum. `rows`: in chain order.
 */
export function feeCostsOf(rows: readonly FeeShareRow[]): ReadonlyMap<string, readonly FeeCost[]> {
  const positions = new Map<string, { bought: bigint; received: bigint; feeShares: bigint }>();
  const costs = new Map<string, FeeCost[]>();
  const newest = new Map<string, FeeShareRow>();
  for (const row of rows) {
    newest.set(row.token, row);
    const position = positions.get(row.token) ?? { bought: 0n, received: 0n, feeShares: 0n };
    positions.set(row.token, position);
    const before = position.bought;
    const change = BigInt(row.shares);
    if (row.action === 'RECEIVE') position.received += change;
    else if (change > 0n) position.bought += change;
    else {
      const isSold = row.action !== 'SEND' && TREATED_AS_SOLD.has(row.problem);
      const sold = isSold ? min(-change, position.bought) : -change - min(-change, position.received);
      position.bought -= sold;
      position.received -= -change - sold;
    }
    position.feeShares += BigInt(row.fee_shares);
    if (row.cost_after !== '0') continue;
    const isUnclear = row.action === 'SEND' || row.problem !== '';
    const cost = -BigInt(row.cost);
    if (cost > 0n && position.feeShares > 0n) {
      const value = isUnclear
        ? divide(cost * position.feeShares, before + position.feeShares, 'half_up')
        : BigInt(row.realized_pnl) + cost - BigInt(row.cash);
      costs.set(row.token, [...(costs.get(row.token) ?? []), { bucketIndex: Number(row.bucket), value }]);
    }
    positions.set(row.token, { ...position, bought: 0n, feeShares: 0n });
  }
  for (const [token, closings] of costs) {
    const total = newest.get(token)?.fee_cost ?? '';
    const last = closings.at(-1);
    if (total === '' || last === undefined) continue;
    const earlier = closings.slice(0, -1).reduce((sum, { value }) => sum + value, 0n);
    costs.set(token, [...closings.slice(0, -1), { ...last, value: BigInt(total) - earlier }]);
  }
  return costs;
}
