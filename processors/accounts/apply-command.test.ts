import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { commonLimits } from '../../schemas/plans.js';
import type { AccountCommand, Plan } from '../../schemas/types.gen.js';
import { applyCommand, MAX_OUTCOMES } from './apply-command.js';
import { type AccountsState, applyChange, createAccountsState } from './state.js';

const DAY_MS = 86_400_000;
const START = Date.UTC(2026, 8, 1);
const day = (ms: number) => new Date(ms).toISOString().slice(0, 10);

const freeKey = (n: number, ip: string, atMs = START, id = `free-${n}`): AccountCommand => ({
  id,
  issued_at_ms: atMs,
  command: {
    'oddstream.CreateFreeKey': {
      account_id: `a${n}`,
      key_hash: `k${n}`,
      key_prefix: 'p',
      name: 'unnamed',
      ip_hash: ip,
      utc_day: day(atMs),
    },
  },
  author: 'system',
});
const accountCommand = (id: string, command: AccountCommand['command'], atMs = START): AccountCommand => ({
  id,
  issued_at_ms: atMs,
  command,
  author: 'system',
});

/** Code of the outcome, and whether anything else changed. */
function run(state: AccountsState, command: AccountCommand): string {
  const changes = applyCommand(state, command);
  const outcome = changes.find((change) => change.entity === `outcome:${command.id}`);
  if (outcome?.value == null || !('oddstream.Outcome' in outcome.value.state)) return 'nothing';
  return outcome.value.state['oddstream.Outcome'].code;
}

describe('applyCommand', () => {
  it('creates one free key per address and UTC day', () => {
    const state = createAccountsState();
    expect(run(state, freeKey(1, 'ip'))).toBe('ok');
    expect(run(state, freeKey(2, 'ip'))).toBe('rate_limited');
    expect(run(state, freeKey(3, 'other'))).toBe('ok');
    expect(run(state, freeKey(4, 'ip', START + DAY_MS))).toBe('ok');
    expect(run(state, freeKey(5, 'ip', START + 2 * DAY_MS - 1))).toBe('rate_limited');
    expect(state.accounts.get('account:a1')).toMatchObject({ plan: 'free', active_keys: 1 });
    expect(state.keys.has('key:k2')).toBe(false);
  });

  it('limits active keys by plan, and rejects commands for unknown accounts and keys', () => {
    const state = createAccountsState();
    const createKey = (n: number) =>
      accountCommand(`c${n}`, {
        'oddstream.CreateKey': { account_id: 'acme', key_hash: `k${n}`, key_prefix: 'p', name: 'n' },
      });
    const revoke = (id: string, hash: string, account = 'acme') =>
      accountCommand(id, { 'oddstream.RevokeKey': { account_id: account, key_hash: hash } });
    expect(run(state, createKey(0))).toBe('unknown_account');
    const create = { 'oddstream.CreateAccount': { account_id: 'acme', plan: 'starter' as Plan, label: 'Acme' } };
    expect(run(state, accountCommand('a', create))).toBe('ok');
    expect(run(state, accountCommand('b', create))).toBe('account_exists');
    expect([1, 2, 3, 4].map((n) => run(state, createKey(n)))).toEqual(['ok', 'ok', 'ok', 'key_limit']);
    expect(run(state, revoke('r1', 'k9'))).toBe('unknown_key');
    expect(run(state, revoke('r2', 'k1'))).toBe('ok');
    expect(run(state, revoke('r3', 'k1'))).toBe('ok');
    expect(state.accounts.get('account:acme')?.active_keys).toBe(2);
    expect(run(state, { ...createKey(1), id: 'again' })).toBe('duplicate_key');
    expect(run(state, createKey(5))).toBe('ok');
    expect(run(state, accountCommand('p', { 'oddstream.SetPlan': { account_id: 'acme', plan: 'growth' } }))).toBe('ok');
    expect(run(state, createKey(6))).toBe('ok');
    expect(run(state, freeKey(7, 'ip'))).toBe('ok');
    expect(run(state, revoke('r4', 'k2', 'a7'))).toBe('unknown_key');
  });

  it('keeps a pool of wallets per key: counts, the cap of 1,000, and none for a revoked key', () => {
    const state = createAccountsState();
    const create = { account_id: 'acme', plan: 'growth' as Plan, label: '' };
    run(state, accountCommand('a', { 'oddstream.CreateAccount': create }));
    for (const key_hash of ['k1', 'k2'])
      run(
        state,
        accountCommand(key_hash, {
          'oddstream.CreateKey': { account_id: 'acme', key_hash, key_prefix: 'p', name: 'n' },
        }),
      );
    run(state, freeKey(9, 'ip'));
    const wallet = (n: number) => `0x${n.toString(16).padStart(40, '0')}`;
    let commands = 0;
    const send = (kind: 'Add' | 'Remove', wallets: readonly number[], key_hash = 'k1', account_id = 'acme') => {
      const change = { account_id, key_hash, addresses: wallets.map(wallet) };
      const command =
        kind === 'Add' ? { 'oddstream.AddPoolWallets': change } : { 'oddstream.RemovePoolWallets': change };
      const id = `pool-${++commands}`;
      const changes = applyCommand(state, accountCommand(id, command));
      const { outcome } = state.outcomes.get(`outcome:${id}`) ?? {};
      return { code: outcome?.code, pool: outcome?.pool, entities: changes.map(({ entity }) => entity) };
    };
    const poolOf = (key: string) => state.pools.get(`pool:${key}`)?.wallets;

    expect(send('Add', [7, 3, 7])).toEqual({
      code: 'ok',
      pool: { added: 2, already_tracked: 0, removed: 0, total: 2 },
      entities: ['pool:k1', 'outcome:pool-1'],
    });
    expect(send('Add', [3, 5])).toMatchObject({ pool: { added: 1, already_tracked: 1, removed: 0, total: 3 } });
    expect(poolOf('k1')).toEqual([wallet(3), wallet(5), wallet(7)]);
    // What changes nothing writes no pool.
    expect(send('Add', [5])).toEqual({
      code: 'ok',
      pool: { added: 0, already_tracked: 1, removed: 0, total: 3 },
      entities: ['outcome:pool-3'],
    });
    expect(send('Remove', [5, 99, 5])).toMatchObject({
      pool: { added: 0, already_tracked: 0, removed: 1, total: 2 },
    });
    expect(send('Remove', [5]).pool).toEqual({ added: 0, already_tracked: 0, removed: 0, total: 2 });
    expect(poolOf('k2')).toBeUndefined();

    // Two are in the pool: 998 of the 1,000 fit, in the order of the request; 2,000 and 1,999 do not.
    const descending = Array.from({ length: 1_000 }, (_, n) => 2_998 - n);
    expect(send('Add', [3, ...descending]).pool).toEqual({
      added: 998,
      already_tracked: 1,
      removed: 0,
      total: commonLimits.copyPnlPoolWallets,
    });
    expect(poolOf('k1')?.includes(wallet(2_001))).toBe(true);
    expect(poolOf('k1')?.includes(wallet(2_000))).toBe(false);
    expect(send('Add', [1_999]).pool).toEqual({ added: 0, already_tracked: 0, removed: 0, total: 1_000 });
    expect(send('Add', [1_999], 'k2').pool).toEqual({ added: 1, already_tracked: 0, removed: 0, total: 1 });

    expect(send('Add', [1], 'unknown').code).toBe('unknown_key');
    expect(send('Add', [1], 'k1', 'a9').code).toBe('unknown_key');
    expect(send('Add', [1], 'k1', 'nobody').code).toBe('unknown_account');
    // The last wallet leaves: no record remains.
    expect(send('Remove', [1_999], 'k2').entities).toEqual(['pool:k2', 'outcome:pool-12']);
    expect(poolOf('k2')).toBeUndefined();

    const revoked = applyCommand(
      state,
      accountCommand('revoke', { 'oddstream.RevokeKey': { account_id: 'acme', key_hash: 'k1' } }),
    );
    expect(revoked).toContainEqual({ entity: 'pool:k1', value: null });
    expect(poolOf('k1')).toBeUndefined();
    expect(send('Add', [1]).code).toBe('unknown_key');
  });

  it('forgets outcomes after 10,000 later ones or a day, and first-wins records after their day', () => {
    const state = createAccountsState();
    const first = applyCommand(state, freeKey(0, 'ip0'));
    expect(first.map((change) => change.entity)).toEqual([
      'account:a0',
      'key:k0',
      `ip-day:ip0:${day(START)}`,
      'outcome:free-0',
    ]);
    for (let n = 1; n < MAX_OUTCOMES; n++) applyCommand(state, freeKey(n, 'ip0'));
    expect(state.outcomes.has('outcome:free-0')).toBe(true);
    const over = applyCommand(state, freeKey(MAX_OUTCOMES, 'ip0'));
    expect(over.at(-1)).toEqual({ entity: 'outcome:free-0', value: null });
    const later = applyCommand(state, freeKey(MAX_OUTCOMES + 1, 'ip1', START + 4 * DAY_MS));
    expect(state.outcomes.size).toBe(1);
    expect(later).toContainEqual({ entity: `ip-day:ip0:${day(START)}`, value: null });
    expect(run(state, freeKey(MAX_OUTCOMES + 2, 'ip9', START, 'very late'))).toBe('ok');
    const late = accountCommand('later still', freeKey(1_000_000, 'ip0', START).command, START + 4 * DAY_MS);
    expect(run(state, late)).toBe('rate_limited');
  });

  it('agrees with a naive model, ignores repeated commands, and its records restore the state', () => {
    const caps: Record<Plan, number> = { free: 1, starter: 3, growth: 10, enterprise: 25 };
    const plan = fc.constantFrom<Plan>('free', 'starter', 'growth', 'enterprise');
    const account_id = fc.constantFrom('a', 'b', 'c');
    const key_hash = fc.integer({ min: 0, max: 14 }).map((n) => `k${n}`);
    const pool_account = fc.constantFrom('a', 'a', 'a', 'b');
    const pool_hash = fc.constantFrom('k0', 'k0', 'k1', 'k3');
    // Of 1,100 wallets up to 900 at once, so that the cap is reached.
    const addresses = fc
      .tuple(fc.nat(1_099), fc.constantFrom(0, 1, 30, 900), fc.constantFrom(1, 7, 1_099))
      .map(([first, count, step]) => Array.from({ length: count }, (_, n) => `w${(first + n * step) % 1_100}`));
    const base = { key_prefix: fc.constant('p'), name: fc.constant('n') };
    const command = fc.oneof(
      fc.record({ account_id, plan, label: fc.constant('l') }).map((c) => ({ 'oddstream.CreateAccount': c })),
      fc.record({ account_id, key_hash, ...base }).map((c) => ({ 'oddstream.CreateKey': c })),
      fc.record({ account_id, key_hash }).map((c) => ({ 'oddstream.RevokeKey': c })),
      fc.record({ account_id, plan }).map((c) => ({ 'oddstream.SetPlan': c })),
      fc
        .record({ account_id: pool_account, key_hash: pool_hash, addresses })
        .map((c): AccountCommand['command'] => ({ 'oddstream.AddPoolWallets': c })),
      fc
        .record({ account_id: pool_account, key_hash: pool_hash, addresses })
        .map((c): AccountCommand['command'] => ({ 'oddstream.RemovePoolWallets': c })),
      fc
        .record({ account_id, key_hash, ...base, ip_hash: fc.constantFrom('x', 'y'), utc_day: fc.constant(day(START)) })
        .map((c) => ({ 'oddstream.CreateFreeKey': c })),
    );
    const commands = fc.array(fc.record({ id: fc.integer({ min: 0, max: 60 }).map(String), command }), {
      maxLength: 80,
      size: 'max',
    });
    /** Keys that most of the pool commands find. */
    const prelude: readonly { readonly id: string; readonly command: AccountCommand['command'] }[] = [
      { id: 'a', command: { 'oddstream.CreateAccount': { account_id: 'a', plan: 'growth', label: 'l' } } },
      ...['k0', 'k1', 'k2'].map((key_hash) => ({
        id: key_hash,
        command: { 'oddstream.CreateKey': { account_id: 'a', key_hash, key_prefix: 'p', name: 'n' } },
      })),
    ];
    fc.assert(
      fc.property(fc.constantFrom([], prelude), commands, (first, following) => {
        const list = [...first, ...following];
        const state = createAccountsState();
        const rebuilt = createAccountsState();
        const model = {
          plans: new Map<string, Plan>(),
          owner: new Map<string, string>(),
          active: new Set<string>(),
          ips: new Set<string>(),
          done: new Map<string, string>(),
          /** In order of arrival. */
          pools: new Map<string, string[]>(),
          poolChanges: new Map<string, readonly number[]>(),
        };
        /** Walks the addresses one by one; [added, already tracked, removed, total]. */
        const changePool = (key: string, addresses: readonly string[], isAdd: boolean): readonly number[] => {
          const pool = model.pools.get(key) ?? [];
          const before = [...pool];
          const handled: string[] = [];
          const counts = { added: 0, tracked: 0, removed: 0 };
          for (const address of addresses) {
            if (handled.includes(address)) continue;
            handled.push(address);
            if (isAdd && before.includes(address)) counts.tracked += 1;
            else if (isAdd && pool.length < 1_000) {
              pool.push(address);
              counts.added += 1;
            } else if (!isAdd && pool.includes(address)) {
              pool.splice(pool.indexOf(address), 1);
              counts.removed += 1;
            }
          }
          model.pools.set(key, pool);
          return [counts.added, counts.tracked, counts.removed, pool.length];
        };
        const activeOf = (account: string) => [...model.active].filter((k) => model.owner.get(k) === account).length;
        const expected = (c: AccountCommand['command'], commandId: string): string => {
          if ('oddstream.CreateAccount' in c) {
            const { account_id: a, plan: p } = c['oddstream.CreateAccount'];
            if (model.plans.has(a)) return 'account_exists';
            model.plans.set(a, p);
            return 'ok';
          }
          if ('oddstream.CreateFreeKey' in c) {
            const { account_id: a, key_hash: k, ip_hash: ip } = c['oddstream.CreateFreeKey'];
            if (model.ips.has(ip)) return 'rate_limited';
            if (model.plans.has(a)) return 'account_exists';
            if (model.owner.has(k)) return 'duplicate_key';
            model.ips.add(ip);
            model.plans.set(a, 'free');
            model.owner.set(k, a);
            model.active.add(k);
            return 'ok';
          }
          const a = (Object.values(c)[0] as { account_id: string }).account_id;
          const current = model.plans.get(a);
          if (current === undefined) return 'unknown_account';
          if ('oddstream.SetPlan' in c) {
            model.plans.set(a, c['oddstream.SetPlan'].plan);
            return 'ok';
          }
          if ('oddstream.RevokeKey' in c) {
            const k = c['oddstream.RevokeKey'].key_hash;
            if (model.owner.get(k) !== a) return 'unknown_key';
            model.active.delete(k);
            model.pools.delete(k);
            return 'ok';
          }
          if ('oddstream.AddPoolWallets' in c || 'oddstream.RemovePoolWallets' in c) {
            const isAdd = 'oddstream.AddPoolWallets' in c;
            const { key_hash: k, addresses } = Object.values(c)[0] as {
              key_hash: string;
              addresses: readonly string[];
            };
            if (model.owner.get(k) !== a || !model.active.has(k)) return 'unknown_key';
            model.poolChanges.set(commandId, changePool(k, addresses, isAdd));
            return 'ok';
          }
          const { key_hash: k } = Object.values(c)[0] as unknown as { key_hash: string };
          if (model.owner.has(k)) return 'duplicate_key';
          if (activeOf(a) >= caps[current]) return 'key_limit';
          model.owner.set(k, a);
          model.active.add(k);
          return 'ok';
        };
        for (const { id, command: c } of list) {
          const changes = applyCommand(state, accountCommand(id, c));
          for (const change of changes) applyChange(rebuilt, change);
          if (model.done.has(id)) {
            expect(changes).toEqual([]);
            continue;
          }
          model.done.set(id, expected(c, id));
        }
        // The layout of both queues depends on removed entries.
        const comparable = (one: AccountsState) => ({ ...one, expiries: null, outcomeOrder: one.outcomeOrder.first() });
        expect(comparable(rebuilt)).toEqual(comparable(state));
        const codes = [...state.outcomes].map(([entity, { outcome }]) => [entity, outcome.code]);
        expect(codes).toEqual([...model.done].map(([id, code]) => [`outcome:${id}`, code]));
        expect([...state.accounts.values()].map((a) => [a.account_id, a.plan, a.active_keys]).sort()).toEqual(
          [...model.plans].map(([a, p]) => [a, p, activeOf(a)]).sort(),
        );
        const changed = [...state.outcomes].flatMap(
          ([
            entity,
            {
              outcome: { pool },
            },
          ]) =>
            pool === null ? [] : [[entity, [pool.added, pool.already_tracked, pool.removed, pool.total]] as const],
        );
        expect(changed).toEqual([...model.poolChanges].map(([id, counts]) => [`outcome:${id}`, counts]));
        const pools = [...model.pools].filter(([, wallets]) => wallets.length > 0);
        expect([...state.pools.values()].map((pool) => [pool.key_hash, pool.wallets]).sort()).toEqual(
          pools.map(([key, wallets]) => [key, [...wallets].sort()]).sort(),
        );
        const active = [...state.keys.values()].filter((key) => key.active).map((key) => key.key_hash);
        expect(active.sort()).toEqual([...model.active].sort());
      }),
      { numRuns: 300 },
    );
  });
});
