import { z } from 'zod';

/** Documentation of a parameter in the OpenAPI document. */
export interface ParamDoc {
  readonly description: string;
  readonly example?: string | number;
}

const INTEGER = /^-?\d{1,400}$/;

/** Parses an optional minus and digits, clamped to the safe integers; null for any other text. */
export function integerFrom(text: string): number | null {
  if (!INTEGER.test(text)) return null;
  const value = BigInt(text);
  if (value > BigInt(Number.MAX_SAFE_INTEGER)) return Number.MAX_SAFE_INTEGER;
  if (value < BigInt(Number.MIN_SAFE_INTEGER)) return Number.MIN_SAFE_INTEGER;
  return Number(value);
}

const missingParameterMessage = (name: string): string => `Missing required query parameter '${name}'`;

/** Required, non-empty text. */
export function requiredText(name: string) {
  return z
    .string({ error: () => missingParameterMessage(name) })
    .min(1, missingParameterMessage(name))
    .regex(/\S/, missingParameterMessage(name));
}

/**
 * Text that `parse` converts; undefined rejects it with `invalid`. `meta`: how the OpenAPI document shows the parameter. `text`: requirements of the text
 * itself.
 */
export function parsedText<T>(
  options: {
    readonly parse: (text: string) => T | undefined;
    readonly invalid: string | ((text: string) => string);
    /** Status of the rejection; default: 400. */
    readonly status?: 422 | undefined;
    readonly text?: z.ZodString;
  },
  meta: Readonly<Record<string, unknown>>,
) {
  const { parse, invalid, status, text: given = z.string() } = options;
  return given
    .transform((text, context): T => {
      const value = parse(text);
      if (value !== undefined) return value;
      const message = typeof invalid === 'string' ? invalid : invalid(text);
      context.addIssue({ code: 'custom', message, params: { status } });
      return z.NEVER;
    })
    .meta(Object.fromEntries(Object.entries(meta).filter(([, value]) => value !== undefined)));
}

/** Whole number. Values outside min..max are rejected with `invalid`, or clamped with `clamp`; a negative value below `min` is rejected in both cases. `clamp: 'max'` clamps only larger values. */
export function integerParam(
  options: ParamDoc & {
    invalid: string;
    min: number;
    max: number;
    clamp?: boolean | 'max';
    documentedMax?: boolean;
    /** Status of the rejection; default: 400. */
    status?: 422;
  },
) {
  const { invalid, min, max, clamp = false, status, description, example } = options;
  const lowest = clamp === true ? Math.min(0, min) : min;
  const parse = (text: string) => {
    const value = integerFrom(text);
    if (value === null || value < lowest || (value > max && !clamp)) return undefined;
    return Math.min(max, Math.max(min, value));
  };
  const maximum = options.documentedMax === false || clamp ? undefined : max;
  return parsedText({ parse, invalid, status }, { type: 'integer', description, minimum: lowest, maximum, example });
}

/** One of a closed list, in any letter case; the output has the listed spelling. */
export const choiceParam = <const T extends string>({
  values,
  invalid,
  description,
  example,
}: ParamDoc & { invalid: string; values: readonly T[] }) =>
  parsedText(
    { parse: (text) => values.find((value) => value.toLowerCase() === text.toLowerCase()), invalid },
    { type: 'string', enum: [...values], description, example },
  );

/** Maximum length of a rejected value in an error message. */
const MAX_SHOWN_VALUE_LENGTH = 80;

/** Text that matches a pattern, lowercased. `echo`: the error message ends with the value. */
export const patternParam = ({
  pattern,
  invalid,
  echo = false,
  description,
  example,
}: ParamDoc & { invalid: string; pattern: RegExp; echo?: boolean }) =>
  parsedText(
    {
      parse: (text) => (pattern.test(text.toLowerCase()) ? text.toLowerCase() : undefined),
      invalid: (text) => (echo ? `${invalid}: ${text.slice(0, MAX_SHOWN_VALUE_LENGTH)}` : invalid),
    },
    { type: 'string', description, pattern: pattern.source, example },
  );

const MAX_SLUG = 300;

/** A slug: any printable text, compared unchanged. */
export function slugParam(options: ParamDoc & { invalid: string }) {
  return z
    .string()
    .min(1, options.invalid)
    .max(MAX_SLUG, options.invalid)
    .refine((text) => !/\p{Cc}/u.test(text), options.invalid)
    .meta({ description: options.description, ...(options.example === undefined ? {} : { example: options.example }) });
}
