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

/** Whole number. Values outside min..max are rejected with `invalid`, or clamped with `clamp`; a negative value below `min` is rejected in both cases. */
export function integerParam(
  options: ParamDoc & {
    invalid: string;
    min: number;
    max: number;
    clamp?: boolean;
    documentedMax?: boolean;
    /** Status of the rejection; default: 400. */
    status?: 422;
  },
) {
  const bounded = z.string().transform((text, context): number => {
    const value = integerFrom(text);
    const outside = value !== null && (value < options.min || value > options.max);
    const isRejected = outside && (options.clamp !== true || value < Math.min(0, options.min));
    if (value === null || isRejected) {
      context.addIssue({ code: 'custom', message: options.invalid, params: { status: options.status } });
      return z.NEVER;
    }
    return Math.min(options.max, Math.max(options.min, value));
  });
  return bounded.meta({
    type: 'integer',
    description: options.description,
    minimum: options.clamp === true ? Math.min(0, options.min) : options.min,
    ...(options.documentedMax === false || options.clamp === true ? {} : { maximum: options.max }),
    ...(options.example === undefined ? {} : { example: options.example }),
  });
}

/** One of a closed list, in any letter case; the output has the listed spelling. */
export function choiceParam<const T extends string>(options: ParamDoc & { invalid: string; values: readonly T[] }) {
  return z
    .string()
    .transform((text, context): T => {
      const found = options.values.find((value) => value.toLowerCase() === text.toLowerCase());
      if (found === undefined) {
        context.addIssue({ code: 'custom', message: options.invalid });
        return z.NEVER;
      }
      return found;
    })
    .meta({
      type: 'string',
      enum: [...options.values],
      description: options.description,
      ...(options.example === undefined ? {} : { example: options.example }),
    });
}

/** Maximum length of a rejected value in an error message. */
const MAX_SHOWN_VALUE_LENGTH = 80;

/** Text that matches a pattern, lowercased. `echo`: the error message ends with the value. */
export function patternParam(options: ParamDoc & { invalid: string; pattern: RegExp; echo?: boolean }) {
  return z
    .string()
    .transform((text, context): string => {
      const lower = text.toLowerCase();
      if (!options.pattern.test(lower)) {
        const value = options.echo === true ? `: ${text.slice(0, MAX_SHOWN_VALUE_LENGTH)}` : '';
        context.addIssue({ code: 'custom', message: `${options.invalid}${value}` });
        return z.NEVER;
      }
      return lower;
    })
    .meta({
      type: 'string',
      description: options.description,
      pattern: options.pattern.source,
      ...(options.example === undefined ? {} : { example: options.example }),
    });
}

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
