import { knownCondition } from '../../catalog/conditions.js';
import { badParameter } from '../../errors/failure.js';
import { parseCursor } from '../../fills/log-position.js';
import { hashParam, tokenIdParam, walletParam } from '../../http/chain-params.js';
import { named } from '../../http/named-params.js';
import { parsedText, slugParam } from '../../http/params.js';
import { secondsParam } from '../../http/time-params.js';
import type { Readers } from '../../readers.js';

/** Route fields that all /v2/onchain endpoints share. */
export const common = { method: 'get', apiGroup: 'v2', tag: 'On-chain', auth: 'key', feature: 'v2Onchain' } as const;

/** Deepest page by offset; cursors have no depth limit. */
const MAX_OFFSET = 1_000_000;
const CURSOR = /^\d{1,10}:(\d{1,15}-\d{1,9})$/;

/** Parameters that all /v2/onchain lists share. Limits over the maximum are clamped. */
export const v2 = {
  wallet: walletParam({ invalid: 'Invalid wallet address' }),
  tokenId: tokenIdParam({ invalid: 'Invalid token id. Use 1 to 78 digits, below 2^256' }),
  conditionId: hashParam({ description: 'Condition id of a market.', invalid: 'Invalid condition id' }),
  slug: slugParam({ description: 'Market slug.', invalid: 'Invalid market slug' }),
  limit: (max: number) => named.limit(max, 100),
  offset: named.offset(MAX_OFFSET),
  /** `<timestamp>:<block>-<log index>` of the last row; empty text: first page. */
  cursor: parsedText(
    {
      parse: (text) => (text === '' ? null : (parseCursor(CURSOR.exec(text)?.[1] ?? '') ?? undefined)),
      invalid: 'Invalid cursor',
    },
    {
      type: 'string',
      description:
        '`pagination.cursor` of the previous page; empty for the first page. New rows do not shift the pages.',
    },
  ),
  order: named.choice('order', ['asc', 'desc'], 'By time. Default desc.').default('desc'),
  time: (name: string, description: string) =>
    secondsParam({ description, invalid: `Invalid ${name}. Use Unix seconds` }),
} as const;

/** Parameters that select a wallet, a market and a token. */
export const selectors = {
  wallet: v2.wallet.optional(),
  market_slug: v2.slug.optional(),
  condition_id: v2.conditionId.optional(),
  token_id: v2.tokenId.optional(),
};

/** Tokens of the market that a parameter names, if any are known; null without it. Throws ApiError for an unknown market. */
export async function tokensOfMarket(
  readers: Readers,
  by: 'market_slug' | 'condition_id',
  query: { readonly market_slug?: string; readonly condition_id?: string },
): Promise<readonly string[] | null> {
  const value = query[by];
  if (value === undefined) return null;
  const name = by === 'market_slug' ? { marketSlug: value } : { conditionId: value };
  const found = await readers.fills.tokens(name);
  if (found?.length === 0 && (await knownCondition(readers, name)) === null) throw badParameter(`${by} not found`);
  return found;
}
