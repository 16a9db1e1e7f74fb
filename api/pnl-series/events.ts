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

/** Cash received minus cash paid minus fees; shares sent away count as sold at their cost. Base units. */
export function cashOf({ action, problem, cash, cost, realized_pnl, fee }: EventRow): bigint {
  const isGivenAway = action === 'SEND' || problem !== '';
  return (isGivenAway ? BigInt(realized_pnl) - BigInt(cost) : BigInt(cash)) - BigInt(fee);
}

/** Whether a change without a clear price empties the position. */
export const isUnclearEnd = ({ action, problem, cost, cost_after }: EventRow): boolean =>
  (action === 'SEND' || problem !== '') && cost_after === '0' && cost.startsWith('-');

/** Whether shares come in without a cost. */
export const isUntrackedInflow = ({ action, problem }: EventRow): boolean =>
  action === 'RECEIVE' || (action === 'CONVERT' && problem !== '');
