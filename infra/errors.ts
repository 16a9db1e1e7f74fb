/** Exit codes of every process. The supervisor restarts a process after every exit except EXIT_FATAL. */
export const EXIT_RETRYABLE = 75;
/**
 * Only an operator can fix it: EX_CONFIG of sysexits.h. Not 1, which is Node's own code for an uncaught exception; and no code that Node, a shell
 * or a signal causes (1 to 13, 126 to 165).
 */
export const EXIT_FATAL = 78;

/** An external dependency failed (node, broker, database, network): a later retry can succeed. */
export class RetryableError extends Error {
  override name = 'RetryableError';
}

/** A retry cannot succeed until an operator has fixed something: bad configuration, a log or tables that do not belong here. Its message says what to do. */
export class FatalError extends Error {
  override name = 'FatalError';
}

const NETWORK_CODES = ['ECONNREFUSED', 'ECONNRESET', 'ETIMEDOUT', 'EPIPE', 'ENOTFOUND', 'EAI_AGAIN', 'UND_ERR_SOCKET'];

/** Whether an external dependency failed: true for RetryableError and Node's network errors, false for an unknown error. */
export function isTransient(error: unknown): boolean {
  if (error instanceof RetryableError) return true;
  const code = (error as { code?: unknown } | null)?.code;
  return typeof code === 'string' && NETWORK_CODES.includes(code);
}

/** Exit code for the error that ended a process: EXIT_FATAL only for FatalError, because a restart may help after an unknown error. */
export function exitCodeFor(error: unknown): number {
  return error instanceof FatalError ? EXIT_FATAL : EXIT_RETRYABLE;
}
