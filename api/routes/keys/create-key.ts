import { randomUUID } from 'node:crypto';
import { z } from 'zod';
import type { AccountsReadModel } from '../../../infra/accounts/read-model.js';
import { displayedKeyPrefix, hashKey, hashNetwork, KEY_PREFIX, newRawKey } from '../../../schemas/api-keys.js';
import { commonLimits, plans } from '../../../schemas/plans.js';
import type { Decide } from '../../accounts/decide.js';
import { keyName } from '../../accounts/key-name.js';
import { clientNetwork } from '../../auth/client-ip.js';
import { ApiError } from '../../errors/failure.js';
import { jsonBody } from '../../http/json-body.js';
import { defineRoute, errorSchema, type Route } from '../../http/route.js';

/** Bounds the memory of each list of networks. */
const MAX_REMEMBERED_NETWORKS = 100_000;
const DAY_MS = 86_400_000;
const REJECTION_TEXT = `Too many key generation requests. Max ${commonLimits.freeKeysPerIpAndUtcDay} per day.`;
const STORE_KEY_NOTICE = 'Store this key securely — it cannot be retrieved again.';

export interface CreateKeyDeps {
  readonly decide: Decide;
  readonly lookupKey: AccountsReadModel['lookupKey'];
  /** Client networks are stored as HMACs under this secret. All API processes of one log need the same secret. */
  readonly addressSecret: string;
}

const bodySchema = jsonBody({
  name: keyName.nullish().meta({ description: 'Label of the key. Default `unnamed`.' }),
}).optional();

/** A value per client network, of one UTC day. */
function createNetworksOfDay<T>() {
  let day = '';
  const values = new Map<string, T>();
  return {
    has: (utcDay: string, hash: string): boolean => utcDay === day && values.has(hash),
    set(utcDay: string, hash: string, value: T): void {
      if (utcDay !== day) {
        day = utcDay;
        values.clear();
      }
      if (values.size < MAX_REMEMBERED_NETWORKS) values.set(hash, value);
    },
    take(utcDay: string, hash: string): T | undefined {
      if (utcDay !== day) return undefined;
      const value = values.get(hash);
      values.delete(hash);
      return value;
    },
  };
}

/** What a request without an outcome has sent: the accounts processor may still create its key, and no other key of the day. */
interface Attempt {
  readonly accountId: string;
  readonly rawKey: string;
  readonly name: string;
}

/** POST /v1/keys: creates a free account with one key. The first request per client network and UTC day wins; the accounts processor decides. */
export function createKeyRoute(deps: CreateKeyDeps): Route {
  /** Networks that have used their daily quota: rejected without a command. Only a shortcut: the accounts processor decides. */
  const exhaustedNetworks = createNetworksOfDay<true>();
  const unanswered = createNetworksOfDay<Attempt>();
  return defineRoute({
    method: 'post',
    path: '/v1/keys',
    apiGroup: 'v1',
    tag: 'Keys',
    auth: 'none',
    jsonOnly: true,
    summary: 'Create a free API key',
    description:
      'No key needed, but `Content-Type: application/json`. One key per client address (IPv6: per /64 network) and UTC day. The raw key is shown once and stored only as SHA-256.',
    body: bodySchema,
    success: {
      status: 201,
      description: 'The key',
      schema: z.object({
        api_key: z.string(),
        name: z.string(),
        rate_limit_per_minute: z.int().nonnegative(),
        message: z.string(),
      }),
      example: {
        api_key: `${KEY_PREFIX}0f3c9b7a51d24e6882aa10b7cc4d9e35`,
        name: 'desk-bot',
        rate_limit_per_minute: plans.free.standardPerMinute,
        message: STORE_KEY_NOTICE,
      },
    },
    otherResponses: {
      429: {
        description: 'This address has already created its key of the day.',
        schema: errorSchema,
        example: { error: REJECTION_TEXT, reset_at: 1811030400 },
      },
    },
    async handler({ body }, context) {
      const label = body?.name ?? '';
      const name = label === '' ? 'unnamed' : label;
      const ipHash = hashNetwork(clientNetwork(context.clientIp), deps.addressSecret);
      const utcDay = new Date(context.nowMs).toISOString().slice(0, 10);
      const reject = (): never => {
        throw new ApiError({
          kind: 'rate_limited',
          retryAtMs: (Math.floor(context.nowMs / DAY_MS) + 1) * DAY_MS,
          nowMs: context.nowMs,
          limitPerMinute: 0,
          message: REJECTION_TEXT,
        });
      };
      // Taken, so that of concurrent retries one gets the key.
      const earlier = unanswered.take(utcDay, ipHash);
      if (earlier === undefined && exhaustedNetworks.has(utcDay, ipHash)) reject();
      const attempt = earlier ?? { accountId: randomUUID(), rawKey: newRawKey(), name };
      const exists = () => deps.lookupKey(attempt.rawKey).status === 'ok';
      if (earlier === undefined || !exists()) {
        const outcome = await deps
          .decide({
            'oddstream.CreateFreeKey': {
              account_id: attempt.accountId,
              key_hash: hashKey(attempt.rawKey),
              key_prefix: displayedKeyPrefix(attempt.rawKey),
              name: attempt.name,
              ip_hash: ipHash,
              utc_day: utcDay,
            },
          })
          .catch((error: unknown) => {
            unanswered.set(utcDay, ipHash, attempt);
            throw error;
          });
        if (outcome.accepted || outcome.code === 'rate_limited') exhaustedNetworks.set(utcDay, ipHash, true);
        // A repeated command is rejected although the first one has created the key.
        if (!outcome.accepted && !exists()) {
          if (outcome.code === 'rate_limited') reject();
          throw new Error(`CreateFreeKey was rejected: ${outcome.code}`);
        }
      }
      return {
        body: {
          api_key: attempt.rawKey,
          name: attempt.name,
          rate_limit_per_minute: plans.free.standardPerMinute,
          message: STORE_KEY_NOTICE,
        },
      };
    },
  });
}
