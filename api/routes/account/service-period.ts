/** One service month of an account, Unix ms UTC; the end is not part of it. */
export interface ServicePeriod {
  readonly startMs: number;
  readonly endMs: number;
}

/** Midnight of the day `months` after the anchor's day; the last of the month where it has no such day. */
function monthsAfter(anchor: Date, months: number): number {
  const year = anchor.getUTCFullYear();
  const month = anchor.getUTCMonth() + months;
  const lastDay = new Date(Date.UTC(year, month + 1, 0)).getUTCDate();
  return Date.UTC(year, month, Math.min(anchor.getUTCDate(), lastDay));
}

/**
 * The service month that holds `nowMs`. Allowances begin anew each month on the day the account was made, at 00:00 UTC, and on the last of
 * the month where it has no such day.
 */
export function servicePeriod(createdMs: number, nowMs: number): ServicePeriod {
  const anchor = new Date(createdMs);
  const now = new Date(Math.max(nowMs, createdMs));
  const months = (now.getUTCFullYear() - anchor.getUTCFullYear()) * 12 + now.getUTCMonth() - anchor.getUTCMonth();
  const begun = monthsAfter(anchor, months) <= now.getTime() ? months : months - 1;
  return { startMs: monthsAfter(anchor, begun), endMs: monthsAfter(anchor, begun + 1) };
}
