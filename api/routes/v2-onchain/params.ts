import { z } from 'zod';
import { parseCursor } from '../../fills/log-position.js';
import { hashParam, offsetParam, tokenIdParam, walletParam } from '../../http/chain-params.js';
import { choiceParam, integerParam, slugParam } from '../../http/params.js';
import { secondsParam } from '../../http/time-params.js';

/** Route fields that all /v2/onchain endpoints share. */
export const common = { method: 'get', apiGroup: 'v2', tag: 'On-chain', auth: 'key', feature: 'v2Onchain' } as const;

/** Deepest page by offset; cursors have no depth limit. */
const MAX_OFFSET = 1_000_000;
const CURSOR = /^\d{1,10}:(\d{1,15}-\d{1,9})$/;

/** Parameters that all /v2/onchain lists share. Limits over the maximum are clamped. */
export const v2 = {
  wallet: walletParam({ invalid: 'Invalid wallet address' }),
  tokenId: tokenIdParam({ invalid: 'Invalid token id' }),
  conditionId: hashParam({ description: 'Condition id of a market.', invalid: 'Invalid condition id' }),
  slug: slugParam({ description: 'Market slug.', invalid: 'Invalid market slug' }),
  limit: (max: number) =>
    integerParam({
      description: `Rows per page. Default 100; values over ${max} are clamped to ${max}.`,
      invalid: 'Invalid limit. Use a whole number, 1 or more',
      min: 1,
      max,
      clamp: true,
    }).default(100),
  offset: offsetParam({
    invalid: 'Invalid offset. Use a whole number, 0 or more',
    tooDeep: `Invalid offset. Max ${MAX_OFFSET}`,
    max: MAX_OFFSET,
  }).default(0),
  /** `<timestamp>:<block>-<log index>` of the last row; empty text: first page. */
  cursor: z
    .string()
    .transform((text, context) => {
      if (text === '') return null;
      const found = parseCursor(CURSOR.exec(text)?.[1] ?? '');
      if (found !== null) return found;
      context.addIssue({ code: 'custom', message: 'Invalid cursor' });
      return z.NEVER;
    })
    .meta({
      type: 'string',
      description:
        '`pagination.cursor` of the previous page; empty for the first page. New rows do not shift the pages.',
    }),
  order: choiceParam({
    description: 'By time. Default desc.',
    invalid: 'Invalid order. Use: asc, desc',
    values: ['asc', 'desc'],
  }).default('desc'),
  time: (name: string, description: string) =>
    secondsParam({ description, invalid: `Invalid ${name}. Use Unix seconds` }),
} as const;
