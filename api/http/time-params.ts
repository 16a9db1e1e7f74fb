import { integerFrom, type ParamDoc, parsedText } from './params.js';

/** 2100-01-01 UTC. */
const YEAR_2100_S = 4_102_444_800;
/** Value that clients send for "no end", and that some responses contain. */
const OPEN_END_S = 9_999_999_999;
/** Values in this range are a time after 1973 in seconds although milliseconds are expected. */
const [FIRST_SECONDS, LAST_SECONDS] = [100_000_000, 99_999_999_999];
const MAX_SHOWN_LENGTH = 24;

type TimeDoc = ParamDoc & {
  readonly invalid: string;
  /** Smaller values, negative ones included, become this. Default: negative values are rejected. */
  readonly floor?: number;
};

/** Timestamp parameter; `unitOf` names the unit that the value appears to have, or null if it is the expected one. */
function timestampParam(options: TimeDoc, unitOf: (value: number) => string | null) {
  const { invalid, floor, description, example } = options;
  const timeOf = (text: string) => {
    const value = integerFrom(text);
    return value !== null && (value >= 0 || floor !== undefined) ? value : undefined;
  };
  return parsedText(
    {
      parse(text) {
        const value = timeOf(text);
        return value === undefined || unitOf(value) !== null ? undefined : Math.max(value, floor ?? value);
      },
      invalid(text) {
        const value = timeOf(text);
        return value === undefined
          ? invalid
          : `${invalid} (${text.slice(0, MAX_SHOWN_LENGTH)} looks like ${unitOf(value)})`;
      },
    },
    { type: 'integer', minimum: floor === undefined ? 0 : undefined, description, example },
  );
}

/** Unix seconds up to the year 2100, or 9999999999 for an open end. Larger values are rejected as milliseconds. */
export const secondsParam = (options: TimeDoc) =>
  timestampParam(options, (value) => (value > YEAR_2100_S && value !== OPEN_END_S ? 'milliseconds' : null));

/** Unix milliseconds up to the year 2100. Values that look like seconds or microseconds are rejected. */
export const millisecondsParam = (options: TimeDoc) =>
  timestampParam(options, (value) => {
    if (value >= FIRST_SECONDS && value <= LAST_SECONDS) return 'seconds';
    return value > YEAR_2100_S * 1000 ? 'microseconds' : null;
  });
