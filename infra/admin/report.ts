import { accountMeters, refundedCents } from '../../schemas/packages.js';
import { accountTerms } from '../../schemas/plans.js';
import type { Account } from '../../schemas/types.gen.js';
import { meterCapacity } from '../accounts/capacity-view.js';
import type { AccountsReadModel } from '../accounts/read-model.js';

type Accounts = Pick<AccountsReadModel, 'capacity' | 'keysOf' | 'users'>;

const time = (ms: number): string => new Date(ms).toISOString().replace(/\.\d+Z$/, 'Z');
const usd = (cents: number): string => `${(cents / 100).toFixed(2)} USD`;
const KEY_ID_LENGTH = 16;

/** Texts of users appear in a terminal: control characters do not. */
const printable = (text: string): string => text.replace(/[\p{C}\p{Zl}\p{Zp}]/gu, '?');

/** A table with a head; columns as wide as their longest cell. */
function table(rows: readonly (readonly string[])[]): string {
  // A call with an argument per row fails from about 120,000 rows on.
  const widths = (rows[0] ?? []).map((_, n) => rows.reduce((widest, row) => Math.max(widest, row[n]?.length ?? 0), 0));
  return rows
    .map((row) =>
      row
        .map((cell, n) => cell.padEnd(widths[n] ?? 0))
        .join('  ')
        .trimEnd(),
    )
    .join('\n');
}

/** One line per account. */
export function accountList(list: readonly Account[], { users }: Accounts): string {
  const rows = list.map((account) => [
    account.account_id,
    account.plan,
    String(account.active_keys),
    time(account.created_at_ms),
    account.deleted_at_ms === null ? '' : 'deleted',
    printable([...users.usersOf(account.account_id).map(({ email }) => email), account.label].join(' ')),
  ]);
  return `${table([['account', 'plan', 'keys', 'created', 'state', 'users and label'], ...rows])}\n${list.length} account${list.length === 1 ? '' : 's'}`;
}

/** All that an operator needs to know of an account. No secrets: keys by id and prefix. */
export function accountReport(account: Account, accounts: Accounts, nowMs: number): string {
  const id = account.account_id;
  const terms = accountTerms(account);
  const custom = Object.entries(account.custom_limits ?? {}).filter(([, value]) => value !== null);
  const { capacity } = accounts;
  const meters = accountMeters.map((meter) => {
    const { included, used, charged, packages, courtesy } = meterCapacity(capacity, account, meter, nowMs);
    const cells = [included ?? 'unlimited', used, charged, packages, courtesy];
    return [meter, ...cells.map(String)];
  });
  const keys = accounts
    .keysOf(id)
    .map((key) => [
      key.key_hash.slice(0, KEY_ID_LENGTH),
      key.key_prefix,
      key.active ? 'active' : 'revoked',
      time(key.created_at_ms),
      printable(key.name),
    ]);
  const grants = capacity
    .grantsOf(id)
    .map((grant) => [
      grant.grant_id,
      grant.kind,
      grant.meter,
      String(grant.quantity),
      String(grant.remaining),
      String(grant.removed),
      time(grant.expires_at_ms),
      printable(grant.note),
    ]);
  const checkouts = capacity
    .checkoutsOf(id)
    .map((one) => [
      one.checkout_id,
      one.status,
      one.provider,
      `${one.count} x ${one.meter}`,
      usd(one.amount_cents),
      usd(refundedCents(one)),
      one.disputes.map(({ status }) => status).join(' '),
      one.payment_ref ?? '',
    ]);
  const section = (title: string, head: readonly string[], rows: readonly (readonly string[])[]) =>
    rows.length === 0 ? [] : ['', title, table([head, ...rows])];
  return [
    `account   ${id}`,
    `plan      ${account.plan}${custom.length === 0 ? '' : ` with ${custom.map(([name, value]) => `${name}=${value}`).join(' ')}`}`,
    `label     ${printable(account.label)}`,
    `created   ${time(account.created_at_ms)}`,
    ...(account.deleted_at_ms === null ? [] : [`deleted   ${time(account.deleted_at_ms)}`]),
    `users     ${
      accounts.users
        .usersOf(id)
        .map(({ email }) => printable(email))
        .join(' ') || 'none'
    }`,
    `limits    ${terms.standardPerMinute} requests/min, ${terms.eventSockets ?? 'unlimited'} event sockets, ${account.active_keys} of ${terms.apiKeys} keys`,
    ...section(
      'Usage of the service month, as last settled',
      ['meter', 'included', 'used', 'charged', 'packages', 'courtesy'],
      meters,
    ),
    ...section('Keys', ['id', 'prefix', 'state', 'created', 'name'], keys),
    ...section(
      'Packages and courtesy capacity',
      ['id', 'kind', 'meter', 'quantity', 'left', 'removed', 'expires', 'note'],
      grants,
    ),
    ...section(
      'Checkouts',
      ['id', 'status', 'provider', 'packages', 'amount', 'refunded', 'disputes', 'payment'],
      checkouts,
    ),
  ].join('\n');
}
