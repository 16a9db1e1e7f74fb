import { z } from 'zod';
import type { MarketName } from '../../catalog/conditions.js';
import { badParameter } from '../../errors/failure.js';
import { named } from '../../http/named-params.js';
import { slugParam } from '../../http/params.js';
import { cursorText } from '../../pagination/cursor.js';
import { v1Route } from '../v1-route.js';

/** Route fields that all /v1 endpoints of wallets and markets share. */
export const common = { ...v1Route, tag: 'Wallets and markets' } as const;

/** Matches hex text that is not a condition id; it is rejected instead of being read as a slug. */
const MALFORMED_CONDITION = /^0x(?![0-9a-f]{64}$)[0-9a-f]*$/i;
/** Path parameter: market slug or condition id. */
export const marketId = slugParam({
  description: 'Market slug, or condition id.',
  invalid: 'Invalid market',
  example: 'snow-lisbon-may',
}).refine((text) => !MALFORMED_CONDITION.test(text), 'Invalid market: a condition id is 0x and 64 hex digits');

const CONDITION = /^0x[0-9a-f]{64}$/i;
/** The market that a `marketId` names. */
export const marketNameOf = (id: string): MarketName =>
  CONDITION.test(id) ? { conditionId: id.toLowerCase() } : { marketSlug: id };

/** Maximum number of wallets per request. */
export const MAX_WALLETS = 20;
const MAX_OFFSET = 100_000;
const ADDRESS = /^0x[0-9a-f]{40}$/;

/** Paging parameters of the /v1 lists. */
export const paging = { limit: named.limit(500, 100), offset: named.offset(MAX_OFFSET) };

/** Parameter and field with which the next page is requested. */
export const cursor = cursorText('`next_cursor` of the previous page. New rows do not shift the pages.');
export const nextCursor = z.string().nullable().meta({ description: 'Cursor of the next page; null on the last one.' });

const listed = (text: string): string[] => {
  const parts = text
    .toLowerCase()
    .split(',')
    .map((part) => part.trim());
  return [...new Set(parts)].filter((part) => part !== '');
};

/** Number of wallets in a list as `parseWallets` reads it, from 1 to MAX_WALLETS. */
export const countWallets = (text: string | null): number =>
  Math.max(1, Math.min(MAX_WALLETS, listed(text ?? '').length));

/** Parses up to `most` addresses: lower case, without duplicates. Throws ApiError for more, for none, and for malformed ones. */
export const parseWallets = (text: string, name: string, most = MAX_WALLETS): string[] => {
  const wallets = listed(text);
  if (wallets.length === 0) throw badParameter(`Missing required query parameter '${name}'`);
  if (wallets.length > most) throw badParameter(`Too many wallets in '${name}'. Max ${most}`);
  const bad = wallets.find((wallet) => !ADDRESS.test(wallet));
  if (bad !== undefined) throw badParameter(`Invalid wallet: ${bad.slice(0, 80)}`);
  return wallets;
};

/** The optional parameter `user`, as `parseWallets` reads it; null if it is not given. */
export const parseUsers = (text: string | undefined, most?: number): string[] | null => {
  if (text === undefined) return null;
  if (listed(text).length === 0) throw badParameter('Invalid user. Use one or more addresses, comma-separated');
  return parseWallets(text, 'user', most);
};
