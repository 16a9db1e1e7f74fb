// Requests under /v2/copy-pnl: the API accepts one per 5 s and key, so they wait for their turn here.

import { ApiError, currentKey, get } from './api.js';

const BASE = '/v2/copy-pnl';
const INTERVAL_MS = 5_000;
/** A longer wait is not that of the limit: the allowance of the month is used up. */
const LONGEST_WAIT_MS = 60_000;

let last = Promise.resolve();
let nextMs = 0;

const wait = (ms) => new Promise((resolve) => setTimeout(resolve, ms));

/** Runs `request` when the limit allows. `isObsolete`: drops the request, without using the limit, when its turn comes. */
function inTurn(request, isObsolete) {
  const run = async () => {
    await wait(nextMs - Date.now());
    if (isObsolete()) return null;
    for (;;) {
      nextMs = Date.now() + INTERVAL_MS;
      try {
        const body = await request();
        // The API counts from its acceptance of the request, which is earlier.
        nextMs = Date.now() + INTERVAL_MS;
        return body;
      } catch (error) {
        // Another tab or program with the same key was faster.
        if (!(error instanceof ApiError) || error.status !== 429 || isObsolete()) throw error;
        const retryAtMs = error.retryAtMs ?? nextMs;
        if (retryAtMs - Date.now() > LONGEST_WAIT_MS) throw error;
        nextMs = retryAtMs;
        await wait(nextMs - Date.now());
      }
    }
  };
  const result = last.then(run);
  last = result.catch(() => undefined);
  return result;
}

/** Seconds until the next request is accepted. */
export const waitS = () => Math.max(0, Math.ceil((nextMs - Date.now()) / 1000));

/** The body of a GET, or null if it became obsolete before its turn. Throws ApiError. */
export const copyGet = (path, query = {}, isObsolete = () => false) =>
  inTurn(() => get(`${BASE}/${path}`, query), isObsolete);

/** POST or DELETE of the pool's wallets. Throws ApiError. */
export const changePool = (method, addresses) =>
  inTurn(
    async () => {
      let response;
      try {
        response = await fetch(`${BASE}/wallets`, {
          method,
          headers: { 'x-api-key': currentKey(), 'content-type': 'application/json' },
          body: JSON.stringify({ addresses }),
        });
      } catch {
        throw new ApiError({
          status: 0,
          body: { error: 'The API does not respond.' },
          retryAtMs: null,
          requestId: null,
        });
      }
      const body = await response.json().catch(() => null);
      if (response.ok && body !== null) return body;
      const retryS = Number(response.headers.get('retry-after'));
      throw new ApiError({
        status: response.status,
        body,
        retryAtMs: retryS > 0 ? Date.now() + retryS * 1000 : null,
        requestId: response.headers.get('x-request-id'),
      });
    },
    () => false,
  );
