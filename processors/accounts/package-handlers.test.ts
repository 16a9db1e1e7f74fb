import { describe, expect, it } from 'vitest';
import { createCodec } from '../../schemas/codec.js';
import type { AccountCommand, Grant, LedgerEntry, RefundReason } from '../../schemas/types.gen.js';
import { applyCommand } from './apply-command.js';
import { createAccountsState } from './state.js';
import { noLimits } from './testing/no-limits.js';

const DAY_MS = 86_400_000;
const START = Date.UTC(2026, 8, 1);
const OCTOBER = Date.UTC(2026, 9, 1);
const NOVEMBER = Date.UTC(2026, 10, 1);
const M = 1_000_000;

/** An account of the starter plan (10 million requests a month), created on the first of September. */
function bench() {
  const state = createAccountsState();
  const ledger: LedgerEntry[] = [];
  let commands = 0;
  const run = (command: AccountCommand['command'], atMs = START): string => {
    const id = `c${++commands}`;
    const changes = applyCommand(state, { id, issued_at_ms: atMs, command, author: 'provider:test' });
    let code = '';
    for (const { value } of changes) {
      if (value !== null && 'oddstream.LedgerEntry' in value.state) ledger.push(value.state['oddstream.LedgerEntry']);
      if (value !== null && 'oddstream.Outcome' in value.state) code = value.state['oddstream.Outcome'].code;
    }
    return code;
  };
  const account_id = 'a';
  run({ 'oddstream.CreateAccount': { account_id, plan: 'starter', label: '' } });
  const meter = 'api_requests' as const;
  return {
    state,
    run,
    start: (checkout_id: string, count = 1, amount_cents = count * 2_000, atMs = START) =>
      run(
        {
          'oddstream.StartCheckout': {
            account_id,
            checkout_id,
            meter,
            count,
            amount_cents,
            provider: 'test',
            provider_ref: `ref-${checkout_id}`,
          },
        },
        atMs,
      ),
    complete: (checkout_id: string, amount_cents = 2_000, atMs = START, payment_ref = 'p') =>
      run(
        { 'oddstream.CompleteCheckout': { account_id, checkout_id, payment_ref, amount_cents, paid_at_ms: atMs } },
        atMs,
      ),
    expire: (checkout_id: string) => run({ 'oddstream.ExpireCheckout': { account_id, checkout_id } }),
    refund: (refunded_cents: number, reason: RefundReason = 'refund', dispute_id: string | null = null, atMs = START) =>
      run(
        {
          'oddstream.SetRefund': {
            account_id,
            checkout_id: 'one',
            refunded_cents,
            failed_cents: 0,
            reason,
            dispute_id,
            occurred_at_ms: atMs,
          },
        },
        atMs,
      ),
    courtesy: (grant_id: string, quantity: number, expires_at_ms: number, atMs = START) =>
      run({ 'oddstream.GrantCourtesy': { account_id, grant_id, meter, quantity, expires_at_ms, note: 'sorry' } }, atMs),
    settle: (used: number, atMs = START, period_start_ms = START) =>
      run({ 'oddstream.SettleUsage': { account_id, meter, period_start_ms, used } }, atMs),
    grant: (id: string): Grant | undefined => state.grants.get(`grant:${id}`),
    settlement: () => state.settlements.get('settled:a:api_requests'),
    /** New entries since the last call, as [kind, millions, balance in millions]. */
    entries: () => ledger.splice(0).map(({ kind, quantity, balance }) => [kind, quantity / M, balance / M]),
  };
}

describe('packages', () => {
  it('grants capacity once, by the completion of a known checkout with the right amount', () => {
    const { start, complete, grant, entries, state } = bench();
    expect(complete('one')).toBe('unknown_checkout');
    expect(start('one')).toBe('ok');
    expect(start('one')).toBe('ok');
    expect(start('one', 2)).toBe('duplicate_checkout');
    expect(grant('one')).toBeUndefined();
    expect(complete('one', 1_999)).toBe('wrong_amount');
    expect(entries()).toEqual([]);
    expect(complete('one')).toBe('ok');
    expect(complete('one')).toBe('ok');
    expect(complete('one', 2_000, START, 'another')).toBe('already_paid');
    expect(entries()).toEqual([['granted', 10, 10]]);
    expect(grant('one')).toMatchObject({ kind: 'package', quantity: 10 * M, expires_at_ms: START + 90 * DAY_MS });
    expect(state.accounts.get('account:a')?.ledger_entries).toBe(1);
  });

  it('counts money that arrives after the checkout has expired, and ignores an expiry after the payment', () => {
    const { start, complete, expire, entries, state } = bench();
    start('one');
    expect([expire('one'), expire('nothing')]).toEqual(['ok', 'unknown_checkout']);
    expect(state.checkouts.get('checkout:one')?.status).toBe('expired');
    expect([complete('one'), expire('one')]).toEqual(['ok', 'ok']);
    expect(state.checkouts.get('checkout:one')?.status).toBe('paid');
    expect(entries()).toEqual([['granted', 10, 10]]);
  });

  it('accepts 1 to 100 packages at 20 USD, and ten open checkouts of a day', () => {
    const { start, complete, grant } = bench();
    expect(start('x', 0)).toBe('wrong_amount');
    expect(start('x', 101)).toBe('wrong_amount');
    expect(start('x', 3, 5_999)).toBe('wrong_amount');
    expect(start('hundred', 100)).toBe('ok');
    expect(complete('hundred', 200_000)).toBe('ok');
    expect(grant('hundred')?.quantity).toBe(1_000 * M);
    const opened = Array.from({ length: 11 }, (_, n) => start(`n${n}`));
    expect(opened).toEqual([...Array.from({ length: 10 }, () => 'ok'), 'checkout_limit']);
    expect(start('next day', 1, 2_000, START + DAY_MS)).toBe('ok');
  });

  it('removes the unused part in proportion to the money, and shows what was already used', () => {
    const { start, complete, settle, refund, grant, entries } = bench();
    start('one');
    complete('one');
    settle(16 * M);
    expect(entries()).toEqual([
      ['granted', 10, 10],
      ['used', -6, 4],
    ]);
    expect(refund(500)).toBe('ok');
    expect(refund(500)).toBe('ok');
    expect(refund(400)).toBe('ok');
    expect(entries()).toEqual([['refunded', -2.5, 1.5]]);
    // Half of the money: 5 million are due, but 6 were used.
    refund(1_000);
    expect(entries()).toEqual([['refunded', -1.5, 0]]);
    expect(grant('one')).toMatchObject({ remaining: 0, removed: 4 * M });
  });

  it('applies a refund that arrives before the completion', () => {
    const { start, complete, refund, entries } = bench();
    start('one');
    refund(2_000);
    expect(entries()).toEqual([]);
    complete('one');
    expect(entries()).toEqual([
      ['granted', 10, 10],
      ['refunded', -10, 0],
    ]);
  });

  it('puts back what a dispute removed when it is won, in any order of the events', () => {
    const { start, complete, settle, refund, entries } = bench();
    start('one');
    complete('one');
    settle(13 * M);
    entries();
    refund(1_600, 'dispute', 'd1');
    refund(1_600, 'dispute', 'd1');
    // 8 million are due and 7 are left.
    expect(entries()).toEqual([['refunded', -7, 0]]);
    // A fifth of the money stays refunded: 2 of the 7 million.
    refund(400);
    refund(1_600, 'dispute_won', 'd1');
    refund(1_600, 'dispute', 'd1');
    refund(1_600, 'dispute_lost', 'd1');
    expect(entries()).toEqual([['reinstated', 5, 5]]);
    refund(2_000, 'dispute_won', 'd2');
    refund(2_000, 'dispute', 'd2');
    expect(entries()).toEqual([]);
  });

  it('uses the allowance, then packages, then courtesy capacity, of each the earliest expiry first', () => {
    const { start, complete, courtesy, settle, settlement, entries, grant } = bench();
    expect(courtesy('late', 3 * M, START + 50 * DAY_MS)).toBe('ok');
    expect(courtesy('soon', 2 * M, START + 10 * DAY_MS)).toBe('ok');
    expect(courtesy('soon', 2 * M, START + 10 * DAY_MS)).toBe('ok');
    expect(courtesy('gone', M, START)).toBe('expired');
    expect(courtesy('none', 0, START + DAY_MS)).toBe('bad_quantity');
    start('one');
    complete('one');
    expect(settle(10 * M)).toBe('ok');
    entries();
    settle(21 * M);
    expect(entries()).toEqual([
      ['used', -10, 5],
      ['used', -1, 4],
    ]);
    expect(grant('soon')?.remaining).toBe(M);
    settle(20 * M);
    settle(26 * M, START + 9 * DAY_MS);
    expect(entries()).toEqual([
      ['used', -1, 3],
      ['used', -3, 0],
    ]);
    expect(settlement()).toMatchObject({ used: 26 * M, charged: 15 * M, uncovered: M });
    // A package that is bought later covers the rest of the period's usage.
    start('two');
    complete('two', 2_000, START + 10 * DAY_MS);
    settle(26 * M, START + 10 * DAY_MS);
    expect(settlement()).toMatchObject({ charged: 16 * M, uncovered: 0 });
    expect(grant('two')?.remaining).toBe(9 * M);
  });

  it('expires what is left', () => {
    const { start, complete, settle, entries, refund } = bench();
    start('one');
    complete('one');
    settle(12 * M);
    entries();
    settle(0, START + 90 * DAY_MS - 1, Date.UTC(2026, 10, 1));
    expect(entries()).toEqual([]);
    settle(0, START + 90 * DAY_MS, Date.UTC(2026, 10, 1));
    expect(entries()).toEqual([['expired', -8, 0]]);
    refund(2_000, 'refund', null, START + 91 * DAY_MS);
    expect(entries()).toEqual([]);
  });

  it('charges a late total of the period before to grants that were made in it', () => {
    const { courtesy, settle, settlement, entries } = bench();
    courtesy('september', 5 * M, OCTOBER + 20 * DAY_MS);
    settle(11 * M);
    courtesy('october', 5 * M, OCTOBER + 10 * DAY_MS, OCTOBER);
    settle(M, OCTOBER + DAY_MS, OCTOBER);
    entries();
    settle(17 * M, OCTOBER + DAY_MS, START);
    expect(entries()).toEqual([['used', -4, 5]]);
    expect(settlement()).toMatchObject({
      period_start_ms: OCTOBER,
      used: M,
      previous: { period_start_ms: START, used: 17 * M, charged: 5 * M, uncovered: 2 * M },
    });
    settle(17 * M, OCTOBER + DAY_MS, START);
    expect(entries()).toEqual([]);
    expect(settle(1, OCTOBER, START + 1)).toBe('unknown_period');
    settle(0, OCTOBER + 40 * DAY_MS, Date.UTC(2026, 10, 1));
    expect(settle(99 * M, OCTOBER + 40 * DAY_MS, START)).toBe('unknown_period');
  });

  it('charges a late total to grants of its own period also before the next period has a total', () => {
    const { start, complete, courtesy, settle, settlement, entries } = bench();
    courtesy('september', 2 * M, OCTOBER + 20 * DAY_MS);
    settle(11 * M);
    start('one', 1, 2_000, OCTOBER);
    complete('one', 2_000, OCTOBER);
    entries();
    settle(17 * M, OCTOBER + 3_600_000);
    expect(entries()).toEqual([['used', -1, 10]]);
    expect(settlement()).toMatchObject({ period_start_ms: START, charged: 2 * M, uncovered: 5 * M });
    settle(12 * M, OCTOBER + 3_600_000, OCTOBER);
    expect(entries()).toEqual([['used', -2, 8]]);
  });

  it('charges nothing of an ended period when the plan or the limits have changed since its end', () => {
    const limits = { ...noLimits, api_requests_per_month: 20 * M };
    for (const [before, after] of [
      [
        { 'oddstream.SetPlan': { account_id: 'a', plan: 'growth' } },
        { 'oddstream.SetPlan': { account_id: 'a', plan: 'starter' } },
      ],
      [
        { 'oddstream.SetCustomLimits': { account_id: 'a', limits } },
        { 'oddstream.SetCustomLimits': { account_id: 'a', limits: null } },
      ],
    ] as const) {
      const { courtesy, settle, entries, run } = bench();
      courtesy('c', 5 * M, NOVEMBER + DAY_MS);
      run(before);
      settle(18 * M);
      run(before, OCTOBER);
      run(after, OCTOBER + 1);
      entries();
      settle(18 * M, OCTOBER + 2);
      expect(entries()).toEqual([]);
      // The running period has the new terms, whenever they began.
      settle(11 * M, OCTOBER + 2, OCTOBER);
      expect(entries()).toEqual([['used', -1, 4]]);
      // A repetition of the same terms is no change.
      run(after, NOVEMBER);
      settle(12 * M, NOVEMBER, OCTOBER);
      expect(entries()).toEqual([['used', -1, 3]]);
    }
  });

  it('charges nothing on a plan without a limit, and keeps what was charged after an upgrade', () => {
    const { courtesy, settle, settlement, entries, run } = bench();
    courtesy('c', 5 * M, OCTOBER);
    settle(11 * M);
    run({ 'oddstream.SetPlan': { account_id: 'a', plan: 'enterprise' } });
    entries();
    settle(900 * M);
    expect(entries()).toEqual([]);
    expect(settlement()).toMatchObject({ used: 900 * M, charged: M, uncovered: 0 });
  });
});

it('refuses totals and refunds that are no exact integers', () => {
  const { start, settle, refund } = bench();
  start('one');
  for (const wrong of [-1, 0.5, 2 ** 53, Number.NaN, Number.POSITIVE_INFINITY]) {
    expect([wrong, settle(wrong)]).toEqual([wrong, 'bad_quantity']);
    expect([wrong, refund(wrong)]).toEqual([wrong, 'wrong_amount']);
  }
});

it('courtesy capacity is bounded in total, so that a balance stays an exact integer that a record can hold', () => {
  const { courtesy, start, complete, state } = bench();
  const QUANTITY = 1_000_000_000_000_000;
  const codes = Array.from({ length: 10 }, (_, n) => courtesy(`g${n}`, QUANTITY, START + 90 * DAY_MS));
  expect(codes.slice(0, 5)).toEqual(['ok', 'ok', 'ok', 'ok', 'ok']);
  expect(new Set(codes.slice(5))).toEqual(new Set(['bad_quantity']));
  start('one', 100);
  expect(complete('one', 200_000)).toBe('ok');
  const codec = createCodec();
  const total = [...state.grants.values()].reduce((sum, { remaining }) => sum + remaining, 0);
  expect(Number.isSafeInteger(total)).toBe(true);
  const entry = {
    account_id: 'a',
    seq: 1,
    meter: 'api_requests' as const,
    grant_id: 'g',
    kind: 'granted' as const,
    quantity: QUANTITY,
    balance: total,
    at_ms: START,
    author: '',
  };
  const record = {
    entity: 'ledger:a:1',
    updated_at_ms: START,
    command_id: 'c',
    state: { 'oddstream.LedgerEntry': entry },
  };
  expect(codec.decode(codec.encode('account_state', record))).toEqual({ kind: 'account_state', value: record });
});
