import { badParameter } from '../../errors/failure.js';
import { offsetParam } from '../../http/chain-params.js';
import { integerParam, slugParam } from '../../http/params.js';

/** What every /v1 endpoint of wallets and markets has in common. */
export const common = {
  method: 'get',
  apiGroup: 'v1',
  tag: 'Wallets and markets',
  auth: 'key',
  feature: 'v1',
} as const;

/** Hex that is no condition id is a mistake, not a slug. */
const MALFORMED_CONDITION = /^0x(?![0-9a-f]{64}$)[0-9a-f]*$/i;
/** A market in a path, by slug or condition id. */
export const marketId = slugParam({
  description: 'Market slug, or condition id.',
  invalid: 'Invalid market',
  example: 'snow-lisbon-may',
}).refine((text) => !MALFORMED_CONDITION.test(text), 'Invalid market: a condition id is 0x and 64 hex digits');

/** Most wallets of one request. */
export const MAX_WALLETS = 20;
const MAX_OFFSET = 100_000;
const ADDRESS = /^0x[0-9a-f]{40}$/;

/** Parameters of every /v1 list of a wallet or market. */
export const paging = {
  limit: integerParam({
    description: 'Rows per page. Default 100; larger than 500 is taken as 500.',
    invalid: 'Invalid limit. Use a whole number, 1 or more',
    min: 1,
    max: 500,
    clamp: true,
  }).default(100),
  offset: offsetParam({
    invalid: 'Invalid offset. Use a whole number, 0 or more',
    tooDeep: `Invalid offset. Max ${MAX_OFFSET}`,
    max: MAX_OFFSET,
  }).default(0),
};

/** Up to `most` addresses, lowercased, each once. Throws ApiError for more and for what is none. */
export const parseWallets = (text: string, name: string, most = MAX_WALLETS): string[] => {
  const wallets = [
    ...new Set(
      text
        .toLowerCase()
        .split(',')
        .map((part) => part.trim()),
    ),
  ].filter((part) => part !== '');
  if (wallets.length === 0) throw badParameter(`Missing required query parameter '${name}'`);
  if (wallets.length > most) throw badParameter(`Too many wallets in '${name}'. Max ${most}`);
  const bad = wallets.find((wallet) => !ADDRESS.test(wallet));
  if (bad !== undefined) throw badParameter(`Invalid wallet: ${bad.slice(0, 80)}`);
  return wallets;
};
