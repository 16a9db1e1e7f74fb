import type { AccountCommands } from '../../infra/accounts/commands.js';
import type { AccountsReadModel } from '../../infra/accounts/read-model.js';
import type { Outcome } from '../../schemas/types.gen.js';
import { ApiError } from '../errors/failure.js';

/** Sends a command and waits for its outcome. Throws ApiError (upstream) when there is none in time; the command may still be decided later. */
export type Decide = (
  command: Parameters<AccountCommands['send']>[0],
  options?: Parameters<AccountCommands['send']>[1],
) => Promise<Outcome>;

/** Longer than a restart of the process that decides: a result such as a new key exists in this request only, and is lost without a response. */
const OUTCOME_TIMEOUT_MS = 15_000;

export function createDecide(deps: {
  send: AccountCommands['send'];
  waitForOutcome: AccountsReadModel['waitForOutcome'];
}): Decide {
  return async (command, options) => {
    const outcome = await deps.waitForOutcome(await deps.send(command, options), OUTCOME_TIMEOUT_MS);
    if (outcome === null) throw new ApiError({ kind: 'upstream', retryAfterS: 5 });
    return outcome;
  };
}

/** What a command of a signed-in user meets when another request has just ended the session or deleted the account. */
const SESSION_IS_GONE: ReadonlySet<string> = new Set(['unknown_account', 'unknown_user', 'unknown_session']);

/** The error of a rejected command: ApiError (no_session) if the session ended meanwhile, else one that no request of a client can cause. */
export const unexpectedRejection = (command: string, { code }: Outcome): Error =>
  SESSION_IS_GONE.has(code) ? new ApiError({ kind: 'no_session' }) : new Error(`${command} was rejected: ${code}`);
