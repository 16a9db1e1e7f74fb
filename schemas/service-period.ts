/** One service month of an account, Unix ms UTC; the end is exclusive. */
export interface ServicePeriod {
  readonly startMs: number;
  readonly endMs: number;
}

/** 00:00 UTC on the anchor's day of the month, `months` later; on the last day of a shorter month. */
function monthsAfter(anchor: Date, months: number): number {
  const year = anchor.getUTCFullYear();
  const month = anchor.getUTCMonth() + months;
  const lastDay = new Date(Date.UTC(year, month + 1, 0)).getUTCDate();
  return Date.UTC(year, month, Math.min(anchor.getUTCDate(), lastDay));
}

/**
 * The service month that contains `nowMs`. Allowances reset every month at 00:00 UTC on the day of the month on which the account was created, or on
 * the last day of a shorter month.
 */
export function servicePeriod(createdMs: number, nowMs: number): ServicePeriod {
  const anchor = new Date(createdMs);
  const now = new Date(Math.max(nowMs, createdMs));
  const months = (now.getUTCFullYear() - anchor.getUTCFullYear()) * 12 + now.getUTCMonth() - anchor.getUTCMonth();
  const startedMonths = monthsAfter(anchor, months) <= now.getTime() ? months : months - 1;
  return { startMs: monthsAfter(anchor, startedMonths), endMs: monthsAfter(anchor, startedMonths + 1) };
}
