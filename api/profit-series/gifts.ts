import { problems } from '../../schemas/primitives/problems.js';
import type { GiftRow } from './series.sql.js';

/** Shares go out as in a sale all the same. */
const SOLD = new Set<string>([problems.unknownShares, problems.payoutDisagrees]);
const smaller = (a: bigint, b: bigint): bigint => (a < b ? a : b);

/** Shares without a cost, from a slot of the frame on. */
export interface GiftStep {
  readonly slot: number;
  readonly value: bigint;
}

/**
 * Shares of each position that came without a cost, as they changed. A gift goes out first where shares are given away, last where they are sold; of
 * a conversion only as many sets have a cost as there are NO shares with one, whatever else comes of it is a gift.
 */
export function giftsOf(rows: readonly GiftRow[]): ReadonlyMap<string, readonly GiftStep[]> {
  const gifts = new Map<string, bigint>();
  const steps = new Map<string, GiftStep[]>();
  const put = (row: GiftRow, value: bigint) => {
    gifts.set(row.token, value);
    const list = steps.get(row.token) ?? [];
    list.push({ slot: Number(row.slot), value });
    steps.set(row.token, list);
  };
  const before = (row: GiftRow) => {
    const gift = gifts.get(row.token) ?? 0n;
    return { gift, tracked: BigInt(row.size_after) - BigInt(row.shares) - gift };
  };
  const sell = (row: GiftRow) => {
    const { gift, tracked } = before(row);
    const out = -BigInt(row.shares);
    put(row, gift - (out - smaller(out, tracked)));
  };
  const giveAway = (row: GiftRow) => {
    const { gift } = before(row);
    put(row, gift - smaller(-BigInt(row.shares), gift));
  };
  const convert = (legs: readonly GiftRow[]) => {
    const given = legs.filter((leg) => BigInt(leg.shares) <= 0n);
    const sets = given
      .map((leg) => smaller(before(leg).tracked, BigInt(leg.untracked) - BigInt(leg.shares)))
      .reduce((least, one) => (least === null ? one : smaller(least, one)), null as bigint | null);
    for (const leg of legs) {
      if (BigInt(leg.shares) <= 0n) sell(leg);
      else put(leg, before(leg).gift + BigInt(leg.shares) - (sets ?? 0n));
    }
  };
  for (let at = 0; at < rows.length; at++) {
    const row = rows[at] as GiftRow;
    if (row.action === 'CONVERT' && row.problem !== '' && row.problem !== problems.unknownQuestions) {
      const legs = [row];
      while (rows[at + 1]?.id === row.id) legs.push(rows[++at] as GiftRow);
      convert(legs);
    } else if (row.action === 'RECEIVE') put(row, before(row).gift + BigInt(row.shares));
    else if (row.action === 'SEND' || (row.problem !== '' && !SOLD.has(row.problem))) giveAway(row);
    else sell(row);
  }
  return steps;
}
