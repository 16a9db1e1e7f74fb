import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { RetryableError } from '../../infra/errors.js';
import { createRestBooks } from './rest-books.js';

const START = Date.parse('2026-11-29T10:00:00Z');
const stop = new AbortController();
let requested: string[];
let responses: (() => Response)[];

const bookOf = (tokenId: string) => () =>
  Response.json({
    market: `0x${'a'.repeat(64)}`,
    asset_id: tokenId,
    timestamp: String(START),
    bids: [{ price: '0.4', size: '1' }],
    asks: [],
  });
const rejection = (status: number, retryAfter?: string) => () =>
  new Response('{"error":"slow down"}', {
    status,
    ...(retryAfter === undefined ? {} : { headers: { 'retry-after': retryAfter } }),
  });

beforeEach(() => {
  vi.useFakeTimers({ now: START });
  requested = [];
  vi.stubGlobal('fetch', async (url: URL) => {
    requested.push(url.searchParams.get('token_id') ?? '');
    return responses.shift()?.();
  });
});
afterEach(() => {
  vi.unstubAllGlobals();
  vi.useRealTimers();
});

it.each([
  { status: 429, header: '7', waitMs: 7_000 },
  { status: 503, header: new Date(START + 3_000).toUTCString(), waitMs: 3_000 },
  { status: 429, header: '86400', waitMs: 60_000 },
])('fetch sends no request of any token for $waitMs ms after a $status with Retry-After $header', async (given) => {
  responses = [rejection(given.status, given.header), bookOf('2'), bookOf('1')];
  const books = createRestBooks({ baseUrl: 'http://venue.test' });
  await expect(books.fetch('1', 'silent', stop.signal)).rejects.toThrow(RetryableError);
  const fetched = Promise.all([books.fetch('2', 'silent', stop.signal), books.fetch('1', 'silent', stop.signal)]);
  await vi.advanceTimersByTimeAsync(given.waitMs - 1);
  expect(requested).toEqual(['1']);
  await vi.advanceTimersByTimeAsync(1);
  expect(requested).toEqual(['1', '2', '1']);
  expect((await fetched).map((book) => book?.assetId)).toEqual(['2', '1']);
});

it.each([undefined, 'soon'])('fetch sends the next request at once after a 429 with Retry-After %s', async (header) => {
  responses = [rejection(429, header), bookOf('2')];
  const books = createRestBooks({ baseUrl: 'http://venue.test' });
  await expect(books.fetch('1', 'silent', stop.signal)).rejects.toThrow('status 429');
  expect((await books.fetch('2', 'silent', stop.signal))?.assetId).toBe('2');
});

it('fetch rejects with the abort reason when it is aborted while it waits', async () => {
  responses = [rejection(429, '30')];
  const books = createRestBooks({ baseUrl: 'http://venue.test' });
  const own = new AbortController();
  await expect(books.fetch('1', 'silent', own.signal)).rejects.toThrow('status 429');
  const waiting = books.fetch('2', 'silent', own.signal);
  const rejected = expect(waiting).rejects.toThrow('stopped');
  own.abort(new Error('stopped'));
  await rejected;
  expect(requested).toEqual(['1']);
});
