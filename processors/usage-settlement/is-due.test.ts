import { describe, expect, it } from 'vitest';
import type { Account, Grant } from '../../schemas/types.gen.js';
import { isDue } from './is-due.js';

const M = 1_000_000;
const NOW = Date.UTC(2026, 8, 20);
const HOUR_MS = 3_600_000;
const account: Account = {
  account_id: 'a',
  plan: 'starter',
  label: '',
  created_at_ms: Date.UTC(2026, 8, 1),
  active_keys: 0,
  custom_limits: null,
  ledger_entries: 0,
  deleted_at_ms: null,
  terms_since_ms: 0,
};
const grant = (remaining: number, expires_at_ms = NOW + HOUR_MS): Grant => ({
  grant_id: 'g',
  account_id: 'a',
  kind: 'package',
  meter: 'api_requests',
  quantity: 10 * M,
  remaining,
  removed: 0,
  granted_at_ms: 0,
  expires_at_ms,
  note: '',
});

describe('isDue', () => {
  const settled = (used: number, charged: number) => ({ used, charged });
  it.each([
    ['below the allowance', { used: 10 * M - 1 }, 'none'],
    ['below it with packages', { used: 9 * M, grants: [grant(M)] }, 'none'],
    ['the allowance is reached', { used: 10 * M }, 'due'],
    ['it is reached and that is settled', { used: 10 * M, settled: settled(10 * M, 0) }, 'none'],
    ['a little more, nothing to charge', { used: 10 * M + 5, settled: settled(10 * M, 0) }, 'later'],
    ['the same an hour later', { used: 10 * M + 5, settled: settled(10 * M, 0), settledAtMs: NOW - HOUR_MS }, 'due'],
    ['much more, nothing to charge', { used: 10.1 * M, settled: settled(10 * M, 0) }, 'due'],
    ['the first of a package', { used: 10 * M + 5, settled: settled(10 * M, 0), grants: [grant(M)] }, 'due'],
    ['a little more of it', { used: 10 * M + 9, settled: settled(10 * M + 5, 5), grants: [grant(M)] }, 'later'],
    [
      'a little more, expiring in 31 s',
      { used: 10 * M + 9, settled: settled(10 * M + 5, 5), grants: [grant(M, NOW + 31_000)] },
      'later',
    ],
    [
      'a little more, expiring in 30 s',
      { used: 10 * M + 9, settled: settled(10 * M + 5, 5), grants: [grant(M, NOW + 30_000)] },
      'due',
    ],
    [
      'a little more, expiring at once',
      { used: 10 * M + 9, settled: settled(10 * M + 5, 5), grants: [grant(M, NOW + 1)] },
      'due',
    ],
    [
      'nothing more of one that expires',
      { used: 12 * M, settled: settled(12 * M, 2 * M), grants: [grant(M, NOW + 1)] },
      'none',
    ],
    ['a hundredth of a package', { used: 10.1 * M, settled: settled(10 * M, 0), grants: [grant(M)] }, 'due'],
    ['the last of a package', { used: 12 * M, settled: settled(12 * M - 3, 2 * M - 3), grants: [grant(3)] }, 'due'],
    ['all charged', { used: 12 * M, settled: settled(12 * M, 2 * M), grants: [grant(M)] }, 'none'],
    ['a package after uncovered usage', { used: 12 * M, settled: settled(12 * M, 0), grants: [grant(M)] }, 'due'],
    ['an expired package', { used: 0, grants: [grant(M, NOW)] }, 'due'],
    ['a used-up expired package', { used: 0, grants: [grant(0, NOW)] }, 'none'],
  ] as const)('%s: %o is %s', (_what, one, expected) => {
    const options = {
      account,
      meter: 'api_requests' as const,
      settled: undefined,
      settledAtMs: NOW - 1,
      grants: [],
      nowMs: NOW,
    };
    expect(isDue({ ...options, ...one })).toBe(expected);
  });

  it('never settles an unlimited meter', () => {
    const unlimited = { ...account, plan: 'enterprise' as const };
    const options = { meter: 'api_requests' as const, settled: undefined, settledAtMs: 0, grants: [], nowMs: NOW };
    expect(isDue({ account: unlimited, used: 1e15, ...options })).toBe('none');
  });
});
