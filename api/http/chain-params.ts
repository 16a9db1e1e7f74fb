import { z } from 'zod';
import { MoneyError, parseMoney } from '../../schemas/primitives/money.js';
import { integerFrom, type ParamDoc, patternParam } from './params.js';

const MAX_UINT64 = 2n ** 64n - 1n;
const MAX_TOKEN_ID = 2n ** 256n - 1n;
const HASH = /^0x[0-9a-f]{64}$/;
const ADDRESS = /^0x[0-9a-f]{40}$/;
export const EXAMPLE_WALLET = '0x1a2b3c4d5e6f708192a3b4c5d6e7f8091a2b3c4d';
export const EXAMPLE_TOKEN = '71000000000000000000000000000000000000000000000000000000000000000000000000001';

/** Outcome token id as decimal text; leading zeros are removed. */
export function tokenIdParam(options: Partial<ParamDoc> & { invalid: string }) {
  return z
    .string()
    .transform((text, context): string => {
      const value = /^\d{1,78}$/.test(text) ? BigInt(text) : null;
      if (value === null || value === 0n || value > MAX_TOKEN_ID) {
        context.addIssue({ code: 'custom', message: options.invalid });
        return z.NEVER;
      }
      return value.toString();
    })
    .meta({
      type: 'string',
      pattern: '^\\d{1,78}$',
      description: options.description ?? 'Outcome token id, decimal.',
      ...(options.example === undefined ? {} : { example: options.example }),
    });
}

/** Wallet address in any letter case; lowercased. */
export const walletParam = (options: { invalid: string; description?: string; echo?: boolean }) =>
  patternParam({
    description: options.description ?? 'Wallet address, any letter case.',
    invalid: options.invalid,
    ...(options.echo === undefined ? {} : { echo: options.echo }),
    pattern: ADDRESS,
    example: EXAMPLE_WALLET,
  });

/** 0x and 64 hex digits, any letter case; lowercased. */
export const hashParam = (options: { invalid: string; description: string; example?: string }) =>
  patternParam({ ...options, pattern: HASH });

/** USD as decimal text, converted to base units and rounded up: a bound below the smallest unit still excludes smaller values. */
export function usdParam(options: ParamDoc & { invalid: string }) {
  return z
    .string()
    .transform((text, context): bigint => {
      try {
        const wei = parseMoney(text, 24);
        if (wei < 0n) throw new MoneyError('negative');
        const units = (wei + 10n ** 18n - 1n) / 10n ** 18n;
        return units > MAX_UINT64 ? MAX_UINT64 : units;
      } catch (error) {
        if (!(error instanceof MoneyError)) throw error;
        context.addIssue({ code: 'custom', message: options.invalid });
        return z.NEVER;
      }
    })
    .meta({
      type: 'number',
      minimum: 0,
      description: options.description,
      ...(options.example === undefined ? {} : { example: options.example }),
    });
}

/** Whole number of base units. */
export function baseUnitsParam(options: ParamDoc & { invalid: string }) {
  return z
    .string()
    .transform((text, context): bigint => {
      if (!/^\d{1,78}$/.test(text)) {
        context.addIssue({ code: 'custom', message: options.invalid });
        return z.NEVER;
      }
      const units = BigInt(text);
      return units > MAX_UINT64 ? MAX_UINT64 : units;
    })
    .meta({ type: 'integer', minimum: 0, description: options.description });
}

/** Rows to skip; values below 0 and above `max` are rejected. */
export function offsetParam(options: { invalid: string; tooDeep: string; max: number }) {
  return z
    .string()
    .transform((text, context): number => {
      const value = integerFrom(text);
      if (value !== null && value >= 0 && value <= options.max) return value;
      const tooDeep = value !== null && value > options.max;
      context.addIssue({ code: 'custom', message: tooDeep ? options.tooDeep : options.invalid });
      return z.NEVER;
    })
    .meta({ type: 'integer', minimum: 0, maximum: options.max, description: 'Rows to skip. Default 0.' });
}

/** Boolean: true or false, also as 1 or 0. */
export function flagParam(options: ParamDoc & { invalid: string }) {
  return z
    .string()
    .transform((text, context): boolean => {
      const lower = text.toLowerCase();
      if (lower === 'true' || lower === '1') return true;
      if (lower === 'false' || lower === '0') return false;
      context.addIssue({ code: 'custom', message: options.invalid });
      return z.NEVER;
    })
    .meta({ type: 'boolean', description: options.description });
}
