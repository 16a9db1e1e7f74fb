import { RetryableError } from '../../../infra/errors.js';
import { readText } from '../../../infra/http/read-text.js';
import type { Logger } from '../../../infra/telemetry/logger.js';
import type { Metrics } from '../../../infra/telemetry/metrics.js';
import { excerptOf, parseJson } from '../../shared/parse-json.js';
import { pause } from '../../shared/pause.js';
import { retryAfterMs } from '../../shared/retry-after.js';
import { createTokenBucket } from '../../shared/token-bucket.js';
import { createHydrationCounts, type HydrationCounts } from '../hydration-counts.js';

/** The service rejected a request permanently (a 4xx other than 408 and 429): a repetition cannot succeed. */
export class GammaRejectedError extends Error {
  override name = 'GammaRejectedError';
  constructor(
    readonly status: number,
    message: string,
  ) {
    super(message);
  }
}

export type Query = readonly (readonly [name: string, value: string])[];

export interface GammaClient {
  /**
   * Returns the parsed JSON of a GET. Retries network faults, 408, 429, 5xx and responses that are not JSON, with exponential backoff or
   * after Retry-After; throws RetryableError after the last attempt, GammaRejectedError for any other status, and the abort reason when
   * the signal aborts.
   */
  get(path: string, query: Query, signal: AbortSignal): Promise<unknown>;
}

export interface GammaClientOptions {
  readonly baseUrl: string;
  readonly logger: Logger;
  readonly metrics: Metrics;
  /** Its `gamma_hydration_*_errors` fields are incremented for every failed request. */
  readonly counts?: HydrationCounts;
  /** Rate limit of this client, far below the service's 500 requests to /events per 10 s. */
  readonly perSecond?: number;
  readonly burst?: number;
  readonly attempts?: number;
  readonly timeoutMs?: number;
  readonly backoffMs?: number;
  readonly maxBackoffMs?: number;
  /** Longer bodies are aborted while they are received; a page of 100 events is below 5 MB. */
  readonly maxBodyBytes?: number;
  /** Called with false when an attempt and its first retry have failed, and with true when a request succeeds after that. */
  readonly onReachable?: (reachable: boolean) => void;
  /** Jitter of retry delays, 0 <= x < 1. */
  readonly random?: () => number;
}

export function createGammaClient(options: GammaClientOptions): GammaClient {
  const {
    logger,
    attempts = 6,
    timeoutMs = 20_000,
    backoffMs = 500,
    maxBackoffMs = 60_000,
    maxBodyBytes = 32 * 1024 * 1024,
    random = Math.random,
    counts = createHydrationCounts(),
  } = options;
  const bucket = createTokenBucket({ perSecond: options.perSecond ?? 10, burst: options.burst ?? 10 });
  const requests = options.metrics.counter('gamma_requests_total', 'Catalog requests by outcome', ['outcome']);

  let reachable = true;
  const setReachable = (now: boolean) => {
    if (now !== reachable) options.onReachable?.(now);
    reachable = now;
  };

  /** The parsed body, or the reason of the failure and the delay before the next attempt (null: the exponential backoff). */
  const attempt = async (
    url: URL,
    signal: AbortSignal,
  ): Promise<{ body: unknown } | { why: string; waitMs: number | null }> => {
    let status = 0;
    try {
      const response = await fetch(url, {
        headers: { accept: 'application/json' },
        signal: AbortSignal.any([signal, AbortSignal.timeout(timeoutMs)]),
      });
      status = response.status;
      const text = await readText(response, maxBodyBytes);
      if (response.ok) {
        const body = parseJson(text);
        requests.inc({ outcome: 'ok' });
        return { body };
      }
      requests.inc({ outcome: String(status) });
      counts.gamma_hydration_status_errors++;
      if (status !== 408 && status !== 429 && status < 500) {
        throw new GammaRejectedError(status, `${url.pathname} responded with status ${status}: ${excerptOf(text)}`);
      }
      return { why: `status ${status}`, waitMs: retryAfterMs(response.headers.get('retry-after')) };
    } catch (error) {
      if (signal.aborted) throw signal.reason;
      if (error instanceof GammaRejectedError) throw error;
      if (status === 0 || status === 200) requests.inc({ outcome: status === 0 ? 'network' : 'unreadable' });
      if (error instanceof SyntaxError) counts.gamma_hydration_parse_errors++;
      else counts.gamma_hydration_request_errors++;
      const cause = error instanceof Error && error.cause instanceof Error ? `: ${error.cause.message}` : '';
      return { why: `${String(error)}${cause}`, waitMs: null };
    }
  };

  return {
    async get(path, query, signal) {
      const url = new URL(path, options.baseUrl);
      for (const [name, value] of query) url.searchParams.append(name, value);
      for (let n = 1; ; n++) {
        await bucket.take(signal);
        signal.throwIfAborted();
        const result = await attempt(url, signal);
        if ('body' in result) {
          setReachable(true);
          return result.body;
        }
        if (n > 1) setReachable(false);
        if (n >= attempts) throw new RetryableError(`${url.host}${path}: ${result.why} (${n} attempts)`);
        const grown = backoffMs * 2 ** (n - 1) * (0.5 + random() / 2);
        const waitMs = Math.min(maxBackoffMs, result.waitMs ?? grown);
        logger.warn(
          { path, why: result.why, attempt: n, waitMs: Math.round(waitMs) },
          'catalog request failed, retrying',
        );
        await pause(waitMs, signal);
      }
    },
  };
}
