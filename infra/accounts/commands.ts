import { randomUUID } from 'node:crypto';
import type { Codec } from '../../schemas/codec.js';
import { topics } from '../../schemas/topics.js';
import type { AccountCommand } from '../../schemas/types.gen.js';
import type { Log } from '../log/port.js';

export interface AccountCommands {
  /**
   * Append a command; resolves when it is durable, with the id to wait for. Pass an `id` when the command may be repeated: the accounts
   * processor applies each id once. `author`: who requested it, see AccountCommand. `atMs`: the time that it is applied at, default now. Throws what
   * the log's append throws.
   */
  send(
    command: AccountCommand['command'],
    options?: { readonly id?: string; readonly author?: string; readonly atMs?: number },
  ): Promise<string>;
}

/** Appends commands to accounts.commands. Only processors/accounts changes the accounts' state. */
export function createAccountCommands(deps: {
  log: Pick<Log, 'append'>;
  codec: Codec;
  now?: () => number;
}): AccountCommands {
  const now = deps.now ?? Date.now;
  return {
    async send(command, { id = randomUUID(), author = 'system', atMs } = {}) {
      const nowMs = now();
      const { account_id: accountId } = Object.values(command)[0] as { account_id: string };
      const value = deps.codec.encode('account_command', { id, issued_at_ms: atMs ?? nowMs, command, author });
      await deps.log.append(topics.accountsCommands.name, [{ key: `account:${accountId}`, value, timestampMs: nowMs }]);
      return id;
    },
  };
}
