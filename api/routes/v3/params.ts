import { commonLimits } from '../../../schemas/plans.js';
import {
  EXAMPLE_TOKEN,
  flagParam,
  hashParam,
  offsetParam,
  tokenIdParam,
  walletParam,
} from '../../http/chain-params.js';
import { choiceParam, integerParam, patternParam, slugParam } from '../../http/params.js';
import { secondsParam } from '../../http/time-params.js';
import { cursorText } from '../../pagination/cursor.js';

/** Deepest page by offset; deeper rows are reached by `cursor` or time bounds. */
const MAX_OFFSET = 100_000;

/** What all /v3 routes that only read have in common. */
export const v3Route = { method: 'get', apiGroup: 'v3', auth: 'key', feature: 'v3' } as const;

/** One of a closed list of values; the error lists them, the last one after `lastSeparator`. */
const choice = <const T extends string>(
  name: string,
  values: readonly T[],
  description: string,
  lastSeparator = ' or ',
) => {
  const [last, ...others] = [...values].reverse();
  const listed = others.length === 0 ? last : `${others.reverse().join(', ')}${lastSeparator}${last}`;
  return choiceParam({ description, invalid: `invalid ${name}: use ${listed}`, values });
};

/** Parameters that mean the same on every /v3 list. */
export const v3 = {
  address: walletParam({ invalid: 'invalid address: use 0x and 40 hex digits' }),
  /** A filter by token. */
  token: tokenIdParam({ invalid: 'invalid token_id: use a decimal uint256' }).optional(),
  /** A filter by slug. */
  slugOf: (name: string, description: string) => slugParam({ description, invalid: `invalid ${name}` }).optional(),
  hashOf: (name: string, description: string) =>
    hashParam({ description, invalid: `invalid ${name}: use 0x and 64 hex digits` }).optional(),
  tokenId: tokenIdParam({ invalid: 'invalid token_id: use a decimal uint256', example: EXAMPLE_TOKEN }),
  conditionId: hashParam({
    description: 'Condition id of a market.',
    invalid: 'invalid condition_id: use 0x and 64 hex digits',
    example: `0x${'c1'.repeat(32)}`,
  }),
  choice,
  slug: slugParam({ description: 'Market slug.', invalid: 'invalid slug', example: 'snow-lisbon-may' }),
  limit: (max: number = commonLimits.v3MaxLimit, fallback: number = commonLimits.v3DefaultLimit) =>
    integerParam({
      description: `Rows per page. Default ${fallback}; values over ${max} are clamped to ${max}.`,
      invalid: 'invalid limit: use a whole number, 1 or more',
      min: 1,
      max,
      clamp: true,
    }).default(fallback),
  offset: offsetParam({
    invalid: 'invalid offset: use a whole number, 0 or more',
    tooDeep: `invalid offset: at most ${MAX_OFFSET}`,
    max: MAX_OFFSET,
  }).default(0),
  order: choice('order', ['asc', 'desc'], 'By time. Default desc.').default('desc'),
  time: (name: 'after' | 'before', floor?: number) =>
    secondsParam({
      description: `Only rows ${name === 'after' ? 'at or after' : 'at or before'} this time, Unix seconds.${floor === undefined ? '' : ` Smaller values become ${floor}.`}`,
      invalid: `invalid ${name}: use Unix seconds`,
      floor,
    }),
  cursor: cursorText('`next_cursor` of the previous page. New rows do not shift the pages; the depth is unlimited.'),
  flag: (name: string, description: string) =>
    flagParam({ description, invalid: `invalid ${name}: use true or false` }).default(false),
} as const;

/** Code of a builder in the path, with or without 0x. */
export const builderCodeParam = patternParam({
  description: 'Builder code, with or without 0x.',
  invalid: 'invalid builder code: use 64 hex digits',
  pattern: /^(0x)?[0-9a-f]{64}$/,
  example: `0x${'bc'.repeat(32)}`,
});

/** The parameters of a page. */
export const paging = { limit: v3.limit(), offset: v3.offset, cursor: v3.cursor };
/** The parameters of a page in either order. */
export const orderedPaging = { order: v3.order, ...paging };
/** The parameters of a time range. */
export const times = { after: v3.time('after').optional(), before: v3.time('before').optional() };
