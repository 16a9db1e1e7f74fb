import { z } from 'zod';
import { hashParam, tokenIdParam, usdParam, walletParam } from '../../http/chain-params.js';
import { choiceParam, integerParam, patternParam } from '../../http/params.js';
import { secondsParam } from '../../http/time-params.js';

const MAX_OFFSET = 10_000_000;

/** Route fields that all /clobv2 endpoints share. */
export const common = { method: 'get', apiGroup: 'clobv2', tag: 'CLOB v2', auth: 'key', feature: 'clobv2' } as const;

/** Parameters that all /clobv2 endpoints share. Values out of range are rejected, not clamped. */
export const clob = {
  wallet: walletParam({ invalid: 'invalid wallet address: expected 0x and 40 hex digits' }),
  tokenId: tokenIdParam({ invalid: 'invalid token_id: expected 1 to 78 digits, below 2^256' }),
  conditionId: hashParam({
    description: 'Condition id of a market.',
    invalid: 'invalid condition_id: expected 0x and 64 hex digits',
  }),
  /** Id of a neg-risk event; lower case only. */
  parentId: z
    .string()
    .regex(/^0x[a-f0-9]{64}$/, 'invalid condition_id: parent_id is 0x and 64 lowercase hex digits')
    .meta({ description: 'Neg-risk event id.', example: `0x${'ab'.repeat(32)}` }),
  builder: patternParam({
    description: 'Builder code.',
    invalid: 'invalid builder: expected 0x and 64 hex digits',
    pattern: /^0x[0-9a-f]{64}$/,
  }),
  limit: (max: number, fallback: number) =>
    integerParam({
      description: `Rows per page. Default ${fallback}.`,
      invalid: `invalid integer limit: expected 1..${max}`,
      min: 1,
      max,
    }).default(fallback),
  offset: integerParam({
    description: 'Rows to skip. Default 0.',
    invalid: `invalid integer offset: expected 0..${MAX_OFFSET}`,
    min: 0,
    max: MAX_OFFSET,
  }).default(0),
  order: choiceParam({
    description: 'By time. Default desc.',
    invalid: 'order must be one of [asc, desc]',
    values: ['asc', 'desc'],
  }).default('desc'),
  time: (description: string) =>
    secondsParam({ description, invalid: 'invalid timestamp: expected Unix seconds, 0 or more' }).optional(),
  usd: (name: string) =>
    usdParam({ description: 'Minimum maker-side amount of a fill.', invalid: `invalid ${name}` }).optional(),
} as const;
