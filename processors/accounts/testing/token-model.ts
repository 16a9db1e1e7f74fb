const DAY_MS = 86_400_000;
export const START = Date.UTC(2026, 8, 1);
export const NEXT = Date.UTC(2026, 9, 1);
const NEXT_END = Date.UTC(2026, 10, 1);
/** Units that a service month includes. */
export const ALLOWANCE = 10;

/** What happens to an account, in units. */
export type Step =
  | { do: 'start' | 'complete' | 'wrong amount' | 'expire'; checkout: number; count: number }
  | { do: 'refund'; checkout: number; tenths: number; failed: number }
  | {
      do: 'dispute';
      checkout: number;
      tenths: number;
      dispute: number;
      reason: 'dispute' | 'dispute_won' | 'dispute_lost';
    }
  | { do: 'courtesy'; grant: number; units: number; days: number }
  | { do: 'settle'; units: number; late: boolean }
  | { do: 'wait'; days: number }
  | { do: 'restart' };

/**
 * The second model: every unit of capacity is a token of its own, and is moved one at a time. Checkouts have what the events so far say.
 */
export function tokenModel() {
  type Token = {
    grant: string;
    kind: 0 | 1;
    madeMs: number;
    expiresMs: number;
    at: 'free' | 'used' | 'expired' | 'returned';
  };
  const tokens: Token[] = [];
  const checkouts = new Map<
    number,
    { count: number; paid: boolean; refunded: number; failed: number; disputes: Map<number, [string, number]> }
  >();
  const courtesies = new Set<number>();
  const periods = new Map<number, { used: number; charged: number }>();
  const totals = { granted: 0 };
  const add = (grant: string, kind: 0 | 1, units: number, madeMs: number, expiresMs: number) => {
    totals.granted += units;
    for (let n = 0; n < units; n++) tokens.push({ grant, kind, madeMs, expiresMs, at: 'free' });
  };
  const sweep = (nowMs: number) => {
    for (const token of tokens) if (token.at === 'free' && token.expiresMs <= nowMs) token.at = 'expired';
  };
  /** Money back, in tenths of the price of the checkout. */
  const giveBack = (n: number, nowMs: number) => {
    const checkout = checkouts.get(n);
    if (checkout?.paid !== true) return;
    let tenths = Math.max(0, checkout.refunded - checkout.failed);
    for (const [status, part] of checkout.disputes.values()) if (status !== 'dispute_won') tenths += part;
    const due = checkout.count * Math.min(10, tenths);
    const mine = tokens.filter(({ grant }) => grant === `checkout ${n}`);
    const returned = () => mine.filter(({ at }) => at === 'returned').length;
    for (const token of mine) if (token.at === 'free' && returned() < due) token.at = 'returned';
    for (const token of mine) if (token.at === 'returned' && returned() > due) token.at = 'free';
    sweep(nowMs);
  };
  return {
    tokens,
    totals,
    periods,
    apply(step: Step, nowMs: number) {
      switch (step.do) {
        case 'start': {
          const open = [...checkouts.values()].length;
          if (!checkouts.has(step.checkout) && open < 10)
            checkouts.set(step.checkout, {
              count: step.count,
              paid: false,
              refunded: 0,
              failed: 0,
              disputes: new Map(),
            });
          break;
        }
        case 'complete': {
          const checkout = checkouts.get(step.checkout);
          if (checkout === undefined || checkout.paid) break;
          checkout.paid = true;
          sweep(nowMs);
          add(`checkout ${step.checkout}`, 0, checkout.count * 10, nowMs, nowMs + 90 * DAY_MS);
          giveBack(step.checkout, nowMs);
          break;
        }
        case 'refund': {
          const checkout = checkouts.get(step.checkout);
          if (checkout === undefined) break;
          checkout.refunded = Math.max(checkout.refunded, step.tenths);
          checkout.failed = Math.max(checkout.failed, step.failed);
          sweep(nowMs);
          giveBack(step.checkout, nowMs);
          break;
        }
        case 'dispute': {
          const checkout = checkouts.get(step.checkout);
          if (checkout === undefined) break;
          const known = checkout.disputes.get(step.dispute);
          if (known === undefined || known[0] === 'dispute')
            checkout.disputes.set(step.dispute, [step.reason, step.tenths]);
          sweep(nowMs);
          giveBack(step.checkout, nowMs);
          break;
        }
        case 'courtesy':
          if (courtesies.has(step.grant)) break;
          courtesies.add(step.grant);
          sweep(nowMs);
          add(`courtesy ${step.grant}`, 1, step.units, nowMs, nowMs + step.days * DAY_MS);
          break;
        case 'settle': {
          sweep(nowMs);
          const startMs = step.late || nowMs < NEXT ? START : NEXT;
          const period = periods.get(startMs) ?? { used: 0, charged: 0 };
          periods.set(startMs, period);
          period.used = Math.max(period.used, step.units);
          const endMs = startMs === START ? NEXT : NEXT_END;
          while (period.charged < period.used - ALLOWANCE) {
            const [token] = tokens
              .filter(({ at, madeMs }) => at === 'free' && (nowMs < endMs || madeMs < endMs))
              .sort(
                (a, b) =>
                  a.kind - b.kind || a.expiresMs - b.expiresMs || a.madeMs - b.madeMs || (a.grant < b.grant ? -1 : 1),
              );
            if (token === undefined) break;
            token.at = 'used';
            period.charged += 1;
          }
          break;
        }
      }
    },
  };
}
