import type { Tables } from '../tables/port.js';
import { type EventRow, eventsSql } from './series.sql.js';
import { newestTimeOf, type TimeGrid } from './time-grid.js';

/** All events of a wallet, in chain order; null if there are more than `most`. */
export async function readEvents(tables: Tables, wallet: string, most: number): Promise<readonly EventRow[] | null> {
  const events = await tables.rows<EventRow>(eventsSql(wallet, most + 1));
  return events.length > most ? null : events;
}

/** Version of a wallet's events in the closed buckets of a grid, as in versionSql; detects late events. */
export function versionOf(events: readonly EventRow[], timeGrid: TimeGrid): string {
  const newestS = newestTimeOf(timeGrid);
  let version = 0n;
  for (const { at, _offset } of events) {
    const offset = BigInt(_offset);
    if (Number(at) <= newestS && offset > version) version = offset;
  }
  return String(version);
}

/**
 * Realized PnL less the change of the cost in the position, less fees, base units: the collateral received less paid, with shares that were given
 * away counted as sold at cost, and the cost of fee shares counted as received. The amounts of an event are differences of the position's rounded
 * totals, so that the sums at any time are those of the positions; `cash` is rounded per event and would differ by some base units.
 */
export const bookedCashOf = ({ cost, realized_pnl, fee }: EventRow): bigint =>
  BigInt(realized_pnl) - BigInt(cost) - BigInt(fee);

/** Whether shares come in without a cost. */
export const isUntrackedInflow = ({ action, problem }: EventRow): boolean =>
  action === 'RECEIVE' || (action === 'CONVERT' && problem !== '');
