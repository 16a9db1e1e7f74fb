import { problems } from '../../schemas/primitives/problems.js';
import type { UntrackedInflowRow } from './series.sql.js';

/** Problems for which shares leave the position as in a sale. */
const TREATED_AS_SOLD = new Set<string>([problems.unknownShares, problems.payoutDisagrees]);
const min = (a: bigint, b: bigint): bigint => (a < b ? a : b);

/** Untracked shares from a bucket of the grid on. */
export interface InflowStep {
  readonly bucketIndex: number;
  readonly value: bigint;
}

/**
 * Untracked shares (without a cost) of each position over time. They leave first when shares are sent away, and last when shares are sold. In a conversion only as
 * many sets have a cost as there are tracked NO shares; the other converted shares are untracked.
 */
export function untrackedInflowOf(rows: readonly UntrackedInflowRow[]): ReadonlyMap<string, readonly InflowStep[]> {
  const inflows = new Map<string, bigint>();
  const steps = new Map<string, InflowStep[]>();
  const put = (row: UntrackedInflowRow, value: bigint) => {
    inflows.set(row.token, value);
    const list = steps.get(row.token) ?? [];
    list.push({ bucketIndex: Number(row.bucket), value });
    steps.set(row.token, list);
  };
  const before = (row: UntrackedInflowRow) => {
    const inflow = inflows.get(row.token) ?? 0n;
    return { inflow, tracked: BigInt(row.size_after) - BigInt(row.shares) - inflow };
  };
  const sell = (row: UntrackedInflowRow) => {
    const { inflow, tracked } = before(row);
    const out = -BigInt(row.shares);
    put(row, inflow - (out - min(out, tracked)));
  };
  const sendAway = (row: UntrackedInflowRow) => {
    const { inflow } = before(row);
    put(row, inflow - min(-BigInt(row.shares), inflow));
  };
  const convert = (legs: readonly UntrackedInflowRow[]) => {
    const convertedLegs = legs.filter((leg) => BigInt(leg.shares) <= 0n);
    const sets = convertedLegs
      .map((leg) => min(before(leg).tracked, BigInt(leg.untracked) - BigInt(leg.shares)))
      .reduce((least, one) => (least === null ? one : min(least, one)), null as bigint | null);
    for (const leg of legs) {
      if (BigInt(leg.shares) <= 0n) sell(leg);
      else put(leg, before(leg).inflow + BigInt(leg.shares) - (sets ?? 0n));
    }
  };
  for (let at = 0; at < rows.length; at++) {
    const row = rows[at] as UntrackedInflowRow;
    if (row.action === 'CONVERT' && row.problem !== '' && row.problem !== problems.unknownQuestions) {
      const legs = [row];
      while (rows[at + 1]?.id === row.id) legs.push(rows[++at] as UntrackedInflowRow);
      convert(legs);
    } else if (row.action === 'RECEIVE') put(row, before(row).inflow + BigInt(row.shares));
    else if (row.action === 'SEND' || (row.problem !== '' && !TREATED_AS_SOLD.has(row.problem))) sendAway(row);
    else sell(row);
  }
  return steps;
}
