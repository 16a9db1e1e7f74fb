import { readText } from '../../http/read-text.js';
import type { Logger } from '../../telemetry/logger.js';
import type { Metrics } from '../../telemetry/metrics.js';
import { PlatformError } from '../port.js';
import { problemResponse } from './response.js';

export interface PlatformHttpOptions {
  /** Base of the API, e.g. https://api.x.com/2 */
  readonly url: string;
  /** Bearer token of the app. */
  readonly token: string;
  readonly logger: Logger;
  readonly metrics: Metrics;
  readonly nowMs: () => number;
  readonly pause: (ms: number) => Promise<unknown>;
  /** Time for one attempt. */
  readonly timeoutMs?: number;
}

export interface PlatformHttp {
  /** Parsed JSON of a 200; null for a 404. Rejects with PlatformError. */
  get(path: string, params: Readonly<Record<string, string>>): Promise<unknown>;
}

const TIMEOUT_MS = 8_000;
const MAX_BYTES = 8 * 1024 * 1024;
/** Attempts for failures that may pass, with a pause that doubles. */
const ATTEMPTS = 3;
const FIRST_PAUSE_MS = 250;
/** No further attempt begins after this time. */
const MAX_RETRY_MS = 10_000;
/** Distance that the platform demands between two requests of a kind, and a margin for the way there. Other kinds have none. */
const INTERVALS_MS: ReadonlyMap<string, number> = new Map([['/tweets/search/all', 1_100]]);
/** Longest wait for the turn of a request. */
const MAX_WAIT_MS = 8_000;
/** Requests at once: bounds the memory of their responses. */
const MAX_RUNNING = 16;
const RETRY_AFTER_S = 5;
const UNAUTHORIZED_RETRY_S = 60;
/** The platform counts requests in windows of 15 minutes. */
const WINDOW_S = 900;

/** First path segments without ids: requests of one kind share a rate limit of the platform. */
const kindOf = (path: string): string => path.replace(/\d+/g, ':id').replace(/(by\/username\/).*/, '$1:handle');

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** Requests to the platform's API: timeouts, retries of server errors, its rate limits, bounded responses. */
export function createPlatformHttp(options: PlatformHttpOptions): PlatformHttp {
  const { logger, nowMs } = options;
  const requests = options.metrics.counter('social_platform_requests_total', 'Requests to the platform of posts', [
    'status',
  ]);
  /** Unix ms until which the platform rejects requests of a kind. */
  const blockedUntil = new Map<string, number>();
  /** Unix ms from which the next request of a kind may be sent. */
  const nextTurn = new Map<string, number>();

  const rateLimited = (untilMs: number): PlatformError => {
    const retryAfterS = Math.min(WINDOW_S, Math.max(1, Math.ceil((untilMs - nowMs()) / 1000)));
    return new PlatformError('rate_limited', 'The platform limits the rate of requests', retryAfterS);
  };

  const throwIfBlocked = (kind: string): void => {
    const untilMs = blockedUntil.get(kind) ?? 0;
    const leftMs = untilMs - nowMs();
    // A longer one was set before the clock was set back.
    if (leftMs > 0 && leftMs <= WINDOW_S * 1000) throw rateLimited(untilMs);
  };

  /** Waits until a request of the kind may be sent. Rejects at once if that would take too long. */
  const waitForTurn = async (kind: string): Promise<void> => {
    throwIfBlocked(kind);
    const intervalMs = INTERVALS_MS.get(kind);
    if (intervalMs === undefined) return;
    const now = nowMs();
    const nextMs = nextTurn.get(kind) ?? 0;
    // No turn is given later than that, unless the clock was set back since.
    const turnMs = nextMs > now + MAX_WAIT_MS + intervalMs ? now : Math.max(now, nextMs);
    const waitMs = turnMs - now;
    if (waitMs > MAX_WAIT_MS) throw rateLimited(turnMs);
    nextTurn.set(kind, turnMs + intervalMs);
    if (waitMs === 0) return;
    await options.pause(waitMs);
    throwIfBlocked(kind);
  };

  const send = async (path: string, params: Readonly<Record<string, string>>) => {
    const url = new URL(`${options.url.replace(/\/+$/, '')}${path}`);
    for (const [name, value] of Object.entries(params)) url.searchParams.set(name, value);
    try {
      const response = await fetch(url, {
        headers: { authorization: `Bearer ${options.token}` },
        // The token must not follow a redirect to another host.
        redirect: 'error',
        signal: AbortSignal.timeout(options.timeoutMs ?? TIMEOUT_MS),
      });
      const text = await readText(response, MAX_BYTES);
      requests.inc({ status: String(response.status) });
      return { status: response.status, headers: response.headers, text };
    } catch (error) {
      requests.inc({ status: 'failed' });
      return { status: 0, headers: new Headers(), text: '', error };
    }
  };

  let running = 0;
  const get: PlatformHttp['get'] = async (path, params) => {
    const kind = kindOf(path);
    const startedMs = nowMs();
    for (let attempt = 1; ; attempt += 1) {
      await waitForTurn(kind);
      const { status, headers, text, error } = await send(path, params);
      if (status === 200) {
        const body = parseJson(text);
        if (body === undefined) throw new PlatformError('malformed', 'The platform did not send JSON', RETRY_AFTER_S);
        return body;
      }
      if (status === 404) return null;
      if (status === 429) {
        const resetS = Number(headers.get('x-rate-limit-reset'));
        const limitedUntilMs = resetS > 0 ? Math.min(resetS * 1000, nowMs() + WINDOW_S * 1000) : nowMs() + 60_000;
        blockedUntil.set(kind, limitedUntilMs);
        logger.warn({ path: kind, untilMs: limitedUntilMs }, 'the platform of posts limits the rate of requests');
        throw rateLimited(limitedUntilMs);
      }
      if (status === 400) {
        const problem = problemResponse.safeParse(parseJson(text));
        const reason = problem.success ? (problem.data.errors?.[0]?.message ?? problem.data.detail) : undefined;
        throw new PlatformError('bad_query', reason?.slice(0, 300) ?? 'no reason given', RETRY_AFTER_S);
      }
      if (status > 400 && status < 500) {
        // Wrong or capped credentials: only an operator can help.
        logger.error({ path: kind, status }, 'the platform of posts does not accept SOCIAL_API_TOKEN for this request');
        throw new PlatformError('unauthorized', `The platform responded with ${status}`, UNAUTHORIZED_RETRY_S);
      }
      if (attempt === ATTEMPTS || nowMs() - startedMs >= MAX_RETRY_MS) {
        const what = status === 0 ? 'cannot be reached' : `responded with ${status}`;
        throw new PlatformError('unavailable', `The platform ${what}`, RETRY_AFTER_S, { cause: error });
      }
      await options.pause(FIRST_PAUSE_MS * 2 ** (attempt - 1));
    }
  };

  return {
    async get(path, params) {
      if (running >= MAX_RUNNING)
        throw new PlatformError('unavailable', `More than ${MAX_RUNNING} requests to the platform run`, 1);
      running += 1;
      try {
        return await get(path, params);
      } finally {
        running -= 1;
      }
    },
  };
}
