import { createHash, randomBytes, randomUUID } from 'node:crypto';
import type { AccountCommand, CustomLimits } from '../../schemas/types.gen.js';
import type { AccountCommands } from '../accounts/commands.js';
import type { LedgerView } from '../accounts/ledger-view.js';
import type { AccountsReadModel } from '../accounts/read-model.js';
import { RetryableError } from '../errors.js';
import { type AdminCommand, limitNames } from './arguments.js';
import type { AccountDirectory } from './directory.js';
import { exportLines, verifyLedger } from './ledger.js';
import { accountList, accountReport } from './report.js';

const DAY_MS = 86_400_000;
const OUTCOME_TIMEOUT_MS = 15_000;
const LINK_LIFE_MS = 3_600_000;
const TOKEN_BYTES = 32;

/** The accounts processor did not accept a command. */
export class RejectedError extends Error {
  override name = 'RejectedError';
}

export interface AdminDeps {
  readonly accounts: Pick<AccountsReadModel, 'capacity' | 'keysOf' | 'users' | 'waitForOutcome'>;
  readonly directory: AccountDirectory;
  readonly ledger: LedgerView;
  readonly send: AccountCommands['send'];
  /** operator:<user name> */
  readonly author: string;
  /** URL of the API, for links. */
  readonly publicUrl: string;
  readonly nowMs: () => number;
  /** Writes a line of the result. */
  readonly print: (line: string) => void;
}

/** Runs a command. Throws NotFoundError, RejectedError, and RetryableError when the accounts processor does not respond. */
export async function runCommand(command: AdminCommand, deps: AdminDeps): Promise<void> {
  const { accounts, directory, ledger, print } = deps;
  const change = async (one: AccountCommand['command'], done: string) => {
    const id = await deps.send(one, { author: deps.author });
    const outcome = await accounts.waitForOutcome(id, OUTCOME_TIMEOUT_MS);
    if (outcome === null)
      throw new RetryableError(
        `The command ${id} is in the log, but no accounts processor has decided it; it takes effect when one runs`,
      );
    if (!outcome.accepted) throw new RejectedError(`Rejected: ${outcome.code}`);
    print(done);
  };
  const selected = (account: string | null) => (account === null ? directory.all() : [directory.account(account)]);
  switch (command.name) {
    case 'list':
      return print(
        accountList(
          directory.all().filter(({ plan }) => command.plan === null || plan === command.plan),
          accounts,
        ),
      );
    case 'find':
      return print(accountList(directory.find(command.text), accounts));
    case 'show':
      return print(accountReport(directory.account(command.account), accounts, deps.nowMs()));
    case 'set-plan': {
      const { account_id } = directory.account(command.account);
      const { plan } = command;
      return change({ 'oddstream.SetPlan': { account_id, plan } }, `${account_id} is on the plan ${plan}`);
    }
    case 'set-limits': {
      const { account_id, custom_limits: known } = directory.account(command.account);
      const merged = { ...known, ...command.limits };
      const limits = Object.fromEntries(
        limitNames.map((name) => [name, merged[name] ?? null]),
      ) as unknown as CustomLimits;
      const isEmpty = command.limits === null || Object.values(limits).every((value) => value === null);
      return change(
        { 'oddstream.SetCustomLimits': { account_id, limits: isEmpty ? null : limits } },
        isEmpty ? `${account_id} has the limits of its plan` : `${account_id} has agreed limits`,
      );
    }
    case 'grant-courtesy': {
      const { account_id } = directory.account(command.account);
      const { meter, quantity, note } = command;
      const expiresMs = deps.nowMs() + command.days * DAY_MS;
      return change(
        {
          'oddstream.GrantCourtesy': {
            account_id,
            grant_id: randomUUID(),
            meter,
            quantity,
            expires_at_ms: expiresMs,
            note,
          },
        },
        `${account_id} has ${quantity} more ${meter} until ${new Date(expiresMs).toISOString()}`,
      );
    }
    case 'revoke-key': {
      const { account_id } = directory.account(command.account);
      const key = directory.key(account_id, command.key);
      return change(
        { 'oddstream.RevokeKey': { account_id, key_hash: key.key_hash } },
        `The key ${key.key_prefix} of ${account_id} is revoked`,
      );
    }
    case 'sign-in-link': {
      const token = randomBytes(TOKEN_BYTES).toString('base64url');
      return change(
        {
          'oddstream.CreateLink': {
            account_id: randomUUID(),
            user_id: randomUUID(),
            link_hash: createHash('sha256').update(token).digest('hex'),
            purpose: 'sign_in',
            email: command.email,
            expires_at_ms: deps.nowMs() + LINK_LIFE_MS,
          },
        },
        `${deps.publicUrl}/dashboard/link#${token}`,
      );
    }
    case 'export-ledger': {
      const entries = selected(command.account).flatMap(({ account_id: id }) => ledger.of(id));
      for (const line of exportLines(entries, command.format)) print(line);
      return;
    }
    case 'verify-ledger': {
      const list = selected(command.account);
      let wrong = 0;
      for (const account of list) {
        const id = account.account_id;
        const problems = verifyLedger(account, ledger.of(id), accounts.capacity.grantsOf(id));
        for (const problem of problems) print(`${id}: ${problem}`);
        wrong += problems.length > 0 ? 1 : 0;
      }
      if (wrong > 0) throw new RejectedError(`${wrong} of ${list.length} ledgers are wrong`);
      return print(`${list.length} ledger${list.length === 1 ? '' : 's'} verified`);
    }
  }
}
