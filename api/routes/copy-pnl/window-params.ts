import { z } from 'zod';
import { copyPeriods } from '../../../schemas/copy-pnl/period-scores.sql.js';
import { INVALID_RANGE } from '../../copy-pnl/window.js';
import { choiceParam } from '../../http/params.js';
import { secondsParam } from '../../http/time-params.js';
import { INVALID_PERIOD } from './pool-score.js';

const DAY = /^\d{4}-\d{2}-\d{2}$/;
const seconds = secondsParam({ description: '', invalid: INVALID_RANGE });

/** Unix seconds, or YYYY-MM-DD for 00:00 UTC of that day. Milliseconds, impossible days and those before 1970 are rejected. */
const timeParam = (description: string) =>
  z
    .union([z.string(), z.int()], { error: INVALID_RANGE })
    .transform((value, context): number => {
      const text = String(value);
      const ms = DAY.test(text) ? Date.parse(`${text}T00:00:00Z`) : Number.NaN;
      if (ms >= 0 && new Date(ms).toISOString().startsWith(text)) return ms / 1000;
      const parsed = seconds.safeParse(text);
      if (parsed.success) return parsed.data;
      context.addIssue({ code: 'custom', message: parsed.error.issues[0]?.message ?? INVALID_RANGE });
      return z.NEVER;
    })
    .meta({ type: 'string', description, example: '2026-09-01' });

/** Window of a score; from and to take precedence over the period. */
export const windowParams = {
  from: timeParam('Start of the window, inclusive: YYYY-MM-DD (00:00 UTC) or Unix seconds.').optional(),
  to: timeParam('End of the window, exclusive: YYYY-MM-DD means 00:00 UTC of that day. Default: now.').optional(),
};
export const periodParam = choiceParam({
  description: 'Window that ends now, unless from or to is given. Default: the last 30 days.',
  invalid: INVALID_PERIOD,
  values: copyPeriods,
}).optional();
