import { type CopyPeriod, daysOf } from '../../schemas/copy-pnl/period-scores.sql.js';
import { commonLimits } from '../../schemas/plans.js';
import { badParameter } from '../errors/failure.js';

const DAY_S = 86_400;
const DEFAULT_DAYS = 30;
/** 2100-01-01 UTC. Clients send larger values for an open end. */
const YEAR_2100_S = 4_102_444_800;
export const INVALID_RANGE = 'Invalid from/to';

export interface CopyWindow {
  /** Unix seconds: from <= t < to. */
  readonly fromS: number;
  readonly toS: number;
  /** 30 if neither a period nor a range was requested. */
  readonly defaultDays: 30 | null;
}

/**
 * The window of a request: `from` and `to` if given, else the period up to now, else the last 30 days. With `to` alone the window begins 30 days earlier, with
 * `from` alone it ends now. Throws ApiError: `Invalid from/to` if it ends before it begins, or if it is longer than 180 days.
 */
export function copyWindow(
  request: {
    readonly period?: CopyPeriod | undefined;
    readonly from?: number | undefined;
    readonly to?: number | undefined;
  },
  nowMs: number,
): CopyWindow {
  const nowS = Math.floor(nowMs / 1000);
  const { period, from, to } = request;
  const ranged = from !== undefined || to !== undefined;
  const toS = to === undefined || to > YEAR_2100_S ? nowS : to;
  const days = ranged || period === undefined ? DEFAULT_DAYS : daysOf(period);
  const fromS = from ?? Math.max(0, toS - days * DAY_S);
  if (fromS > toS) throw badParameter(INVALID_RANGE);
  if (toS - fromS > commonLimits.copyPnlWindowDays * DAY_S)
    throw badParameter(`Maximum window is ${commonLimits.copyPnlWindowDays}d`);
  return { fromS, toS, defaultDays: ranged || period !== undefined ? null : DEFAULT_DAYS };
}
