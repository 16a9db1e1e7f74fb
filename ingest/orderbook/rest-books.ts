import { RetryableError } from '../../infra/errors.js';
import { readText } from '../../infra/http/read-text.js';
import { parseJson } from '../shared/parse-json.js';
import { createTokenBucket } from '../shared/token-bucket.js';
import { decodeBook, type VenueMessage } from './messages.js';

/** A book of 20,000 levels has less than 1 MB. */
const MAX_BODY_BYTES = 4 * 1024 * 1024;

export interface RestBooks {
  /** The book of a token now; null if the venue has none. Rejects with RetryableError. */
  fetch(tokenId: string, reason: string, signal: AbortSignal): Promise<(VenueMessage & { type: 'book' }) | null>;
}

/** Whole books from the venue's `GET /book`, at a bounded rate. */
export function createRestBooks(options: { baseUrl: string; perSecond?: number; timeoutMs?: number }): RestBooks {
  const bucket = createTokenBucket({ perSecond: options.perSecond ?? 20, burst: options.perSecond ?? 20 });
  return {
    async fetch(tokenId, reason, signal) {
      await bucket.take(signal);
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
        if (!response.ok) throw new Error(`status ${response.status}`);
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
