import type { HttpRequest, HttpResponse } from 'uWebSockets.js';
import { hostRejection } from '../infra/http/request-guard.js';
import { requestIdFrom } from '../infra/http/response-headers.js';
import type { PlanTerms } from '../schemas/plans.js';
import type { Admission, ConnectionPermit } from './admission/admission.js';
import { apiKeyOf } from './api-key-of.js';
import { type ConnectionOptions, parseConnectionOptions } from './protocol/connection-options.js';

export type KeyCheckResult =
  | { readonly status: 'ok'; readonly accountId: string; readonly keyHash: string; readonly terms: PlanTerms }
  | { readonly status: 'malformed' | 'inactive' };

/** Data of an admitted client, known before the upgrade. */
export interface AdmittedClient extends ConnectionOptions {
  readonly accountId: string;
  readonly keyHash: string;
  readonly terms: PlanTerms;
  readonly permit: ConnectionPermit;
}

export type RejectionKind =
  | 'foreignHost'
  | 'badParameter'
  | 'malformed'
  | 'inactive'
  | 'tooMany'
  | 'sessionUsedUp'
  | 'starting'
  | 'stopping'
  | 'busy';

type Context = Parameters<HttpResponse['upgrade']>[4];

/** Bound of the upgrades that wait for admission; further ones get 503 with retry-after. */
const MAX_PENDING_UPGRADES = 10_000;

/** The request's `x-request-id` if it is well-formed, otherwise a new one. */
export const requestIdOf = (request: HttpRequest): string => requestIdFrom(request.getHeader('x-request-id'));

/** `retryAfterS`: value of the retry-after header, seconds. */
const REJECTIONS: Readonly<
  Record<RejectionKind, { readonly status: string; readonly error: string; readonly retryAfterS?: number }>
> = {
  foreignHost: { status: '403 Forbidden', error: 'This host is not served here.' },
  badParameter: { status: '400 Bad Request', error: 'Invalid query parameter.' },
  malformed: { status: '401 Unauthorized', error: 'Missing or invalid API key. Use x-api-key header or ?key= param.' },
  inactive: { status: '403 Forbidden', error: 'Invalid or inactive API key.' },
  tooMany: { status: '429 Too Many Requests', error: 'Too many connections for your plan.', retryAfterS: 30 },
  sessionUsedUp: {
    status: '429 Too Many Requests',
    error: 'The session time of your plan is used up for today.',
  },
  starting: { status: '503 Service Unavailable', error: 'Starting up; try again in a few seconds.', retryAfterS: 5 },
  stopping: { status: '503 Service Unavailable', error: 'Restarting; try again in a few seconds.', retryAfterS: 5 },
  busy: {
    status: '503 Service Unavailable',
    error: 'Too many connections are being opened; try again in a few seconds.',
    retryAfterS: 5,
  },
};

interface RejectionDetails {
  readonly requestId: string;
  readonly body?: Readonly<Record<string, unknown>>;
  readonly retryAfterS?: number;
}

function rejectUpgrade(response: HttpResponse, kind: RejectionKind, details: RejectionDetails): void {
  const { status, error, retryAfterS = details.retryAfterS } = REJECTIONS[kind];
  response.cork(() => {
    response
      .writeStatus(status)
      .writeHeader('content-type', 'application/json')
      .writeHeader('x-request-id', details.requestId);
    if (retryAfterS !== undefined) response.writeHeader('retry-after', String(retryAfterS));
    response.end(JSON.stringify({ error, ...details.body }));
  });
}

/**
 * Admits clients or rejects them before the upgrade: 400, 401, 403, 429 or 503 with a JSON body. Admission may wait; if the client has disconnected
 * meanwhile, its permit is released.
 */
export function createUpgradeHandler(deps: {
  /** Host names of this server, in addition to loopback names and IP addresses. */
  allowedHosts: readonly string[];
  verifyKey: (key: string) => KeyCheckResult;
  admission: Admission;
  /** True once this process has caught up with the stream. */
  ready: () => boolean;
  stopping: () => boolean;
  nowMs: () => number;
  accept: (
    response: HttpResponse,
    client: AdmittedClient,
    handshake: readonly [string, string, string],
    context: Context,
  ) => void;
  onRejected: (kind: RejectionKind) => void;
  onError: (error: unknown) => void;
}): (response: HttpResponse, request: HttpRequest, context: Context) => void {
  let pending = 0;

  return (response, request, context) => {
    const key = apiKeyOf(request);
    const options = parseConnectionOptions((name) => request.getQuery(name));
    const handshake = [
      request.getHeader('sec-websocket-key'),
      request.getHeader('sec-websocket-protocol'),
      request.getHeader('sec-websocket-extensions'),
    ] as const;
    const requestId = requestIdOf(request);
    const reject = (kind: RejectionKind, details: Omit<RejectionDetails, 'requestId'> = {}) => {
      deps.onRejected(kind);
      rejectUpgrade(response, kind, { ...details, requestId });
    };
    // The key is the only credential and no cookie is read, so pages of any origin may connect: Origin is not checked.
    const host = { host: request.getHeader('host'), origin: undefined, secFetchSite: undefined };
    const rejection = hostRejection(host, deps.allowedHosts);
    if (rejection !== undefined) return reject('foreignHost', { body: { error: rejection } });
    if (deps.stopping()) return reject('stopping');
    if (!deps.ready()) return reject('starting');
    const keyCheck = deps.verifyKey(key);
    if (keyCheck.status !== 'ok') return reject(keyCheck.status);
    if (typeof options === 'string') return reject('badParameter', { body: { error: options } });
    if (pending >= MAX_PENDING_UPGRADES) return reject('busy');
    const { accountId, keyHash, terms } = keyCheck;
    let disconnected = false;
    response.onAborted(() => {
      disconnected = true;
    });
    const admit = async () => {
      pending++;
      const admitted = await deps.admission.admit({ accountId, terms }).finally(() => pending--);
      if (disconnected) {
        if (admitted.status === 'ok') admitted.permit.release();
        return;
      }
      if (admitted.status === 'too_many') return reject('tooMany');
      if (admitted.status === 'session_used_up') {
        return reject('sessionUsedUp', {
          body: { resets_at: new Date(admitted.resetsAtMs).toISOString() },
          retryAfterS: Math.max(1, Math.ceil((admitted.resetsAtMs - deps.nowMs()) / 1000)),
        });
      }
      if (deps.stopping()) {
        admitted.permit.release();
        return reject('stopping');
      }
      try {
        deps.accept(response, { accountId, keyHash, terms, ...options, permit: admitted.permit }, handshake, context);
      } catch (error) {
        admitted.permit.release();
        throw error;
      }
    };
    admit().catch((error: unknown) => {
      deps.onError(error);
      if (!disconnected) reject('busy');
    });
  };
}
