import { z } from 'zod';
import { commonLimits } from '../../../schemas/plans.js';
import type { AccountCommand, Outcome, PoolChange } from '../../../schemas/types.gen.js';
import type { Decide } from '../../accounts/decide.js';
import type { Caller } from '../../auth/caller.js';
import type { PoolDirectory } from '../../copy-pnl/pool-directory.js';
import { ApiError } from '../../errors/failure.js';
import { EXAMPLE_WALLET } from '../../http/chain-params.js';
import { jsonBody } from '../../http/json-body.js';
import { defineRoute, type Route } from '../../http/route.js';
import type { RateLimitStore } from '../../limits/port.js';
import { admit, common } from './pool-common.js';

const MAX = commonLimits.copyPnlPoolWallets;
/** 1,000 addresses on a line of their own need about 50,000 bytes. */
const BODY_LIMIT_BYTES = 128 * 1024;
const INVALID_BODY = 'Body must include "addresses" — array of valid 0x… wallet addresses.';
const TOO_MANY = `At most ${MAX} wallets per request (and per tenant).`;

export interface PoolDeps {
  readonly pools: PoolDirectory;
  /** The change is visible in `pools` when this resolves. */
  readonly decide: Decide;
  readonly rateLimitStore: RateLimitStore;
}

const bodySchema = jsonBody(
  {
    addresses: z
      .array(
        z
          .string({ error: INVALID_BODY })
          .regex(/^0x[0-9a-fA-F]{40}$/, INVALID_BODY)
          .toLowerCase(),
        { error: INVALID_BODY },
      )
      .max(MAX, TOO_MANY)
      .meta({ description: `Wallets, any letter case; at most ${MAX}. A repeated one counts once.` }),
  },
  { notAnObject: INVALID_BODY },
);

/** Throws if the accounts processor rejected the command: the key was revoked, or its account deleted, after the request was admitted. */
function changeOf(outcome: Outcome): PoolChange {
  if (outcome.code === 'unknown_key' || outcome.code === 'unknown_account') throw new ApiError({ kind: 'unknown_key' });
  if (outcome.pool === null) throw new Error(`A change of a pool was rejected: ${outcome.code}`);
  return outcome.pool;
}

/** POST, DELETE and GET /v2/copy-pnl/wallets: the private pool of the caller's key, changed by the accounts processor only. */
export function createPoolWalletRoutes(deps: PoolDeps): readonly Route[] {
  const path = '/v2/copy-pnl/wallets';
  const target = (caller: Caller, addresses: readonly string[]) => ({
    account_id: caller.accountId,
    key_hash: caller.keyHash,
    addresses,
  });
  const apply = async (command: AccountCommand['command']): Promise<PoolChange> => changeOf(await deps.decide(command));

  const add = defineRoute({
    ...common,
    method: 'post',
    path,
    bodyLimitBytes: BODY_LIMIT_BYTES,
    summary: 'Add wallets to the pool of the key',
    description:
      'Idempotent. If the pool has no capacity for all wallets, the first ones are added. New wallets are scored at once in the background; the snapshot has their scores.',
    body: bodySchema,
    success: {
      description: 'Numbers of added wallets',
      schema: z.object({
        added: z.int().meta({ description: 'Wallets that are new in the pool.' }),
        already_tracked: z.int().meta({ description: 'Wallets that were in the pool.' }),
        total: z.int().meta({ description: 'Wallets in the pool now.' }),
        max: z.int(),
        capped: z.boolean().meta({ description: 'True if the pool had no capacity for all wallets.' }),
        refresh_kicked: z.int().meta({ description: 'New wallets that are queued for scoring.' }),
        hint: z.string().optional().meta({ description: 'Only if capped.' }),
      }),
      example: { added: 2, already_tracked: 1, total: 7, max: MAX, capped: false, refresh_kicked: 2 },
    },
    async handler({ body: { addresses } }, context) {
      const caller = await admit(deps.rateLimitStore, context);
      const requested = [...new Set(addresses)];
      const change = await apply({ 'oddstream.AddPoolWallets': target(caller, requested) });
      const rejected = requested.length - change.added - change.already_tracked;
      return {
        body: {
          added: change.added,
          already_tracked: change.already_tracked,
          total: change.total,
          max: MAX,
          capped: rejected > 0,
          refresh_kicked: change.added,
          ...(rejected > 0 ? { hint: `Pool limit is ${MAX} wallets; ${rejected} addresses were not added.` } : {}),
        },
      };
    },
  });

  const remove = defineRoute({
    ...common,
    method: 'delete',
    path,
    bodyLimitBytes: BODY_LIMIT_BYTES,
    summary: 'Remove wallets from the pool of the key',
    description:
      'Idempotent. Scores of removed wallets are kept for at least 24 hours: a wallet that is added again has its last score at once.',
    body: bodySchema,
    success: {
      description: 'Numbers of removed wallets',
      schema: z.object({ removed: z.int(), total: z.int(), max: z.int() }),
      example: { removed: 1, total: 6, max: MAX },
    },
    async handler({ body: { addresses } }, context) {
      const caller = await admit(deps.rateLimitStore, context);
      const requested = [...new Set(addresses)];
      const { removed, total } = await apply({ 'oddstream.RemovePoolWallets': target(caller, requested) });
      return { body: { removed, total, max: MAX } };
    },
  });

  const list = defineRoute({
    ...common,
    method: 'get',
    path,
    summary: 'Wallets in the pool of the key',
    description: 'All of them, scored or not.',
    success: {
      description: 'The pool',
      schema: z.object({
        wallets: z.array(z.string()).meta({ description: 'Lower case, ascending.' }),
        count: z.int(),
        max: z.int(),
      }),
      example: { wallets: [EXAMPLE_WALLET], count: 1, max: MAX },
    },
    async handler(_input, context) {
      const caller = await admit(deps.rateLimitStore, context);
      const wallets = [...deps.pools.walletsOf(caller.poolKeyHash)];
      return { body: { wallets, count: wallets.length, max: MAX } };
    },
  });

  return [add, remove, list];
}
