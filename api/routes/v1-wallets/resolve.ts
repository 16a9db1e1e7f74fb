import { z } from 'zod';
import { tryParseAddress } from '../../../schemas/primitives/address.js';
import type { ResponseCache } from '../../cache/response-cache.js';
import { notFound } from '../../errors/failure.js';
import { slugParam } from '../../http/params.js';
import { defineRoute, notFoundResponse, type Route } from '../../http/route.js';
import { createResolver, type ResolveDeps } from '../../wallets/resolve.js';
import { common } from './params.js';

const FOUND_S = 3_600;
const MISSING_MS = 60_000;

const walletType = z.enum(['deposit_wallet', 'safe', 'proxy']).nullable();
const address = z.string().nullable();
const resolvedSchema = z.object({
  safe: z.string().meta({ description: 'The trading wallet, of any type.' }),
  eoa: address.meta({ description: 'Owner key of the wallet; null if unknown, or if a Safe has several.' }),
  username: z.string().nullable(),
  type: walletType.meta({ description: 'Type of `safe`; null if it cannot be verified.' }),
  wallets: z
    .object({ deposit_wallet: address, safe: address, proxy_wallet: address })
    .meta({ description: 'Deployed ones.' }),
  wallet_details: z.array(
    z.object({ address: z.string(), wallet_type: walletType, deployed: z.boolean(), current: z.boolean() }),
  ),
});

const example = {
  safe: '0x00000000000000000000000000000000000000d1',
  eoa: '0x00000000000000000000000000000000000000e1',
  username: 'quietfox',
  type: 'deposit_wallet',
  wallets: {
    deposit_wallet: '0x00000000000000000000000000000000000000d1',
    safe: '0x00000000000000000000000000000000000000f1',
    proxy_wallet: null,
  },
  wallet_details: [
    {
      address: '0x00000000000000000000000000000000000000d1',
      wallet_type: 'deposit_wallet',
      deployed: true,
      current: true,
    },
    { address: '0x00000000000000000000000000000000000000f1', wallet_type: 'safe', deployed: true, current: false },
  ],
};

/** GET /v1/resolve/{query}: trading wallet and owner key of a wallet, key or name. */
export function createResolveRoute(deps: ResolveDeps & { cache: ResponseCache }): Route {
  const resolve = createResolver(deps);
  return defineRoute({
    ...common,
    path: '/v1/resolve/{query}',
    cacheS: FOUND_S,
    summary: 'Resolve a wallet, key or name',
    description:
      'Without a node, wallets with on-chain activity count as deployed, and the owner key of a wallet is unknown unless the query is that key.',
    params: z.object({
      query: slugParam({
        description: 'Wallet, key, or name in any letter case.',
        invalid: 'Invalid query',
        example: 'quietfox',
      }),
    }),
    success: { description: 'Wallet and owner key', schema: resolvedSchema, example },
    otherResponses: notFoundResponse('Unknown wallet, key or name.', 'Address not found.'),
    async handler({ params: { query } }) {
      // Key and look-up have the same spelling: otherwise one spelling's result would be cached as that of the others.
      const name = query.toLowerCase();
      const isAddress = tryParseAddress(name) !== null;
      const cached = await deps.cache.get(
        `resolve ${isAddress ? 'address' : 'name'} ${name}`,
        (found) => (found === null ? MISSING_MS : FOUND_S * 1000),
        () => resolve(name),
      );
      if (cached.value === null) throw notFound(isAddress ? 'Address not found.' : 'Username not found.');
      const { wallet_details, ...rest } = cached.value;
      return { body: { ...rest, wallet_details: [...wallet_details] }, cache: cached };
    },
  });
}
