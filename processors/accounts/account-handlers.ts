import { commonLimits, customLimitBounds } from '../../schemas/plans.js';
import type { Account, CustomLimits } from '../../schemas/types.gen.js';
import { accept, type CommandHandlers, reject } from './command-result.js';
import { newKey } from './key-handlers.js';
import { entitiesOf, entityOf, linkEntitiesOf, openAccount } from './state.js';

/** Days before the day of a command whose first-wins records are retained. */
export const IP_RETENTION_DAYS = 2;

export const utcDay = (ms: number): string => new Date(ms).toISOString().slice(0, 10);

export const newAccount = (
  accountId: string,
  plan: Account['plan'],
  label: string,
  atMs: number,
  activeKeys: number,
) => ({
  'oddstream.Account': {
    account_id: accountId,
    plan,
    label,
    created_at_ms: atMs,
    active_keys: activeKeys,
    custom_limits: null,
    ledger_entries: 0,
    deleted_at_ms: null,
    terms_since_ms: 0,
  },
});

const areValidLimits = (limits: CustomLimits): boolean =>
  Object.entries(customLimitBounds).every(([name, most]) => {
    const value = limits[name as keyof CustomLimits];
    return value === null || (Number.isInteger(value) && value >= 0 && value <= most);
  });

const areSameLimits = (a: CustomLimits | null, b: CustomLimits | null): boolean =>
  (Object.keys(customLimitBounds) as (keyof CustomLimits)[]).every(
    (name) => (a?.[name] ?? null) === (b?.[name] ?? null),
  );

/** Accounts, their plans and limits, and free keys without sign-in. */
export const accountHandlers: CommandHandlers<
  'CreateAccount' | 'CreateFreeKey' | 'SetPlan' | 'SetCustomLimits' | 'DeleteAccount'
> = {
  CreateAccount(state, { account_id: id, plan, label }, { atMs }) {
    if (state.accounts.has(entityOf.account(id))) return reject('account_exists', id);
    return accept(id, newAccount(id, plan, label, atMs, 0));
  },
  CreateFreeKey(state, command, { atMs }) {
    const { account_id: accountId, ip_hash: ipHash, utc_day: day } = command;
    const created = state.ipDays.get(entityOf.ipDay(ipHash, day))?.keys_created ?? 0;
    const tooOld = day < utcDay(atMs - IP_RETENTION_DAYS * 24 * 3_600_000);
    if (created >= commonLimits.freeKeysPerIpAndUtcDay || tooOld) return reject('rate_limited', null);
    if (state.accounts.has(entityOf.account(accountId))) return reject('account_exists', null);
    if (state.keys.has(entityOf.key(command.key_hash))) return reject('duplicate_key', null);
    return accept(accountId, newAccount(accountId, 'free', command.name, atMs, 1), newKey(command, atMs), {
      'oddstream.IpDay': { ip_hash: ipHash, utc_day: day, keys_created: created + 1 },
    });
  },
  SetPlan(state, { account_id: id, plan }, { atMs }) {
    const account = openAccount(state, id);
    if (account === undefined) return reject('unknown_account', null);
    const since = plan === account.plan ? account.terms_since_ms : atMs;
    return accept(id, { 'oddstream.Account': { ...account, plan, terms_since_ms: since } });
  },
  SetCustomLimits(state, { account_id: id, limits }, { atMs }) {
    const account = openAccount(state, id);
    if (account === undefined) return reject('unknown_account', null);
    if (limits !== null && !areValidLimits(limits)) return reject('invalid_limits', id);
    const since = areSameLimits(limits, account.custom_limits) ? account.terms_since_ms : atMs;
    return accept(id, { 'oddstream.Account': { ...account, custom_limits: limits, terms_since_ms: since } });
  },
  DeleteAccount(state, { account_id: id }, { atMs }) {
    const account = state.accounts.get(entityOf.account(id));
    if (account === undefined) return reject('unknown_account', null);
    if (account.deleted_at_ms !== null) return accept(id);
    const revoked = entitiesOf(state, id, 'key').flatMap((entity) => {
      const key = state.keys.get(entity);
      // The name is its owner's text.
      return key === undefined ? [] : [{ 'oddstream.Key': { ...key, active: false, name: '' } }];
    });
    const deleted = { ...account, label: '', active_keys: 0, deleted_at_ms: atMs };
    const owned = ['user', 'session', 'link', 'pool'].flatMap((kind) => entitiesOf(state, id, kind));
    // Links that were mailed before the account existed name another one.
    const mailed = entitiesOf(state, id, 'user').flatMap((entity) =>
      linkEntitiesOf(state, state.users.get(entity)?.email),
    );
    return {
      ...accept(id, { 'oddstream.Account': deleted }, ...revoked),
      removed: [...new Set([...owned, ...mailed])],
    };
  },
};
