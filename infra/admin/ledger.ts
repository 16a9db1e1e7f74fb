import { accountMeters } from '../../schemas/packages.js';
import type { Account, Grant, LedgerEntry } from '../../schemas/types.gen.js';

const columns = ['account_id', 'seq', 'at', 'meter', 'grant_id', 'kind', 'quantity', 'balance', 'author'] as const;

const rowOf = (entry: LedgerEntry) => ({
  account_id: entry.account_id,
  seq: entry.seq,
  at: new Date(entry.at_ms).toISOString(),
  meter: entry.meter,
  grant_id: entry.grant_id,
  kind: entry.kind,
  quantity: entry.quantity,
  balance: entry.balance,
  author: entry.author,
});

/** Quoted where CSV needs it. A text that a spreadsheet would take for a formula begins with an apostrophe. */
function csvField(value: string | number): string {
  if (typeof value === 'number') return String(value);
  const text = /^[=+\-@\t\r]/.test(value) ? `'${value}` : value;
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

/** Lines of an export, the head of a CSV included. */
export function* exportLines(entries: Iterable<LedgerEntry>, format: 'csv' | 'jsonl'): Generator<string> {
  if (format === 'csv') yield columns.join(',');
  for (const entry of entries) {
    const row = rowOf(entry);
    yield format === 'jsonl' ? JSON.stringify(row) : columns.map((name) => csvField(row[name])).join(',');
  }
}

/** What is wrong with the ledger of an account; empty: nothing. Recomputes all balances from the entries. */
export function verifyLedger(
  account: Account,
  entries: readonly LedgerEntry[],
  grants: readonly Grant[],
): readonly string[] {
  const problems: string[] = [];
  const balances = new Map<string, number>(accountMeters.map((meter) => [meter, 0]));
  const ofGrant = new Map<string, number>();
  entries.forEach((entry, n) => {
    if (entry.seq !== n + 1) problems.push(`entry ${n + 1}: has the number ${entry.seq}`);
    const balance = (balances.get(entry.meter) ?? 0) + entry.quantity;
    balances.set(entry.meter, balance);
    ofGrant.set(entry.grant_id, (ofGrant.get(entry.grant_id) ?? 0) + entry.quantity);
    if (entry.balance !== balance) problems.push(`entry ${entry.seq}: balance ${entry.balance}, the sum is ${balance}`);
    if (balance < 0) problems.push(`entry ${entry.seq}: the balance is negative`);
  });
  if (account.ledger_entries !== entries.length)
    problems.push(`the account counts ${account.ledger_entries} entries, the log has ${entries.length}`);
  for (const grant of grants) {
    const sum = ofGrant.get(grant.grant_id) ?? 0;
    if (grant.remaining !== sum) problems.push(`package ${grant.grant_id}: ${grant.remaining} left, the sum is ${sum}`);
  }
  const known = new Set(grants.map(({ grant_id: id }) => id));
  for (const id of ofGrant.keys()) if (!known.has(id)) problems.push(`package ${id} of the entries does not exist`);
  return problems;
}
