import { z } from 'zod';
import { integerFrom, type ParamDoc } from './params.js';

/** 2100-01-01 UTC. */
const YEAR_2100_S = 4_102_444_800;
/** What clients send for "no end", and what some answers show for it. */
const OPEN_END_S = 9_999_999_999;
/** From these on, a moment of 1973 and later was given in seconds where milliseconds are meant. */
const [FIRST_SECONDS, LAST_SECONDS] = [100_000_000, 99_999_999_999];
const MAX_SHOWN_LENGTH = 24;

type TimeDoc = ParamDoc & { readonly invalid: string };

/** Parameter that holds a moment; `unitOf` names the unit it seems to be in, or null where that is the right one. */
function timestampParam(options: TimeDoc, unitOf: (value: number) => string | null) {
  return z
    .string()
    .transform((text, context): number => {
      const value = integerFrom(text);
      const refuse = (message: string): never => {
        context.addIssue({ code: 'custom', message });
        return z.NEVER;
      };
      if (value === null || value < 0) return refuse(options.invalid);
      const unit = unitOf(value);
      return unit === null
        ? value
        : refuse(`${options.invalid} (${text.slice(0, MAX_SHOWN_LENGTH)} looks like ${unit})`);
    })
    .meta({
      type: 'integer',
      minimum: 0,
      description: options.description,
      ...(options.example === undefined ? {} : { example: options.example }),
    });
}

/** Unix seconds up to the year 2100, or 9999999999 for an open end. What is beyond was meant in milliseconds. */
export const secondsParam = (options: TimeDoc) =>
  timestampParam(options, (value) => (value > YEAR_2100_S && value !== OPEN_END_S ? 'milliseconds' : null));

/** Unix milliseconds up to the year 2100. Moments that would be of this age in seconds, or beyond in microseconds, were meant so. */
export const millisecondsParam = (options: TimeDoc) =>
  timestampParam(options, (value) => {
    if (value >= FIRST_SECONDS && value <= LAST_SECONDS) return 'seconds';
    return value > YEAR_2100_S * 1000 ? 'microseconds' : null;
  });
