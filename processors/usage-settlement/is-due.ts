import { monthlyAllowance, usagePackages } from '../../schemas/packages.js';
import type { Account, AccountMeter, Grant, PeriodUsage } from '../../schemas/types.gen.js';

/** Part of a package after which new usage is charged at once; less waits for up to an hour, which bounds the entries of the ledger. */
const CHARGED_AT_ONCE = 0.01;
const MAX_WAIT_MS = 3_600_000;
/** Time before a package expires during which new usage is charged at once: afterwards it would be charged to the next one. Longer than the interval of the passes. */
const EXPIRES_SOON_MS = 30_000;

/** `due`: settle now. `later`: there is usage to settle, but little. */
export type Due = 'due' | 'later' | 'none';

/** Whether a meter's total in the table has to be settled. Totals within the allowance never are, so most accounts cause no commands. */
export function isDue(options: {
  readonly account: Account;
  readonly meter: AccountMeter;
  readonly used: number;
  /** What was settled of the period; undefined: nothing. */
  readonly settled: Pick<PeriodUsage, 'used' | 'charged'> | undefined;
  /** When the meter was settled; 0: never. */
  readonly settledAtMs: number;
  /** Grants of the account and meter that can be charged. */
  readonly grants: readonly Grant[];
  readonly nowMs: number;
}): Due {
  const { account, meter, used, settled = { used: 0, charged: 0 }, grants, nowMs } = options;
  const usable = grants.filter(({ remaining }) => remaining > 0);
  if (usable.some((grant) => grant.expires_at_ms <= nowMs)) return 'due';
  const allowance = monthlyAllowance(account, meter);
  if (allowance === null || used < allowance) return 'none';
  if (settled.used < allowance) return 'due';
  const left = usable.reduce((sum, { remaining }) => sum + remaining, 0);
  const growth = left > 0 ? used - allowance - settled.charged : used - settled.used;
  if (growth <= 0) return 'none';
  const isMuch = growth >= usagePackages.quantity[meter] * CHARGED_AT_ONCE || (left > 0 && growth >= left);
  // At once, so that an account sees that its packages are used from now on.
  const isFirst = left > 0 && settled.charged === 0;
  const expiresSoon = usable.some((grant) => grant.expires_at_ms <= nowMs + EXPIRES_SOON_MS);
  return isMuch || isFirst || expiresSoon || nowMs - options.settledAtMs >= MAX_WAIT_MS ? 'due' : 'later';
}
