import { z } from 'zod';
import type { AccountsReadModel } from '../../../infra/accounts/read-model.js';
import { keyIdOf } from '../../../infra/usage/usage-recorder.js';
import { displayedKeyPrefix, hashKey, KEY_PREFIX, newRawKey } from '../../../schemas/api-keys.js';
import type { Key, Outcome } from '../../../schemas/types.gen.js';
import { type Decide, unexpectedRejection } from '../../accounts/decide.js';
import { keyName } from '../../accounts/key-name.js';
import { userAuthor } from '../../auth/sessions.js';
import { ApiError, notFound } from '../../errors/failure.js';
import { jsonBody } from '../../http/json-body.js';
import { defineRoute, notFoundResponse, type Route } from '../../http/route.js';
import type { Sql, Tables } from '../../tables/port.js';
import { requireSession } from '../auth/sessions.js';

const MAX_GRACE_S = 7 * 86_400;

const keySchema = z.object({
  id: z.string(),
  name: z.string(),
  prefix: z.string().meta({ description: 'First characters of the key.' }),
  created_at: z.int().meta({ description: 'Unix seconds.' }),
  expires_at: z
    .int()
    .nullable()
    .meta({ description: 'Unix seconds: end of the grace period of a replaced key; null: none.' }),
  last_used_at: z
    .int()
    .nullable()
    .meta({ description: 'Unix seconds, with a delay of a few seconds; null: not used yet, or unknown.' }),
});
const newKeySchema = z.object({ id: z.string(), name: z.string(), api_key: z.string() });

const NO_NAME = 'Invalid name. Use at least 1 character.';
const nameField = keyName
  .min(1, NO_NAME)
  // White space and invisible characters alone are no name that a list can show.
  .refine((text) => /[^\p{Z}\p{C}]/u.test(text), NO_NAME);
const params = z.object({
  id: z
    .string()
    .regex(/^[0-9a-f]{16}$/, 'Invalid id. Use the 16 hex characters of the list.')
    .meta({ description: 'Id of the key, from the list of keys.' }),
});

const newKeyExample = {
  id: '9f2b6c01d4e8a735',
  name: 'desk-bot',
  api_key: `${KEY_PREFIX}0f3c9b7a51d24e6882aa10b7cc4d9e35`,
};
const KEY_LIMIT = 'The plan has no further keys. Revoke one, or change the plan.';
const REPLACED_KEY_LIMIT =
  'Too many replaced keys still work. Revoke one of them, or let this key stop at once (grace_seconds 0).';
const conflict = (description: string, error: string) => ({
  409: { description, schema: z.object({ error: z.string() }), example: { error } },
});
const NOT_FOUND = 'Key not found.';
const unknownKey = notFoundResponse('The account has no such key, or it does not work any more.', NOT_FOUND);
const unknownOrReplacedKey = notFoundResponse(
  'The account has no such key, or it is replaced or does not work any more.',
  NOT_FOUND,
);

/** Last use of each key of an account. */
const lastUseSql = (accountId: string): Sql => ({
  text: `SELECT key_id AS id, toUnixTimestamp(max(counted_at)) AS at FROM usage
    WHERE account_id = {account:String} AND key_id != '' GROUP BY key_id`,
  params: { account: accountId },
});

interface LastUse {
  readonly id: string;
  readonly at: number;
}

/** Keys of the signed-in user's account: list, create, rename, rotate, revoke. */
export function createAccountKeyRoutes(deps: {
  decide: Decide;
  accounts: Pick<AccountsReadModel, 'keysOf'>;
  tables: Tables;
}): readonly Route[] {
  const common = { apiGroup: 'v1', tag: 'Account', auth: 'session' } as const;
  const isLive = (key: Key, nowMs: number) => key.active && (key.expires_at_ms === null || key.expires_at_ms > nowMs);
  const keyOf = (accountId: string, id: string, nowMs: number): Key => {
    const key = deps.accounts.keysOf(accountId).find((one) => keyIdOf(one.key_hash) === id && isLive(one, nowMs));
    if (key === undefined) throw notFound(NOT_FOUND);
    return key;
  };
  const assertAccepted = (command: string, outcome: Outcome) => {
    if (outcome.accepted) return;
    if (outcome.code === 'key_limit') {
      const message = command === 'RotateKey' ? REPLACED_KEY_LIMIT : KEY_LIMIT;
      throw new ApiError({ kind: 'conflict', message });
    }
    if (outcome.code === 'unknown_key') throw notFound(NOT_FOUND);
    throw unexpectedRejection(command, outcome);
  };
  return [
    defineRoute({
      ...common,
      method: 'get',
      path: '/v1/account/keys',
      summary: 'Keys of the account',
      description: 'Keys that work, oldest first; of replaced ones those in their grace period.',
      success: {
        description: 'The keys',
        schema: z.object({
          keys: z.array(keySchema),
          last_use_known: z.boolean().meta({ description: 'false while the tables of usage are unreachable.' }),
        }),
        example: {
          last_use_known: true,
          keys: [
            {
              id: '9f2b6c01d4e8a735',
              name: 'desk-bot',
              prefix: `${KEY_PREFIX}0f3c9b`,
              created_at: 1790035200,
              expires_at: null,
              last_used_at: 1790121600,
            },
          ],
        },
      },
      async handler(_input, context) {
        const { accountId } = requireSession(context.session);
        // A key can be revoked also while ClickHouse is unreachable.
        const uses = await deps.tables.rows<LastUse>(lastUseSql(accountId)).catch(() => null);
        const lastUse = new Map(uses?.map(({ id, at }) => [id, Number(at)]));
        const keys = deps.accounts.keysOf(accountId).filter((key) => isLive(key, context.nowMs));
        return {
          body: {
            last_use_known: uses !== null,
            keys: keys.map((key) => ({
              id: keyIdOf(key.key_hash),
              name: key.name,
              prefix: key.key_prefix,
              created_at: Math.floor(key.created_at_ms / 1000),
              expires_at: key.expires_at_ms === null ? null : Math.floor(key.expires_at_ms / 1000),
              last_used_at: lastUse.get(keyIdOf(key.key_hash)) ?? null,
            })),
          },
        };
      },
    }),
    defineRoute({
      ...common,
      method: 'post',
      path: '/v1/account/keys',
      jsonOnly: true,
      summary: 'Create a key',
      description: 'Within the number of keys of the plan. The raw key is shown once and stored only as SHA-256.',
      body: jsonBody({ name: nameField }),
      success: { status: 201, description: 'The key', schema: newKeySchema, example: newKeyExample },
      otherResponses: conflict('The plan allows no further key', KEY_LIMIT),
      async handler({ body: { name } }, context) {
        const session = requireSession(context.session);
        const rawKey = newRawKey();
        const hash = hashKey(rawKey);
        const outcome = await deps.decide(
          {
            'oddstream.CreateKey': {
              account_id: session.accountId,
              key_hash: hash,
              key_prefix: displayedKeyPrefix(rawKey),
              name,
            },
          },
          { author: userAuthor(session.userId) },
        );
        assertAccepted('CreateKey', outcome);
        return { body: { id: keyIdOf(hash), name, api_key: rawKey } };
      },
    }),
    defineRoute({
      ...common,
      method: 'patch',
      path: '/v1/account/keys/{id}',
      jsonOnly: true,
      summary: 'Rename a key',
      params,
      body: jsonBody({ name: nameField }),
      success: {
        description: 'The new name',
        schema: z.object({ id: z.string(), name: z.string() }),
        example: { id: '9f2b6c01d4e8a735', name: 'desk-bot' },
      },
      otherResponses: unknownOrReplacedKey,
      async handler({ params: { id }, body: { name } }, context) {
        const session = requireSession(context.session);
        const key = keyOf(session.accountId, id, context.nowMs);
        const command = { account_id: session.accountId, key_hash: key.key_hash, name };
        const author = userAuthor(session.userId);
        assertAccepted('RenameKey', await deps.decide({ 'oddstream.RenameKey': command }, { author }));
        return { body: { id, name } };
      },
    }),
    defineRoute({
      ...common,
      method: 'post',
      path: '/v1/account/keys/{id}/rotate',
      jsonOnly: true,
      summary: 'Replace a key',
      description:
        'The new key takes over the name and the copy-PnL pool. The replaced key works for `grace_seconds` more, at most 7 days, and can be revoked before. As many replaced keys can work as the plan has keys; beyond that a key is replaced with `grace_seconds` 0 only.',
      params,
      body: jsonBody({
        grace_seconds: z
          .int({ error: 'Invalid grace_seconds. Use a whole number.' })
          .min(0, 'Invalid grace_seconds. Min 0')
          .max(MAX_GRACE_S, `Invalid grace_seconds. Max ${MAX_GRACE_S}`),
      }),
      success: { status: 201, description: 'The new key', schema: newKeySchema, example: newKeyExample },
      otherResponses: {
        ...unknownOrReplacedKey,
        ...conflict('As many replaced keys as the plan has keys still work', REPLACED_KEY_LIMIT),
      },
      async handler({ params: { id }, body }, context) {
        const session = requireSession(context.session);
        const key = keyOf(session.accountId, id, context.nowMs);
        const rawKey = newRawKey();
        const newHash = hashKey(rawKey);
        const outcome = await deps.decide(
          {
            'oddstream.RotateKey': {
              account_id: session.accountId,
              key_hash: key.key_hash,
              new_key_hash: newHash,
              new_key_prefix: displayedKeyPrefix(rawKey),
              grace_ms: body.grace_seconds * 1000,
            },
          },
          { author: userAuthor(session.userId) },
        );
        assertAccepted('RotateKey', outcome);
        return { body: { id: keyIdOf(newHash), name: key.name, api_key: rawKey } };
      },
    }),
    defineRoute({
      ...common,
      method: 'delete',
      path: '/v1/account/keys/{id}',
      summary: 'Revoke a key',
      description: 'Takes effect within a second; open sockets of the key are closed.',
      params,
      success: {
        description: 'The key does not work any more',
        schema: z.object({ revoked: z.literal(true) }),
        example: { revoked: true },
      },
      otherResponses: unknownKey,
      async handler({ params: { id } }, context) {
        const session = requireSession(context.session);
        const key = keyOf(session.accountId, id, context.nowMs);
        const command = { account_id: session.accountId, key_hash: key.key_hash };
        const author = userAuthor(session.userId);
        assertAccepted('RevokeKey', await deps.decide({ 'oddstream.RevokeKey': command }, { author }));
        return { body: { revoked: true as const } };
      },
    }),
  ];
}
