import { RetryableError } from '../../infra/errors.js';
import { readText } from '../../infra/http/read-text.js';
import { parseJson } from '../shared/parse-json.js';
import { pause } from '../shared/pause.js';
import { retryAfterMs } from '../shared/retry-after.js';
import { createTokenBucket } from '../shared/token-bucket.js';
import { decodeBook, type VenueMessage } from './messages.js';

/** A book of 20,000 levels has less than 1 MB. */
const MAX_BODY_BYTES = 4 * 1024 * 1024;
/** Upper bound of the delay that a Retry-After header requests. */
const MAX_RETRY_AFTER_MS = 60_000;

export interface RestBooks {
  /** The book of a token now; null if the venue has none. Rejects with RetryableError. */
  fetch(tokenId: string, reason: string, signal: AbortSignal): Promise<(VenueMessage & { type: 'book' }) | null>;
}

/** Whole books from the venue's `GET /book`, at a bounded rate; after a response with Retry-After no request is sent until then, for any token. */
export function createRestBooks(options: { baseUrl: string; perSecond?: number; timeoutMs?: number }): RestBooks {
  const bucket = createTokenBucket({ perSecond: options.perSecond ?? 20, burst: options.perSecond ?? 20 });
  /** performance.now() before which no request is sent. */
  let resumeMs = 0;
  return {
    async fetch(tokenId, reason, signal) {
      await bucket.take(signal);
      // A response meanwhile may have moved the time.
      while (resumeMs > performance.now() && !signal.aborted) await pause(resumeMs - performance.now(), signal);
      signal.throwIfAborted();
      const url = new URL(`${options.baseUrl.replace(/\/$/, '')}/book`);
      url.searchParams.set('token_id', tokenId);
      try {
        const response = await fetch(url, {
          headers: { accept: 'application/json' },
          redirect: 'error',
          signal: AbortSignal.any([signal, AbortSignal.timeout(options.timeoutMs ?? 10_000)]),
        });
        const text = await readText(response, MAX_BODY_BYTES);
        if (response.status === 404) return null;
        if (!response.ok) {
          const requestedMs = retryAfterMs(response.headers.get('retry-after')) ?? 0;
          resumeMs = Math.max(resumeMs, performance.now() + Math.min(MAX_RETRY_AFTER_MS, requestedMs));
          throw new Error(`status ${response.status}`);
        }
        const body = parseJson(text);
        if (typeof body !== 'object' || body === null || Array.isArray(body)) throw new Error('no object');
        const message = decodeBook(body as Record<string, unknown>, Date.now(), reason);
        if (message.assetId !== tokenId) throw new Error(`the book is of token ${message.assetId}`);
        return message;
      } catch (error) {
        signal.throwIfAborted();
        const why = error instanceof Error ? error.message : String(error);
        throw new RetryableError(`The book of token ${tokenId} cannot be fetched: ${why}`, { cause: error });
      }
    },
  };
}
