import { MoneyError, parseMoney } from '../../schemas/primitives/money.js';
import { integerFrom, type ParamDoc, parsedText, patternParam } from './params.js';

const MAX_UINT64 = 2n ** 64n - 1n;
const MAX_TOKEN_ID = 2n ** 256n - 1n;
const HASH = /^0x[0-9a-f]{64}$/;
const ADDRESS = /^0x[0-9a-f]{40}$/;
export const EXAMPLE_WALLET = '0x1a2b3c4d5e6f708192a3b4c5d6e7f8091a2b3c4d';
export const EXAMPLE_TOKEN = '71000000000000000000000000000000000000000000000000000000000000000000000000001';

/** Outcome token id as decimal text; leading zeros are removed. */
export const tokenIdParam = ({
  invalid,
  description = 'Outcome token id, decimal.',
  example,
}: Partial<ParamDoc> & { invalid: string }) =>
  parsedText(
    {
      parse(text) {
        const value = /^\d{1,78}$/.test(text) ? BigInt(text) : null;
        return value === null || value > MAX_TOKEN_ID ? undefined : value.toString();
      },
      invalid,
    },
    { type: 'string', pattern: '^\\d{1,78}$', description, example },
  );

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

const atMostUint64 = (units: bigint): bigint => (units > MAX_UINT64 ? MAX_UINT64 : units);

/** Money as decimal text; undefined for text that is none, and below 0. */
export function parsedMoney(text: string, places?: number): bigint | undefined {
  try {
    const amount = parseMoney(text, places);
    return amount < 0n ? undefined : amount;
  } catch (error) {
    if (!(error instanceof MoneyError)) throw error;
    return undefined;
  }
}

/** USD as decimal text, converted to base units and rounded up: a bound below the smallest unit still excludes smaller values. */
export const usdParam = ({ invalid, description, example }: ParamDoc & { invalid: string }) =>
  parsedText(
    {
      parse(text) {
        const wei = parsedMoney(text, 24);
        return wei === undefined ? undefined : atMostUint64((wei + 10n ** 18n - 1n) / 10n ** 18n);
      },
      invalid,
    },
    { type: 'number', minimum: 0, description, example },
  );

/** Whole number of base units. */
export const baseUnitsParam = ({ invalid, description }: ParamDoc & { invalid: string }) =>
  parsedText(
    { parse: (text) => (/^\d{1,78}$/.test(text) ? atMostUint64(BigInt(text)) : undefined), invalid },
    { type: 'integer', minimum: 0, description },
  );

/** Rows to skip; values below 0 and above `max` are rejected. */
export const offsetParam = ({ invalid, tooDeep, max }: { invalid: string; tooDeep: string; max: number }) =>
  parsedText(
    {
      parse(text) {
        const value = integerFrom(text);
        return value !== null && value >= 0 && value <= max ? value : undefined;
      },
      invalid: (text) => ((integerFrom(text) ?? 0) > max ? tooDeep : invalid),
    },
    { type: 'integer', minimum: 0, maximum: max, description: 'Rows to skip. Default 0.' },
  );

const flags: ReadonlyMap<string, boolean> = new Map([
  ['true', true],
  ['1', true],
  ['false', false],
  ['0', false],
]);
/** Boolean: true or false, also as 1 or 0. */
export const flagParam = ({ invalid, description }: ParamDoc & { invalid: string }) =>
  parsedText({ parse: (text) => flags.get(text.toLowerCase()), invalid }, { type: 'boolean', description });
