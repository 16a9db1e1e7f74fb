import type { Tables } from '../tables/port.js';
import { type EventRow, eventsSql } from './series.sql.js';
import { newestTimeOf, type TimeGrid } from './time-grid.js';

/** All changes of a wallet, in chain order; null where there are more than `most`. */
export async function readEvents(tables: Tables, wallet: string, most: number): Promise<readonly EventRow[] | null> {
  const events = await tables.rows<EventRow>(eventsSql(wallet, most + 1));
  return events.length > most ? null : events;
}

/** By which a later look sees that something came in late: the same as of versionSql, by all changes of a wallet. */
export function versionOf(events: readonly EventRow[], frame: TimeGrid): string {
  const newestS = newestTimeOf(frame);
  let version = 0n;
  for (const { at, _offset } of events) {
    const offset = BigInt(_offset);
    if (Number(at) <= newestS && offset > version) version = offset;
  }
  return String(version);
}

/** Collateral received less paid, less fees; what was given away counts as sold at its cost. Base units. */
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
