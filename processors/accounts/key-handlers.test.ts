import { beforeEach, describe, expect, it } from 'vitest';
import { plans } from '../../schemas/plans.js';
import type { AccountCommand, CustomLimits, Plan } from '../../schemas/types.gen.js';
import { applyCommand } from './apply-command.js';
import { type AccountsState, createAccountsState, type EntityChange } from './state.js';
import { noLimits } from './testing/no-limits.js';

const START = Date.UTC(2026, 8, 1);
const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;

let state: AccountsState;
let commands = 0;
let changes: readonly EntityChange[] = [];
beforeEach(() => {
  state = createAccountsState();
});

/** Applies a command and returns the code of its outcome. */
function run(command: AccountCommand['command'], atMs = START): string {
  const id = `c${++commands}`;
  changes = applyCommand(state, { id, issued_at_ms: atMs, command, author: 'user:u' });
  const outcome = changes.find(({ entity }) => entity === `outcome:${id}`)?.value?.state;
  return outcome !== undefined && 'oddstream.Outcome' in outcome ? outcome['oddstream.Outcome'].code : 'nothing';
}
const acme = { account_id: 'acme' };
const createAccount = (plan: Plan) => run({ 'oddstream.CreateAccount': { ...acme, plan, label: 'Acme' } });
const createKey = (hash: string, atMs = START) =>
  run({ 'oddstream.CreateKey': { ...acme, key_hash: hash, key_prefix: 'p', name: `name of ${hash}` } }, atMs);
const revoke = (hash: string, atMs = START) => run({ 'oddstream.RevokeKey': { ...acme, key_hash: hash } }, atMs);
const rotate = (hash: string, next: string, graceMs: number, atMs = START) =>
  run(
    {
      'oddstream.RotateKey': { ...acme, key_hash: hash, new_key_hash: next, new_key_prefix: 'q', grace_ms: graceMs },
    },
    atMs,
  );
const rename = (hash: string, name: string) => run({ 'oddstream.RenameKey': { ...acme, key_hash: hash, name } });
const addWallets = (hash: string, addresses: readonly string[], atMs = START) =>
  run({ 'oddstream.AddPoolWallets': { ...acme, key_hash: hash, addresses: [...addresses] } }, atMs);
const limit = (limits: CustomLimits | null) => run({ 'oddstream.SetCustomLimits': { ...acme, limits } });
const key = (hash: string) => state.keys.get(`key:${hash}`);
const activeKeys = () => state.accounts.get('account:acme')?.active_keys;
const wallets = (hash: string) => state.pools.get(`pool:${hash}`)?.wallets;

describe('RotateKey', () => {
  beforeEach(() => {
    createAccount('starter');
    createKey('k1');
  });

  it('gives the new key the name and the pool, and leaves the old one until the end of its grace', () => {
    addWallets('k1', ['0xa', '0xb']);
    expect(rotate('k1', 'k2', DAY_MS)).toBe('ok');
    expect(key('k1')).toMatchObject({ active: true, expires_at_ms: START + DAY_MS, replaced_by: 'k2' });
    expect(key('k2')).toMatchObject({ name: 'name of k1', key_prefix: 'q', active: true, expires_at_ms: null });
    expect(activeKeys()).toBe(1);
    expect(wallets('k1')).toBeUndefined();
    expect(wallets('k2')).toEqual(['0xa', '0xb']);
  });

  it('names the first key of a series of rotations in every later one, also when that key is gone', () => {
    rotate('k1', 'k2', 0);
    rotate('k2', 'k3', DAY_MS);
    expect(key('k1')).toBeUndefined();
    expect([key('k2'), key('k3')].map((one) => one?.first_key_hash)).toEqual(['k1', 'k1']);
    createKey('k4');
    expect(key('k4')?.first_key_hash).toBeNull();
  });

  it('lets both keys change the one pool while the old key works', () => {
    rotate('k1', 'k2', DAY_MS);
    expect(addWallets('k1', ['0xc'])).toBe('ok');
    expect(wallets('k2')).toEqual(['0xc']);
    expect(addWallets('k1', ['0xd'], START + DAY_MS)).toBe('unknown_key');
    expect(addWallets('k2', ['0xd'], START + DAY_MS)).toBe('ok');
    expect(wallets('k2')).toEqual(['0xc', '0xd']);
  });

  it('keeps the pool reachable from a key whose successor was itself replaced at once', () => {
    rotate('k1', 'k2', DAY_MS);
    expect(rotate('k2', 'k3', 0)).toBe('ok');
    expect(key('k2')).toBeUndefined();
    expect(addWallets('k1', ['0xc'])).toBe('ok');
    expect(wallets('k3')).toEqual(['0xc']);
  });

  it('removes the old key with a tombstone at the end of its grace, at the next command', () => {
    rotate('k1', 'k2', HOUR_MS);
    rename('k2', 'before');
    expect(key('k1')).toBeDefined();
    createKey('k3', START + HOUR_MS);
    expect(changes.filter(({ value }) => value === null)).toEqual([{ entity: 'key:k1', value: null }]);
    expect(key('k1')).toBeUndefined();
    expect(activeKeys()).toBe(2);
  });

  it('rejects a grace beyond seven days, a known key, and a key that is revoked or replaced', () => {
    expect(rotate('k1', 'k2', 7 * DAY_MS + 1)).toBe('invalid_grace');
    expect(rotate('k1', 'k2', -1)).toBe('invalid_grace');
    expect(rotate('k1', 'k1', 0)).toBe('duplicate_key');
    expect(rotate('k1', 'k2', 7 * DAY_MS)).toBe('ok');
    expect(rotate('k1', 'k3', 0)).toBe('unknown_key');
    expect(rename('k1', 'old')).toBe('unknown_key');
    revoke('k2');
    expect(rotate('k2', 'k3', 0)).toBe('unknown_key');
  });

  it('allows as many replaced keys that still work as the plan has keys; revoking one makes room', () => {
    expect([2, 3, 4].map((n) => rotate(`k${n - 1}`, `k${n}`, DAY_MS))).toEqual(['ok', 'ok', 'ok']);
    expect(rotate('k4', 'k5', DAY_MS)).toBe('key_limit');
    expect(rotate('k4', 'k5', DAY_MS, START + DAY_MS)).toBe('ok');
    expect(rotate('k5', 'k6', 0)).toBe('ok');
    expect(activeKeys()).toBe(1);
  });
});

describe('RevokeKey', () => {
  it('ends a replaced key at once and does not count it again', () => {
    createAccount('starter');
    createKey('k1');
    rotate('k1', 'k2', DAY_MS);
    expect(revoke('k1')).toBe('ok');
    expect(key('k1')).toMatchObject({ active: false });
    expect(activeKeys()).toBe(1);
    expect(revoke('k2')).toBe('ok');
    expect(activeKeys()).toBe(0);
  });

  it('retains the newest 50 revoked keys', () => {
    createAccount('free');
    for (let n = 0; n < 55; n++) {
      expect(createKey(`k${n}`)).toBe('ok');
      revoke(`k${n}`);
    }
    createKey('last');
    expect([...state.keys.keys()]).toEqual([...Array.from({ length: 50 }, (_, n) => `key:k${n + 5}`), 'key:last']);
  });
});

describe('SetCustomLimits', () => {
  it('replaces single numbers of the plan, among them the number of keys', () => {
    createAccount('starter');
    expect(limit({ ...noLimits, api_keys: 4 })).toBe('ok');
    expect([1, 2, 3, 4, 5].map((n) => createKey(`k${n}`))).toEqual(['ok', 'ok', 'ok', 'ok', 'key_limit']);
    expect(limit(null)).toBe('ok');
    expect(state.accounts.get('account:acme')?.custom_limits).toBeNull();
    revoke('k1');
    expect(createKey('k6')).toBe('key_limit');
  });

  it('rejects negative numbers and numbers that a process could not bear', () => {
    createAccount('enterprise');
    expect(limit({ ...noLimits, standard_per_minute: -1 })).toBe('invalid_limits');
    expect(limit({ ...noLimits, filter_items_per_subscription: 125_001 })).toBe('invalid_limits');
    expect(limit({ ...noLimits, filter_items_per_subscription: 125_000 })).toBe('ok');
    expect(plans.enterprise.filterItemsPerSubscription).toBe(100_000);
  });
});

describe('DeleteAccount', () => {
  const session = { session_hash: 's1', session_expires_at_ms: START + DAY_MS };
  const link = (hash: string) =>
    run({
      'oddstream.CreateLink': {
        account_id: 'acme',
        user_id: 'u1',
        link_hash: hash,
        purpose: 'sign_in',
        email: 'a@example.com',
        expires_at_ms: START + HOUR_MS,
      },
    });

  it('revokes all keys and removes users, sessions, links, pools and names; the account stays', () => {
    link('l1');
    run({ 'oddstream.UseLink': { ...acme, link_hash: 'l1', password_hash: null, ...session } });
    link('l2');
    createKey('k1');
    addWallets('k1', ['0xa']);
    rotate('k1', 'k2', DAY_MS);
    expect([state.users.size, state.sessions.size, state.links.size, state.pools.size]).toEqual([1, 1, 1, 1]);

    expect(run({ 'oddstream.DeleteAccount': acme }, START + 1)).toBe('ok');
    expect([state.users.size, state.sessions.size, state.links.size, state.pools.size]).toEqual([0, 0, 0, 0]);
    expect(state.accounts.get('account:acme')).toMatchObject({ deleted_at_ms: START + 1, active_keys: 0, label: '' });
    expect([key('k1'), key('k2')]).toMatchObject([
      { active: false, name: '' },
      { active: false, name: '' },
    ]);
    expect(run({ 'oddstream.DeleteAccount': acme }, START + 2)).toBe('ok');
    expect(state.accounts.get('account:acme')?.deleted_at_ms).toBe(START + 1);
    expect([createKey('k3'), rename('k2', 'x'), revoke('k2'), limit(null)]).toEqual(Array(4).fill('unknown_account'));
    expect(run({ 'oddstream.SetPlan': { ...acme, plan: 'growth' } })).toBe('unknown_account');
  });

  it('lets the email sign up again, for another account', () => {
    link('l1');
    run({ 'oddstream.UseLink': { ...acme, link_hash: 'l1', password_hash: null, ...session } });
    run({ 'oddstream.DeleteAccount': acme });
    run({
      'oddstream.CreateLink': {
        account_id: 'other',
        user_id: 'u2',
        link_hash: 'l2',
        purpose: 'sign_in',
        email: 'a@example.com',
        expires_at_ms: START + HOUR_MS,
      },
    });
    const second = { account_id: 'other', link_hash: 'l2', password_hash: null, ...session, session_hash: 's2' };
    expect(run({ 'oddstream.UseLink': second })).toBe('ok');
    expect(state.users.get('user:u2')).toMatchObject({ account_id: 'other' });
  });
});

describe('expired entries', () => {
  it('are removed in order of their expiry, at most 100 per command', () => {
    createAccount('free');
    for (let n = 0; n < 150; n++) {
      run({
        'oddstream.CreateLink': {
          account_id: `a${n}`,
          user_id: `u${n}`,
          link_hash: `l${n}`,
          purpose: 'sign_in',
          email: `${n}@example.com`,
          expires_at_ms: START + 1_000 + ((n * 7) % 150),
        },
      });
    }
    expect(state.links.size).toBe(150);
    createKey('k1', START + 999);
    expect(state.links.size).toBe(150);
    createKey('k2', START + 1_009);
    expect(state.links.size).toBe(140);
    createKey('k3', START + 5_000);
    expect(state.links.size).toBe(40);
    createKey('k4', START + 5_000);
    expect(state.links.size).toBe(0);
    expect(state.expiries.size).toBe(0);
  });
});
