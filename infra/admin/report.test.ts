import { expect, it } from 'vitest';
import type { Account } from '../../schemas/types.gen.js';
import { accountList } from './report.js';

const accountOf = (id: string): Account => ({
  account_id: id,
  plan: 'free',
  label: 'desk',
  created_at_ms: Date.UTC(2027, 4, 22, 10),
  active_keys: 1,
  custom_limits: null,
  ledger_entries: 0,
  deleted_at_ms: null,
  terms_since_ms: 0,
});
const accounts = {
  users: { usersOf: () => [] },
} as unknown as Parameters<typeof accountList>[1];

it('accountList has a line per account, with columns as wide as their longest cell, of more accounts than a call has arguments', () => {
  const COUNT = 200_000;
  const list = Array.from({ length: COUNT }, (_, index) => accountOf(`a${index}`));
  const lines = accountList(list, accounts).split('\n');
  expect(lines).toHaveLength(COUNT + 2);
  expect([lines[0], lines[1], lines[COUNT], lines[COUNT + 1]]).toEqual([
    'account  plan  keys  created               state  users and label',
    'a0       free  1     2027-05-22T10:00:00Z         desk',
    'a199999  free  1     2027-05-22T10:00:00Z         desk',
    '200000 accounts',
  ]);
});
