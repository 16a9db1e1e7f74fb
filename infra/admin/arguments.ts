import { parseArgs } from 'node:util';
import { accountMeters } from '../../schemas/packages.js';
import type { AccountMeter, CustomLimits, Plan } from '../../schemas/types.gen.js';
import { UsageError } from '../command-line.js';

export const usageText = `Usage: npm run admin -- <command>

  list [--plan <plan>]                      all accounts
  find <text>                               accounts by part of an email, a key prefix, a label or an id
  show <account>                            plan, limits, users, keys, packages and usage of an account
  set-plan <account> <plan>                 free, starter, growth or enterprise
  set-limits <account> <name>=<number> ...  agreed numbers in place of the plan's; <name>=plan takes one back
  set-limits <account> --reset              the numbers of the plan again
  grant-courtesy <account> <meter> <quantity> --days <days> [--note <text>]
                                            free capacity; meter: ${accountMeters.join(', ')}
  revoke-key <account> <key>                key: its id or prefix in show
  sign-in-link <email>                      a link that signs in once, within an hour
  export-ledger [<account>] [--format csv|jsonl]
  verify-ledger [<account>]                 compares balances with the entries and the packages

<account> is an account id or the email of one of its users. Every change is a command in the log with the author operator:<user name>.
Exit code: 0 done, 1 rejected or not found, 64 wrong usage, 75 the log or the accounts processor does not respond, 78 configuration.`;

const plans: readonly Plan[] = ['free', 'starter', 'growth', 'enterprise'];

/** Names of agreed numbers. */
export const limitNames = [
  'standard_per_minute',
  'heavy_per_minute',
  'event_sockets',
  'orderbook_sockets',
  'filter_items_per_subscription',
  'api_keys',
  'social_searches_per_month',
  'api_requests_per_month',
  'orderbook_chainlink_bytes_per_month',
  'onchain_event_bytes_per_month',
] as const satisfies readonly (keyof CustomLimits)[];

export type AdminCommand =
  | { readonly name: 'list'; readonly plan: Plan | null }
  | { readonly name: 'find'; readonly text: string }
  | { readonly name: 'show'; readonly account: string }
  | { readonly name: 'set-plan'; readonly account: string; readonly plan: Plan }
  /** `limits` null: reset; a null number: the plan's. */
  | { readonly name: 'set-limits'; readonly account: string; readonly limits: Partial<CustomLimits> | null }
  | {
      readonly name: 'grant-courtesy';
      readonly account: string;
      readonly meter: AccountMeter;
      readonly quantity: number;
      readonly days: number;
      readonly note: string;
    }
  | { readonly name: 'revoke-key'; readonly account: string; readonly key: string }
  | { readonly name: 'sign-in-link'; readonly email: string }
  | { readonly name: 'export-ledger'; readonly account: string | null; readonly format: 'csv' | 'jsonl' }
  | { readonly name: 'verify-ledger'; readonly account: string | null };

function oneOf<T extends string>(what: string, values: readonly T[], text: string | undefined): T {
  const found = values.find((value) => value === text);
  if (found === undefined) throw new UsageError(`${what} must be one of ${values.join(', ')}`);
  return found;
}

function wholeNumber(what: string, text: string | undefined, min: number, max = Number.MAX_SAFE_INTEGER): number {
  const value = text !== undefined && /^\d{1,16}$/.test(text) ? Number(text) : Number.NaN;
  if (!(value >= min && value <= max)) throw new UsageError(`${what} must be a whole number of at least ${min}`);
  return value;
}

function limitsOf(assignments: readonly string[]): Partial<CustomLimits> {
  if (assignments.length === 0) throw new UsageError('set-limits needs <name>=<number> or --reset');
  return Object.fromEntries(
    assignments.map((assignment) => {
      const [name, value] = assignment.split('=', 2);
      const known = oneOf('The name of a limit', limitNames, name);
      return [known, value === 'plan' ? null : wholeNumber(known, value, 0)];
    }),
  );
}

/** Parses the arguments of the command. Throws UsageError. */
export function parseArguments(args: readonly string[]): AdminCommand {
  let parsed: ReturnType<typeof parse>;
  try {
    parsed = parse(args);
  } catch (error) {
    throw new UsageError(error instanceof Error ? error.message : String(error));
  }
  const { values, positionals } = parsed;
  const [name = '', ...rest] = positionals;
  const options: Record<string, readonly string[]> = {
    list: ['plan'],
    'set-limits': ['reset'],
    'grant-courtesy': ['days', 'note'],
    'export-ledger': ['format'],
  };
  for (const option of Object.keys(values))
    if (options[name]?.includes(option) !== true)
      throw new UsageError(`--${option} does not belong to ${name || 'this'}`);
  const words = (min: number, max = min): readonly string[] => {
    if (rest.length < min || rest.length > max || rest.some((word) => word === ''))
      throw new UsageError(`${name} needs ${min === max ? min : `${min} to ${max}`} argument${max === 1 ? '' : 's'}`);
    return rest;
  };
  switch (name) {
    case 'list':
      words(0);
      return { name, plan: values.plan === undefined ? null : oneOf('--plan', plans, values.plan) };
    case 'find':
      return { name, text: words(1)[0] ?? '' };
    case 'show':
      return { name, account: words(1)[0] ?? '' };
    case 'set-plan': {
      const [account = '', plan] = words(2);
      return { name, account, plan: oneOf('The plan', plans, plan) };
    }
    case 'set-limits': {
      const [account = '', ...assignments] = words(1, 1 + limitNames.length);
      if (values.reset !== true) return { name, account, limits: limitsOf(assignments) };
      if (assignments.length > 0) throw new UsageError('--reset takes no numbers');
      return { name, account, limits: null };
    }
    case 'grant-courtesy': {
      const [account = '', meter, quantity] = words(3);
      return {
        name,
        account,
        meter: oneOf('The meter', accountMeters, meter),
        quantity: wholeNumber('The quantity', quantity, 1),
        days: wholeNumber('--days', values.days, 1, 3_660),
        note: (values.note ?? '').slice(0, 500),
      };
    }
    case 'revoke-key': {
      const [account = '', key = ''] = words(2);
      return { name, account, key };
    }
    case 'sign-in-link': {
      const [email = ''] = words(1);
      // Another word, such as the id of an account, would become an account without a mailbox.
      if (!/^[\x21-\x7e]+@[\x21-\x7e]+$/.test(email)) throw new UsageError('sign-in-link needs an email: name@host');
      return { name, email: email.toLowerCase() };
    }
    case 'export-ledger':
      return {
        name,
        account: words(0, 1)[0] ?? null,
        format: oneOf('--format', ['csv', 'jsonl'], values.format ?? 'csv'),
      };
    case 'verify-ledger':
      return { name, account: words(0, 1)[0] ?? null };
    default:
      throw new UsageError(name === '' ? 'A command is missing' : `Unknown command: ${name}`);
  }
}

const parse = (args: readonly string[]) =>
  parseArgs({
    args: [...args],
    allowPositionals: true,
    options: {
      plan: { type: 'string' },
      reset: { type: 'boolean' },
      days: { type: 'string' },
      note: { type: 'string' },
      format: { type: 'string' },
    },
  });
