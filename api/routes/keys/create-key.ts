import { randomUUID } from 'node:crypto';
import { z } from 'zod';
import { displayedKeyPrefix, hashKey, hashNetwork, KEY_PREFIX, newRawKey } from '../../../schemas/api-keys.js';
import { commonLimits, plans } from '../../../schemas/plans.js';
import type { Decide } from '../../accounts/decide.js';
import { keyName } from '../../accounts/key-name.js';
import { clientNetwork } from '../../auth/client-ip.js';
import { ApiError } from '../../errors/failure.js';
import { jsonBody } from '../../http/json-body.js';
import { defineRoute, errorSchema, type Route } from '../../http/route.js';

const MAX_REMEMBERED_NETWORKS = 100_000;
const DAY_MS = 86_400_000;
const REJECTION_TEXT = `Too many key generation requests. Max ${commonLimits.freeKeysPerIpAndUtcDay} per day.`;
const STORE_KEY_NOTICE = 'Store this key securely — it cannot be retrieved again.';

export interface CreateKeyDeps {
  readonly decide: Decide;
  /** Client networks are stored as HMACs under this secret. All API processes of one log need the same secret. */
  readonly addressSecret: string;
}

const bodySchema = jsonBody({
  name: keyName.nullish().meta({ description: 'Label of the key. Default `unnamed`.' }),
}).optional();

/** Networks that have used their daily quota: rejected without a command. Only a shortcut: the accounts processor decides. */
function createExhaustedNetworks() {
  let day = '';
  const used = new Set<string>();
  return {
    has(utcDay: string, hash: string): boolean {
      return utcDay === day && used.has(hash);
    },
    add(utcDay: string, hash: string): void {
      if (utcDay !== day) {
        day = utcDay;
        used.clear();
      }
      if (used.size < MAX_REMEMBERED_NETWORKS) used.add(hash);
    },
  };
}

/** POST /v1/keys: creates a free account with one key. The first request per client network and UTC day wins; the accounts processor decides. */
export function createKeyRoute(deps: CreateKeyDeps): Route {
  const exhaustedNetworks = createExhaustedNetworks();
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
      if (exhaustedNetworks.has(utcDay, ipHash)) reject();
      const rawKey = newRawKey();
      const outcome = await deps.decide({
        'oddstream.CreateFreeKey': {
          account_id: randomUUID(),
          key_hash: hashKey(rawKey),
          key_prefix: displayedKeyPrefix(rawKey),
          name,
          ip_hash: ipHash,
          utc_day: utcDay,
        },
      });
      if (outcome.accepted || outcome.code === 'rate_limited') exhaustedNetworks.add(utcDay, ipHash);
      if (outcome.code === 'rate_limited') reject();
      if (!outcome.accepted) throw new Error(`CreateFreeKey was rejected: ${outcome.code}`);
      return {
        body: { api_key: rawKey, name, rate_limit_per_minute: plans.free.standardPerMinute, message: STORE_KEY_NOTICE },
      };
    },
  });
}
