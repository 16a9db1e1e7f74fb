import { FatalError, RetryableError } from '../errors.js';

/** The log cannot serve now (disk full, I/O error, closed, broker away). Nothing of the failed call was written. */
export class LogUnavailableError extends RetryableError {
  override name = 'LogUnavailableError';
}

/**
 * The step came from a claim that is no longer the group's newest one, or that an earlier failed step ended. Nothing of it was written.
 * Claim again and start over from what the log holds.
 */
export class FencedError extends RetryableError {
  override name = 'FencedError';
}

/** The call cannot be served as it was made. Nothing was written. Not fatal: one bad value of a source must not keep a process down. */
export class LogRequestError extends Error {
  override name = 'LogRequestError';
}

/** No such topic or partition: `ensureTopics` never ran for it, somebody deleted it (a process that starts makes it again), or a name is misspelt. */
export class UnknownTopicError extends LogRequestError {
  override name = 'UnknownTopicError';
  constructor(
    readonly topic: string,
    detail?: string,
  ) {
    super(detail ?? `Unknown topic "${topic}": it was never created with ensureTopics`);
  }
}

/** What is stored cannot be what was written: bad checksum, impossible sizes, a format of another version. */
export class LogCorruptError extends FatalError {
  override name = 'LogCorruptError';
}

/** A caller passed something no log can hold (negative offset, empty topic name, value too large). Nothing was written. */
export class LogArgumentError extends LogRequestError {
  override name = 'LogArgumentError';
}
