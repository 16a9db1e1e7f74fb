import { describe, expect, it } from 'vitest';
import type { Account, Grant, UsageSettlement } from '../../schemas/types.gen.js';
import { createCapacityView, meterCapacity, remainingCapacity } from './capacity-view.js';

const M = 1_000_000;
const SEPTEMBER = Date.UTC(2026, 8, 1);
const OCTOBER = Date.UTC(2026, 9, 1);
const account: Account = {
  account_id: 'a',
  plan: 'starter',
  label: '',
  created_at_ms: SEPTEMBER,
  active_keys: 0,
  custom_limits: null,
  ledger_entries: 0,
  deleted_at_ms: null,
  terms_since_ms: 0,
};
const grant = (grant_id: string, kind: Grant['kind'], remaining: number, expires_at_ms: number): Grant => ({
  grant_id,
  account_id: 'a',
  kind,
  meter: 'api_requests',
  quantity: 10 * M,
  remaining,
  removed: 0,
  granted_at_ms: SEPTEMBER,
  expires_at_ms,
  note: '',
});
const settled = (used: number, charged: number, uncovered: number): UsageSettlement => ({
  account_id: 'a',
  meter: 'api_requests',
  period_start_ms: SEPTEMBER,
  used,
  charged,
  uncovered,
  previous: null,
});

describe('remainingCapacity', () => {
  it('is the rest of the allowance and of live grants, 0 when usage is not covered, and full again in the next period', () => {
    const view = createCapacityView();
    const remaining = (nowMs = SEPTEMBER + 1, one: Account = account) =>
      remainingCapacity(meterCapacity(view, one, 'api_requests', nowMs));
    expect(remaining()).toBe(10 * M);
    view.apply('settled:a:api_requests', { 'oddstream.UsageSettlement': settled(10 * M, 0, 0) });
    expect(remaining()).toBe(0);
    view.apply('grant:p', { 'oddstream.Grant': grant('p', 'package', 4 * M, OCTOBER + 5) });
    view.apply('grant:c', { 'oddstream.Grant': grant('c', 'courtesy', 3 * M, SEPTEMBER + 5) });
    view.apply('settled:a:api_requests', { 'oddstream.UsageSettlement': settled(16 * M, 6 * M, 0) });
    expect([remaining(), remaining(SEPTEMBER + 5)]).toEqual([7 * M, 4 * M]);
    expect(remaining(OCTOBER)).toBe(14 * M);
    expect(remaining(OCTOBER + 5)).toBe(10 * M);
    view.apply('grant:p', null);
    view.apply('settled:a:api_requests', { 'oddstream.UsageSettlement': settled(30 * M, 10 * M, 10 * M) });
    expect(remaining(SEPTEMBER + 5)).toBe(0);
    expect(remaining(SEPTEMBER + 5, { ...account, plan: 'enterprise' })).toBeNull();
    expect(view.grantsOf('a').map(({ grant_id }) => grant_id)).toEqual(['c']);
    expect(view.grantsOf('b')).toEqual([]);
  });

  it('counts the usage of the running period, also when a later one was settled by a clock that ran ahead', () => {
    const view = createCapacityView();
    const september = { period_start_ms: SEPTEMBER, used: 9 * M, charged: 0, uncovered: 0 };
    view.apply('settled:a:api_requests', {
      'oddstream.UsageSettlement': { ...settled(0, 0, 0), period_start_ms: OCTOBER, previous: september },
    });
    expect(remainingCapacity(meterCapacity(view, account, 'api_requests', OCTOBER - 1))).toBe(M);
    expect(remainingCapacity(meterCapacity(view, account, 'api_requests', OCTOBER))).toBe(10 * M);
  });
});
