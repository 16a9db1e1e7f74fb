import type { AccountCommand, AccountState, PoolChange } from '../../schemas/types.gen.js';
import type { AccountsState } from './state.js';

export type States = readonly AccountState['state'][];

/** What a command changes. A rejected command changes nothing. */
export interface CommandResult {
  /** `ok`, or why the command was rejected. */
  readonly code: string;
  readonly accountId: string | null;
  readonly changes: States;
  /** Entities that no longer exist. */
  readonly removed?: readonly string[];
  /** What a pool command did. */
  readonly pool?: PoolChange;
  /** User whom a sign-in concerns. */
  readonly userId?: string;
}

export const reject = (code: string, accountId: string | null): CommandResult => ({ code, accountId, changes: [] });
export const accept = (accountId: string, ...changes: States): CommandResult => ({ code: 'ok', accountId, changes });

/** Names of commands without their namespace, such as `CreateKey`. */
export type CommandName = AccountCommand['command'] extends infer U
  ? U extends unknown
    ? keyof U extends `oddstream.${infer Name}`
      ? Name
      : never
    : never
  : never;

/** The command of a name. */
export type CommandOf<Name extends CommandName> =
  Extract<AccountCommand['command'], Record<`oddstream.${Name}`, unknown>> extends infer U
    ? U extends Record<`oddstream.${Name}`, infer Value>
      ? Value
      : never
    : never;

/** When a command was issued, and by whom. */
export interface CommandContext {
  readonly atMs: number;
  readonly author: string;
}

/** Decides a command from the state. Pure; all times come from the command. */
export type CommandHandler<Name extends CommandName> = (
  state: AccountsState,
  command: CommandOf<Name>,
  context: CommandContext,
) => CommandResult;

export type CommandHandlers<Names extends CommandName = CommandName> = { readonly [N in Names]: CommandHandler<N> };
