import { describe, expect, it } from 'vitest';
import type { Account, Grant, LedgerEntry } from '../../schemas/types.gen.js';
import { exportLines, verifyLedger } from './ledger.js';

const account: Account = {
  account_id: 'a',
  plan: 'free',
  label: '',
  created_at_ms: 0,
  active_keys: 0,
  custom_limits: null,
  ledger_entries: 3,
  deleted_at_ms: null,
  terms_since_ms: 0,
};
const entry = (seq: number, quantity: number, balance: number, other: Partial<LedgerEntry> = {}): LedgerEntry => ({
  account_id: 'a',
  seq,
  meter: 'api_requests',
  grant_id: 'g',
  kind: 'used',
  quantity,
  balance,
  at_ms: Date.UTC(2026, 8, 1),
  author: 'system',
  ...other,
});
const grant: Grant = {
  grant_id: 'g',
  account_id: 'a',
  kind: 'courtesy',
  meter: 'api_requests',
  quantity: 10,
  remaining: 3,
  removed: 0,
  granted_at_ms: 0,
  expires_at_ms: 1,
  note: '',
};

describe('verifyLedger', () => {
  const good = [entry(1, 10, 10), entry(2, -4, 6), entry(3, -3, 3)];
  it('accepts entries whose sums are the balances and what is left', () => {
    expect(verifyLedger(account, good, [grant])).toEqual([]);
  });

  it.each<[string, readonly LedgerEntry[], Partial<Grant>, RegExp]>([
    [
      'a changed quantity',
      [entry(1, 10, 10), entry(2, -5, 6), entry(3, -3, 3)],
      {},
      /entry 2: balance 6, the sum is 5/,
    ],
    ['a changed balance', [entry(1, 10, 10), entry(2, -4, 7), entry(3, -3, 3)], {}, /entry 2: balance 7/],
    ['a missing entry', [entry(1, 10, 10), entry(3, -3, 7)], {}, /entry 2: has the number 3/],
    ['a missing last entry', good.slice(0, 2), { remaining: 6 }, /counts 3 entries, the log has 2/],
    ['a changed package', good, { remaining: 4 }, /package g: 4 left, the sum is 3/],
    ['an unknown package', [...good.slice(0, 2), entry(3, -3, 3, { grant_id: 'h' })], { remaining: 6 }, /package h/],
    ['a negative balance', [entry(1, 10, 10), entry(2, -4, 6), entry(3, -7, -1)], { remaining: -1 }, /is negative/],
  ])('finds %s', (_what, entries, change, problem) => {
    expect(verifyLedger(account, entries, [{ ...grant, ...change }])).toContainEqual(expect.stringMatching(problem));
  });
});

describe('exportLines', () => {
  it('quotes what CSV and spreadsheets would misread', () => {
    const odd = entry(1, 10, 10, { grant_id: 'a,"b"', author: '=1+1' });
    expect([...exportLines([odd], 'csv')][1]).toBe(
      `a,1,2026-09-01T00:00:00.000Z,api_requests,"a,""b""",used,10,10,'=1+1`,
    );
  });
});
