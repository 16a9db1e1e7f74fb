import { problems } from '../../schemas/primitives/problems.js';
import type { UntrackedInflowRow } from './series.sql.js';

/** Shares go out as in a sale all the same. */
const TREATED_AS_SOLD = new Set<string>([problems.unknownShares, problems.payoutDisagrees]);
const min = (a: bigint, b: bigint): bigint => (a < b ? a : b);

/** Shares without a cost, from a slot of the frame on. */
export interface InflowStep {
  readonly bucketIndex: number;
  readonly value: bigint;
}

/**
 * Shares of each position that came without a cost, as they changed. A gift goes out first where shares are given away, last where they are sold; of
 * a conversion only as many sets have a cost as there are NO shares with one, whatever else comes of it is a gift.
 */
export function untrackedInflowOf(rows: readonly UntrackedInflowRow[]): ReadonlyMap<string, readonly InflowStep[]> {
  const inflows = new Map<string, bigint>();
  const steps = new Map<string, InflowStep[]>();
  const put = (row: UntrackedInflowRow, value: bigint) => {
    inflows.set(row.token, value);
    const list = steps.get(row.token) ?? [];
    list.push({ bucketIndex: Number(row.slot), value });
    steps.set(row.token, list);
  };
  const before = (row: UntrackedInflowRow) => {
    const inflow = inflows.get(row.token) ?? 0n;
    return { gift: inflow, tracked: BigInt(row.size_after) - BigInt(row.shares) - inflow };
  };
  const sell = (row: UntrackedInflowRow) => {
    const { gift, tracked } = before(row);
    const out = -BigInt(row.shares);
    put(row, gift - (out - min(out, tracked)));
  };
  const giveAway = (row: UntrackedInflowRow) => {
    const { gift } = before(row);
    put(row, gift - min(-BigInt(row.shares), gift));
  };
  const convert = (legs: readonly UntrackedInflowRow[]) => {
    const given = legs.filter((leg) => BigInt(leg.shares) <= 0n);
    const sets = given
      .map((leg) => min(before(leg).tracked, BigInt(leg.untracked) - BigInt(leg.shares)))
      .reduce((least, one) => (least === null ? one : min(least, one)), null as bigint | null);
    for (const leg of legs) {
      if (BigInt(leg.shares) <= 0n) sell(leg);
      else put(leg, before(leg).gift + BigInt(leg.shares) - (sets ?? 0n));
    }
  };
  for (let at = 0; at < rows.length; at++) {
    const row = rows[at] as UntrackedInflowRow;
    if (row.action === 'CONVERT' && row.problem !== '' && row.problem !== problems.unknownQuestions) {
      const legs = [row];
      while (rows[at + 1]?.id === row.id) legs.push(rows[++at] as UntrackedInflowRow);
      convert(legs);
    } else if (row.action === 'RECEIVE') put(row, before(row).gift + BigInt(row.shares));
    else if (row.action === 'SEND' || (row.problem !== '' && !TREATED_AS_SOLD.has(row.problem))) giveAway(row);
    else sell(row);
  }
  return steps;
}
