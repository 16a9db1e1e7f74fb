/** Exit codes of every process: the supervisor restarts 75 with backoff, reports 1 and leaves the process down. */
export const EXIT_RETRYABLE = 75;
export const EXIT_FATAL = 1;

/** The outside world failed (node, broker, database, network): trying again later can work. */
export class RetryableError extends Error {
  override name = 'RetryableError';
}

/** Trying again cannot work: bad configuration, corrupt state, a bug. */
export class FatalError extends Error {
  override name = 'FatalError';
}

/** Exit code for whatever ended a process. Unknown errors count as fatal, except Node's network errors. */
export function exitCodeFor(error: unknown): number {
  if (error instanceof RetryableError) return EXIT_RETRYABLE;
  const code = (error as { code?: unknown } | null)?.code;
  const network = ['ECONNREFUSED', 'ECONNRESET', 'ETIMEDOUT', 'EPIPE', 'ENOTFOUND', 'EAI_AGAIN', 'UND_ERR_SOCKET'];
  return typeof code === 'string' && network.includes(code) ? EXIT_RETRYABLE : EXIT_FATAL;
}
