import { commonLimits, plans } from '../../schemas/plans.js';
import type {
  Account,
  AccountCommand,
  AccountState,
  CreateFreeKey,
  CreateKey,
  Key,
  Outcome,
  PoolChange,
} from '../../schemas/types.gen.js';
import { addToPool, type PoolResult, removeFromPool } from './pool.js';
import { type AccountsState, applyChange, type EntityChange, entityOf } from './state.js';

/** Number of later outcomes, or milliseconds of command time, after which an outcome is removed. */
export const MAX_OUTCOMES = 10_000;
const OUTCOME_RETENTION_MS = 24 * 3_600_000;
/** Days before the day of a command whose first-wins records are retained. */
const IP_RETENTION_DAYS = 2;

type States = readonly AccountState['state'][];
interface CommandResult {
  readonly code: string;
  readonly accountId: string | null;
  readonly changes: States;
  /** Entities that no longer exist. */
  readonly removed?: readonly string[];
  /** What a pool command did. */
  readonly pool?: PoolChange;
}

const reject = (code: string, accountId: string | null): CommandResult => ({ code, accountId, changes: [] });
const accept = (accountId: string, ...changes: States): CommandResult => ({ code: 'ok', accountId, changes });

const newAccount = (accountId: string, plan: Account['plan'], label: string, atMs: number, activeKeys: number) => ({
  'oddstream.Account': { account_id: accountId, plan, label, created_at_ms: atMs, active_keys: activeKeys },
});
const newKey = (command: CreateKey | CreateFreeKey, atMs: number) => ({
  'oddstream.Key': {
    key_hash: command.key_hash,
    key_prefix: command.key_prefix,
    account_id: command.account_id,
    name: command.name,
    active: true,
    created_at_ms: atMs,
  },
});

/** Writes the pool only when it changed; a pool without wallets has no record. */
function changePool({ account_id, key_hash }: Key, { wallets, change }: PoolResult): CommandResult {
  const changed = change.added + change.removed > 0;
  const result = { code: 'ok', accountId: account_id, changes: [], pool: change };
  if (!changed) return result;
  if (wallets.length === 0) return { ...result, removed: [entityOf.pool(key_hash)] };
  return { ...result, changes: [{ 'oddstream.Pool': { key_hash, account_id, wallets } }] };
}

const utcDay = (ms: number): string => new Date(ms).toISOString().slice(0, 10);

function createFreeKey(state: AccountsState, command: CreateFreeKey, atMs: number): CommandResult {
  const { account_id: accountId, ip_hash: ipHash, utc_day: day } = command;
  const created = state.ipDays.get(entityOf.ipDay(ipHash, day))?.keys_created ?? 0;
  const tooOld = day < utcDay(atMs - IP_RETENTION_DAYS * 24 * 3_600_000);
  if (created >= commonLimits.freeKeysPerIpAndUtcDay || tooOld) return reject('rate_limited', null);
  if (state.accounts.has(entityOf.account(accountId))) return reject('account_exists', null);
  if (state.keys.has(entityOf.key(command.key_hash))) return reject('duplicate_key', null);
  return accept(accountId, newAccount(accountId, 'free', command.name, atMs, 1), newKey(command, atMs), {
    'oddstream.IpDay': { ip_hash: ipHash, utc_day: day, keys_created: created + 1 },
  });
}

/** Outcome and entity changes of a command. Pure. */
function evaluateCommand(state: AccountsState, { command, issued_at_ms: atMs }: AccountCommand): CommandResult {
  if ('oddstream.CreateFreeKey' in command) return createFreeKey(state, command['oddstream.CreateFreeKey'], atMs);
  if ('oddstream.CreateAccount' in command) {
    const { account_id: id, plan, label } = command['oddstream.CreateAccount'];
    return state.accounts.has(entityOf.account(id))
      ? reject('account_exists', id)
      : accept(id, newAccount(id, plan, label, atMs, 0));
  }
  const wish = Object.values(command)[0] as { account_id: string };
  const account = state.accounts.get(entityOf.account(wish.account_id));
  if (account === undefined) return reject('unknown_account', null);
  const id = account.account_id;
  if ('oddstream.SetPlan' in command)
    return accept(id, { 'oddstream.Account': { ...account, plan: command['oddstream.SetPlan'].plan } });
  if ('oddstream.CreateKey' in command) {
    const create = command['oddstream.CreateKey'];
    if (state.keys.has(entityOf.key(create.key_hash))) return reject('duplicate_key', id);
    if (account.active_keys >= plans[account.plan].apiKeys) return reject('key_limit', id);
    return accept(
      id,
      { 'oddstream.Account': { ...account, active_keys: account.active_keys + 1 } },
      newKey(create, atMs),
    );
  }
  const { key_hash: keyHash } = Object.values(command)[0] as { key_hash: string };
  const key = state.keys.get(entityOf.key(keyHash));
  if (key === undefined || key.account_id !== id) return reject('unknown_key', id);
  if ('oddstream.RevokeKey' in command) {
    if (!key.active) return accept(id);
    return {
      ...accept(
        id,
        { 'oddstream.Account': { ...account, active_keys: account.active_keys - 1 } },
        { 'oddstream.Key': { ...key, active: false } },
      ),
      // No other key can read it, and a revoked key is never active again.
      removed: state.pools.has(entityOf.pool(keyHash)) ? [entityOf.pool(keyHash)] : [],
    };
  }
  if (!key.active) return reject('unknown_key', id);
  const pool = state.pools.get(entityOf.pool(keyHash))?.wallets ?? [];
  if ('oddstream.AddPoolWallets' in command)
    return changePool(key, addToPool(pool, command['oddstream.AddPoolWallets'].addresses));
  return changePool(key, removeFromPool(pool, command['oddstream.RemovePoolWallets'].addresses));
}

function entityOfState(state: AccountState['state']): string {
  if ('oddstream.Account' in state) return entityOf.account(state['oddstream.Account'].account_id);
  if ('oddstream.Key' in state) return entityOf.key(state['oddstream.Key'].key_hash);
  if ('oddstream.IpDay' in state)
    return entityOf.ipDay(state['oddstream.IpDay'].ip_hash, state['oddstream.IpDay'].utc_day);
  if ('oddstream.Pool' in state) return entityOf.pool(state['oddstream.Pool'].key_hash);
  throw new Error('An outcome has no entity');
}

/** Tombstones for outcomes and first-wins records that no later command needs. */
function expiredEntries(state: AccountsState, atMs: number): EntityChange[] {
  const expired: string[] = [];
  let surplus = state.outcomes.size - MAX_OUTCOMES;
  for (const [entity, { atMs: then }] of state.outcomes) {
    if (surplus <= 0 && then > atMs - OUTCOME_RETENTION_MS) break;
    expired.push(entity);
    surplus -= 1;
  }
  const firstDay = utcDay(atMs - IP_RETENTION_DAYS * 24 * 3_600_000);
  for (const [entity, { utc_day: day }] of state.ipDays) {
    if (day >= firstDay) break;
    expired.push(entity);
  }
  return expired.map((entity) => ({ entity, value: null }));
}

/**
 * Applies one command to the state and returns the records to append to accounts.state: changed entities, the outcome, and tombstones of
 * expired entries. Empty for a command that was decided before. All times come from the command, so the result is deterministic.
 */
export function applyCommand(state: AccountsState, command: AccountCommand): readonly EntityChange[] {
  const outcomeEntity = entityOf.outcome(command.id);
  if (state.outcomes.has(outcomeEntity)) return [];
  const result = evaluateCommand(state, command);
  const outcome: Outcome = {
    accepted: result.code === 'ok',
    code: result.code,
    account_id: result.accountId,
    pool: result.pool ?? null,
  };
  const record = (entity: string, value: AccountState['state']): EntityChange => ({
    entity,
    value: { entity, updated_at_ms: command.issued_at_ms, command_id: command.id, state: value },
  });
  const changes = [
    ...result.changes.map((value) => record(entityOfState(value), value)),
    ...(result.removed ?? []).map((entity) => ({ entity, value: null })),
    record(outcomeEntity, { 'oddstream.Outcome': outcome }),
  ];
  for (const change of changes) applyChange(state, change);
  const forgotten = expiredEntries(state, command.issued_at_ms);
  for (const change of forgotten) applyChange(state, change);
  return [...changes, ...forgotten];
}
