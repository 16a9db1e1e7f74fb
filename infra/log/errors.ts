import { FatalError, RetryableError } from '../errors.js';

/** The log cannot serve now (disk full, I/O error, closed, broker unreachable). Nothing of the failed call was written. */
export class LogUnavailableError extends RetryableError {
  override name = 'LogUnavailableError';
}

/**
 * The step's owner is no longer the group's newest owner, or an earlier failed step ended its ownership. Nothing of the step was written.
 * Acquire ownership again and restart from the state in the log.
 */
export class FencedError extends RetryableError {
  override name = 'FencedError';
}

/** The request is invalid. Nothing was written. Not fatal: one bad value of a source must not keep a process down. */
export class LogRequestError extends Error {
  override name = 'LogRequestError';
}

/** No such topic or partition: `ensureTopics` never ran for it, it was deleted (the next process start creates it again), or a name is misspelt. */
export class UnknownTopicError extends LogRequestError {
  override name = 'UnknownTopicError';
  constructor(
    readonly topic: string,
    detail?: string,
  ) {
    super(detail ?? `Unknown topic "${topic}": it was never created with ensureTopics`);
  }
}

/** Stored bytes are damaged or of another format version: bad checksum, impossible sizes. */
export class LogCorruptError extends FatalError {
  override name = 'LogCorruptError';
}

/** An argument that no log can store (negative offset, empty topic name, value too large). Nothing was written. */
export class LogArgumentError extends LogRequestError {
  override name = 'LogArgumentError';
}
