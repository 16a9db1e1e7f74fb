import fc from 'fast-check';
import { expect, it } from 'vitest';
import { createCodec } from '../../schemas/codec.js';
import { usagePackages } from '../../schemas/packages.js';
import { accountTerms } from '../../schemas/plans.js';
import type { AccountCommand } from '../../schemas/types.gen.js';
import { applyCommand } from './apply-command.js';
import { type AccountsState, applyChange, createAccountsState } from './state.js';
import { noLimits } from './testing/no-limits.js';

const codec = createCodec();
const START = Date.UTC(2026, 8, 1);
const DAY_MS = 86_400_000;
type Command = AccountCommand['command'];

const account_id = fc.constantFrom('a0', 'a1', 'a2');
const key_hash = fc.constantFrom('k0', 'k1', 'k2', 'k3', 'k4', 'k5');
const user_id = fc.constantFrom('u0', 'u1');
const session_hash = fc.constantFrom('s0', 's1', 's2', 's3');
const link_hash = fc.constantFrom('l0', 'l1', 'l2');
const email = fc.constantFrom('x@example.com', 'y@example.com');
const checkout_id = fc.constantFrom('c0', 'c1');
const meter = fc.constantFrom('api_requests', 'onchain_event_bytes') as fc.Arbitrary<'api_requests'>;
const addresses = fc.array(fc.constantFrom('0xa', '0xb', '0xc'), { minLength: 1, maxLength: 3 });
const plan = fc.constantFrom('free', 'starter', 'growth') as fc.Arbitrary<'free'>;
const soon = fc.integer({ min: 1, max: 20 * DAY_MS }).map((ms) => START + ms);

const commandOf = <T extends Record<string, fc.Arbitrary<unknown>>>(name: string, fields: T) =>
  fc.record(fields).map((value) => ({ [`oddstream.${name}`]: value }) as unknown as Command);

/** Commands of all kinds on few entities, so that most of them meet. */
const kinds: Readonly<Record<string, fc.Arbitrary<Command>>> = {
  CreateAccount: commandOf('CreateAccount', { account_id, plan, label: fc.constant('label') }),
  CreateFreeKey: commandOf('CreateFreeKey', {
    account_id,
    key_hash,
    key_prefix: fc.constant('p'),
    name: fc.constant('free'),
    ip_hash: fc.constantFrom('i0', 'i1'),
    utc_day: fc.nat(20).map((day) => new Date(START + day * DAY_MS).toISOString().slice(0, 10)),
  }),
  CreateKey: commandOf('CreateKey', { account_id, key_hash, key_prefix: fc.constant('p'), name: fc.constant('n') }),
  RevokeKey: commandOf('RevokeKey', { account_id, key_hash }),
  RenameKey: commandOf('RenameKey', { account_id, key_hash, name: fc.constantFrom('n1', 'n2') }),
  RotateKey: commandOf('RotateKey', {
    account_id,
    key_hash,
    new_key_hash: key_hash,
    new_key_prefix: fc.constant('q'),
    grace_ms: fc.constantFrom(0, 3_600_000, 7 * DAY_MS),
  }),
  SetPlan: commandOf('SetPlan', { account_id, plan }),
  SetCustomLimits: commandOf('SetCustomLimits', {
    account_id,
    limits: fc.constantFrom(null, { ...noLimits, api_keys: 2 }, { ...noLimits, api_requests_per_month: 5 }),
  }),
  AddPoolWallets: commandOf('AddPoolWallets', { account_id, key_hash, addresses }),
  RemovePoolWallets: commandOf('RemovePoolWallets', { account_id, key_hash, addresses }),
  CreateLink: commandOf('CreateLink', {
    account_id,
    user_id,
    link_hash,
    purpose: fc.constantFrom('sign_in', 'reset_password'),
    email,
    expires_at_ms: soon,
  }),
  UseLink: commandOf('UseLink', {
    account_id,
    link_hash,
    session_hash,
    session_expires_at_ms: soon,
    password_hash: fc.constantFrom(null, 'p1'),
  }),
  StartSession: commandOf('StartSession', {
    account_id,
    user_id,
    password_hash: fc.constantFrom('p1', 'p2'),
    session_hash,
    session_expires_at_ms: soon,
  }),
  SignInWithProvider: commandOf('SignInWithProvider', {
    account_id,
    user_id,
    issuer: fc.constant('https://id.example'),
    subject: fc.constantFrom('1', '2'),
    email,
    email_verified: fc.boolean(),
    session_hash,
    session_expires_at_ms: soon,
  }),
  EndSessions: commandOf('EndSessions', {
    account_id,
    user_id,
    session_hash: fc.option(session_hash),
    except_session_hash: fc.option(session_hash),
  }),
  SetPassword: commandOf('SetPassword', {
    account_id,
    user_id,
    password_hash: fc.constantFrom('p1', 'p2'),
    keep_session_hash: session_hash,
  }),
  DeleteAccount: commandOf('DeleteAccount', { account_id }),
  StartCheckout: fc
    .tuple(account_id, checkout_id, meter, fc.integer({ min: 1, max: 3 }))
    .map(([id, checkout, m, n]) => ({
      'oddstream.StartCheckout': {
        account_id: id,
        checkout_id: checkout,
        meter: m,
        count: n,
        amount_cents: n * usagePackages.priceCents,
        provider: 'test',
        provider_ref: checkout,
      },
    })),
  CompleteCheckout: commandOf('CompleteCheckout', {
    account_id,
    checkout_id,
    payment_ref: fc.constant('r'),
    amount_cents: fc.constantFrom(2_000, 4_000),
    paid_at_ms: soon,
  }),
  ExpireCheckout: commandOf('ExpireCheckout', { account_id, checkout_id }),
  SetRefund: commandOf('SetRefund', {
    account_id,
    checkout_id,
    refunded_cents: fc.constantFrom(0, 500, 2_000),
    failed_cents: fc.constantFrom(0, 500),
    reason: fc.constantFrom('refund', 'dispute', 'dispute_won', 'dispute_lost'),
    dispute_id: fc.constantFrom(null, 'd0', 'd1'),
    occurred_at_ms: soon,
  }),
  GrantCourtesy: commandOf('GrantCourtesy', {
    account_id,
    grant_id: fc.constantFrom('g0', 'g1'),
    meter,
    quantity: fc.integer({ min: 1, max: 100 }),
    expires_at_ms: soon,
    note: fc.constant(''),
  }),
  SettleUsage: commandOf('SettleUsage', {
    account_id,
    meter,
    period_start_ms: fc.constantFrom(START, START + DAY_MS),
    used: fc.integer({ min: 0, max: 200_000 }),
  }),
};

/** Commands of two api instances whose clocks differ by up to a second; an id may repeat. */
const commands = fc
  .array(
    fc.record({
      id: fc.nat(120),
      instance: fc.constantFrom(0, 1),
      waitedMs: fc.constantFrom(0, 10, 3_600_000, DAY_MS),
      command: fc.oneof(...Object.values(kinds)),
    }),
    { minLength: 1, maxLength: 120, size: 'max' },
  )
  .map((list) => {
    let atMs = START;
    return list.map(({ id, instance, waitedMs, command }): AccountCommand => {
      atMs += waitedMs;
      return { id: String(id), issued_at_ms: atMs - instance * 1_000, command, author: `user:${instance}` };
    });
  });

/** Applies the commands, restarting before those of `restarts` from the compacted records. Returns the records in order, encoded. */
function runWith(list: readonly AccountCommand[], restarts: ReadonlySet<number>) {
  let state = createAccountsState();
  const compacted = new Map<string, Buffer | null>();
  const records: string[] = [];
  list.forEach((command, index) => {
    if (restarts.has(index)) {
      state = createAccountsState();
      for (const [entity, bytes] of compacted) {
        const event = bytes === null ? undefined : codec.decode(bytes);
        applyChange(state, { entity, value: event?.kind === 'account_state' ? event.value : null });
      }
    }
    for (const { entity, value } of applyCommand(state, command)) {
      const bytes = value === null ? null : Buffer.from(codec.encode('account_state', value));
      // Compaction retains the newest record of an entity at its own position.
      compacted.delete(entity);
      compacted.set(entity, bytes);
      records.push(`${entity} ${bytes?.toString('hex') ?? 'removed'}`);
    }
    checkInvariants(state);
  });
  return { records, state };
}

function checkInvariants(state: AccountsState): void {
  for (const account of state.accounts.values()) {
    const keys = [...state.keys.values()].filter((key) => key.account_id === account.account_id);
    const counted = keys.filter((key) => key.active && key.replaced_by === null);
    expect(account.active_keys).toBe(counted.length);
    if (account.deleted_at_ms === null) continue;
    expect(keys.some(({ active }) => active)).toBe(false);
    for (const map of [state.users, state.sessions, state.pools])
      expect([...map.values()].some((one) => one.account_id === account.account_id)).toBe(false);
  }
  const emails = [...state.users.values()].map((user) => user.email);
  expect(new Set(emails).size).toBe(emails.length);
  for (const pool of state.pools.values())
    expect(state.keys.get(`key:${pool.key_hash}`)).toMatchObject({ active: true, replaced_by: null });
  for (const session of state.sessions.values()) expect(state.users.has(`user:${session.user_id}`)).toBe(true);
}

it('writes the same bytes for any interleaving of all commands, wherever the processor restarts', () => {
  fc.assert(
    fc.property(commands, fc.array(fc.nat(119), { maxLength: 4 }), (list, restarts) => {
      expect(runWith(list, new Set(restarts)).records).toEqual(runWith(list, new Set()).records);
    }),
    { numRuns: 400 },
  );
});

it('is tested with commands of every kind that are accepted', () => {
  // A fixed seed: some random sets of histories have no accepted command of a rare kind.
  const accepted = new Set<string>();
  for (const list of fc.sample(commands, { numRuns: 1_000, seed: 21 })) {
    const { outcomes } = runWith(list, new Set()).state;
    for (const { id, command } of list)
      if (outcomes.get(`outcome:${id}`)?.outcome?.accepted === true) accepted.add(Object.keys(command)[0] ?? '');
  }
  expect([...accepted].sort()).toEqual(
    Object.keys(kinds)
      .map((name) => `oddstream.${name}`)
      .sort(),
  );
});

it('never counts more keys than the terms allow, whatever the order of creations, rotations and revocations', () => {
  const { CreateAccount, CreateKey, RevokeKey, RotateKey, RenameKey } = kinds as Required<typeof kinds>;
  const relevant = fc.array(
    fc.oneof(...[CreateAccount, CreateKey, RevokeKey, RotateKey, RenameKey].flatMap((k) => k ?? [])),
    {
      maxLength: 80,
      size: 'max',
    },
  );
  fc.assert(
    fc.property(relevant, (list) => {
      const state = createAccountsState();
      list.forEach((command, n) => {
        applyCommand(state, { id: `c${n}`, issued_at_ms: START + n, command, author: 'system' });
        for (const account of state.accounts.values())
          expect(account.active_keys).toBeLessThanOrEqual(accountTerms(account).apiKeys);
      });
    }),
    { numRuns: 200 },
  );
});

it('lets one of two concurrent first requests win, in either order', () => {
  const free = (n: number): AccountCommand => ({
    id: `f${n}`,
    issued_at_ms: START,
    author: 'system',
    command: {
      'oddstream.CreateFreeKey': {
        account_id: `a${n}`,
        key_hash: `k${n}`,
        key_prefix: 'p',
        name: 'n',
        ip_hash: 'one network',
        utc_day: '2026-09-01',
      },
    },
  });
  const provider = (n: number): AccountCommand => ({
    id: `p${n}`,
    issued_at_ms: START,
    author: 'system',
    command: {
      'oddstream.SignInWithProvider': {
        account_id: `b${n}`,
        user_id: `u${n}`,
        issuer: 'https://id.example',
        subject: '1',
        email: 'x@example.com',
        email_verified: true,
        session_hash: `s${n}`,
        session_expires_at_ms: START + DAY_MS,
      },
    },
  });
  for (const order of [
    [free(1), free(2), provider(1), provider(2)],
    [provider(2), free(2), provider(1), free(1)],
  ]) {
    const { state } = runWith(order, new Set([1, 2, 3]));
    const accountsOf = (prefix: string) =>
      [...state.accounts.keys()].filter((id) => id.startsWith(`account:${prefix}`));
    const first = order.find(({ id }) => id.startsWith('f'))?.id.slice(1);
    expect(accountsOf('a')).toEqual([`account:a${first}`]);
    expect(accountsOf('b')).toHaveLength(1);
    expect(state.users.size).toBe(1);
    expect(state.sessions.size).toBe(2);
  }
});
