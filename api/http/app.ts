import { Readable } from 'node:stream';
import express, { type ErrorRequestHandler, type Express, type Request, type Response } from 'express';
import type { UsedUpUntil } from '../../infra/accounts/used-up.js';
import { isTransient } from '../../infra/errors.js';
import type { Logger } from '../../infra/telemetry/logger.js';
import type { Metrics } from '../../infra/telemetry/metrics.js';
import { missingFeatureStatus } from '../../schemas/plans.js';
import { apiKeyFromRequest } from '../auth/api-key-from-request.js';
import { authenticate, type Caller, type KeyDirectory } from '../auth/caller.js';
import type { SessionCaller } from '../auth/session.js';
import type { AdmitSession } from '../auth/session-admission.js';
import { apiGroupOf, renderFailure } from '../errors/error-formats.js';
import { ApiError, type Failure } from '../errors/failure.js';
import { countIfKeyed, limitKeyless } from '../limits/keyless.js';
import type { RateLimiter } from '../limits/rate-limiter.js';
import { usedUpRejection } from '../limits/used-up-rejection.js';
import { isBillable, type MeterRequest } from '../metering/port.js';
import { rejectUntilReady } from '../readiness/reject-until-ready.js';
import type { TableProgress } from '../readiness/table-progress.js';
import { cors, requestIdOf, requestIds, secureHeaders } from './headers.js';
import { BODY_LIMIT_BYTES, type Reply, type Route } from './route.js';
import { guardHost, guardWrites } from './site-guards.js';

export interface AppDeps {
  readonly routes: readonly Route[];
  readonly keys: KeyDirectory;
  readonly admitSession: AdmitSession;
  readonly limiter: RateLimiter;
  /** Requests that count against no account which one client address may send per minute; default: the common limit. */
  readonly keylessPerMinute?: number;
  /** Null: usage is not enforced. Routes of sessions stay open, so that the usage can be seen. */
  readonly usedUpUntil: UsedUpUntil | null;
  readonly meter: MeterRequest;
  readonly progress: Pick<TableProgress, 'current'>;
  readonly logger: Logger;
  readonly metrics: Metrics;
  readonly nowMs: () => number;
  /** Addresses or networks whose `x-forwarded-for` header is trusted. */
  readonly trustedProxies: readonly string[];
  /** Host names accepted in `Host`, besides loopback names and IP addresses. */
  readonly allowedHosts: readonly string[];
  /** scheme://host[:port] under which browsers reach this API; only its pages may write. */
  readonly serverOrigin: string;
  /** Page on which a caller can change the plan; named in plan errors. */
  readonly upgradeUrl: string;
  /** Mounted before the routes: pages and assets. */
  readonly pages?: (app: Express) => void;
}

const RETRY_AFTER_S = 2;
const JSON_TYPE = 'application/json';
const BUCKETS_S = [0.002, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 10];

const pathOf = (request: Request): string => request.originalUrl.split('?', 1)[0] ?? '/';
const queryOf = (request: Request): URLSearchParams => {
  const at = request.originalUrl.indexOf('?');
  return new URLSearchParams(at < 0 ? '' : request.originalUrl.slice(at + 1));
};

/** Content-type parameters (`; charset=utf-8`) are ignored: a JSON body is UTF-8. */
const isJson = (contentType: string | undefined): boolean =>
  contentType?.split(';', 1)[0]?.trim().toLowerCase() === JSON_TYPE;

/** Converts an error of the body parser. Every such error, including broken compression, is caused by the sender. */
function toBodyFailure(error: unknown, limitBytes: number): Failure {
  const type = (error as { type?: unknown }).type;
  if (type === 'entity.too.large') return { kind: 'body_too_large', limitBytes };
  const notJson = type === 'entity.parse.failed';
  return { kind: 'bad_body', message: notJson ? 'Request body is not valid JSON.' : 'Request body cannot be read.' };
}

/** Converts an error to a failure without internal details. Any unexpected error is `internal`. */
function toFailure(error: unknown): Failure {
  if (error instanceof ApiError) return error.failure;
  if (error instanceof URIError) return { kind: 'bad_encoding' };
  const { status } = (error ?? {}) as { status?: unknown };
  if (status === 412 || status === 416) return { kind: 'unmet_condition', status };
  if (isTransient(error)) return { kind: 'upstream', retryAfterS: RETRY_AFTER_S };
  return { kind: 'internal' };
}

function send(response: Response, route: Route, reply: Reply<unknown>): void {
  response.status(reply.status ?? route.success.status);
  for (const [name, value] of Object.entries(reply.headers ?? {})) response.setHeader(name, value);
  // A response that is read while the history loads is outdated at once and must not be cached.
  if (reply.cache !== undefined && !response.hasHeader('x-loading')) {
    const maxAgeS = reply.cache.maxAgeS ?? route.cacheS ?? 0;
    response.setHeader('cache-control', `private, max-age=${maxAgeS}`);
    response.setHeader('age', String(Math.min(maxAgeS, Math.floor(reply.cache.ageMs / 1000))));
  } else response.setHeader('cache-control', 'no-store');
  const contentType = reply.contentType ?? route.success.contentType;
  if (reply.body instanceof Readable) {
    response.type(contentType ?? JSON_TYPE);
    sendBytes(response, reply.body);
  } else if (contentType === undefined) response.json(reply.body);
  else response.type(contentType).send(String(reply.body));
}

function sendBytes(response: Response, stream: Readable): void {
  if (response.destroyed || stream.destroyed) {
    stream.destroy();
    response.destroy();
    return;
  }
  // The status has been sent: only a cut connection shows the client that the rest is missing.
  stream.once('error', () => response.destroy());
  response.once('close', () => stream.destroy());
  stream.pipe(response);
}

/** A signal that aborts when the client disconnects before the response is complete. */
function closeSignal(response: Response): AbortSignal {
  const controller = new AbortController();
  if (response.destroyed) controller.abort();
  response.once('close', () => {
    if (!response.writableFinished) controller.abort();
  });
  return controller.signal;
}

/** The Express app: the routes in order, 405 for other methods of their paths, 404 for other paths, and error formats for everything thrown. */
export function createApp(deps: AppDeps): Express {
  const app = express();
  app.disable('x-powered-by');
  app.disable('etag');
  app.set('query parser', false);
  app.set('trust proxy', deps.trustedProxies.length === 0 ? false : [...deps.trustedProxies]);
  app.enable('case sensitive routing');
  const seconds = deps.metrics.histogram('api_request_seconds', 'Request duration by route, seconds', BUCKETS_S, [
    'route',
    'method',
    'status',
  ]);
  const failures = deps.metrics.counter('api_failures_total', 'Rejected or failed requests', ['api_group', 'kind']);

  app.use(
    requestIds(),
    secureHeaders(deps.serverOrigin),
    guardHost(deps.allowedHosts),
    cors(),
    guardWrites(deps.serverOrigin),
  );
  const firstSegments = new Set(deps.routes.map(({ path }) => path.split('/')[1]));
  const isApiPath = (path: string): boolean => firstSegments.has(path.split('/', 2)[1]);
  app.use(limitKeyless({ keys: deps.keys, nowMs: deps.nowMs, isApiPath, perMinute: deps.keylessPerMinute }));
  deps.pages?.(app);

  const sessionOf = async (route: Route, request: Request, response: Response): Promise<SessionCaller | null> => {
    if (route.auth !== 'session') return null;
    countIfKeyed(response);
    return deps.admitSession(request, response, deps.nowMs());
  };
  const admit = async (route: Route, request: Request, response: Response): Promise<Caller | null> => {
    if (route.auth === 'none') {
      countIfKeyed(response);
      return null;
    }
    const key = apiKeyFromRequest(request.headers, queryOf(request));
    if (route.auth === 'optional' && key === null) return null;
    const caller = authenticate(key, deps.keys);
    response.locals.caller = caller;
    const gated = route.feature !== undefined && !caller.terms.features[route.feature];
    const nowMs = deps.nowMs();
    const requests = gated ? 1 : (route.requestsOf?.(queryOf(request)) ?? 1);
    response.locals.requests = requests;
    const verdict = await deps.limiter.admit(caller, { heavy: route.isHeavy === true && !gated, nowMs, requests });
    for (const [name, value] of Object.entries(verdict.headers)) response.setHeader(name, value);
    if (verdict.rejection !== null) throw verdict.rejection;
    const usedUpUntilMs = gated ? null : (deps.usedUpUntil?.(caller.accountId, 'api_requests', nowMs) ?? null);
    if (usedUpUntilMs !== null) throw usedUpRejection(caller, usedUpUntilMs, nowMs);
    if (gated && route.feature !== undefined) {
      const status = missingFeatureStatus[route.feature];
      throw new ApiError({ kind: 'plan_gate', tier: caller.plan, upgradeUrl: deps.upgradeUrl, status });
    }
    return caller;
  };

  for (const route of deps.routes) {
    const bodyLimitBytes = route.bodyLimitBytes ?? BODY_LIMIT_BYTES;
    const readBody =
      route.rawBody === true
        ? express.raw({ limit: bodyLimitBytes, type: () => true, inflate: false })
        : express.json({ limit: bodyLimitBytes, type: () => true });
    const path = route.path.replace(/\{(\w+)\}/g, ':$1');
    const observe = (request: Request, response: Response) => {
      const startedMs = performance.now();
      response.locals.startedMs = startedMs;
      response.once('close', () => {
        const status = response.statusCode;
        const labels = { route: route.path, method: request.method, status: String(status) };
        seconds.observe(labels, (performance.now() - startedMs) / 1000);
        const caller = response.locals.caller as Caller | undefined;
        if (caller === undefined || !response.writableFinished) return;
        const completedAtMs = deps.nowMs();
        const requests = (response.locals.requests as number | undefined) ?? 1;
        deps.meter({ caller, route: route.path, status, completedAtMs, billable: isBillable(status), requests });
      });
    };
    app[route.method](path, async (request, response) => {
      observe(request, response);
      const session = await sessionOf(route, request, response);
      const caller = session === null ? await admit(route, request, response) : null;
      if (route.jsonOnly === true && !isJson(request.headers['content-type'])) {
        throw new ApiError({ kind: 'wrong_content_type', expected: JSON_TYPE });
      }
      if (route.body !== null || route.rawBody === true) {
        await new Promise<void>((resolve, reject) => {
          readBody(request, response, (error?: unknown) =>
            error === undefined
              ? resolve()
              : reject(new ApiError(toBodyFailure(error, bodyLimitBytes), { cause: error })),
          );
        });
      }
      const startedMs = response.locals.startedMs as number;
      const { reads = [], respondsWhileEmpty } = route;
      const headers = rejectUntilReady(reads, deps.progress.current(), respondsWhileEmpty);
      for (const [name, value] of Object.entries(headers)) response.setHeader(name, value);
      const { body } = request as { body?: unknown };
      const reply = await route.handle(
        {
          query: queryOf(request),
          params: request.params as Record<string, string>,
          body,
        },
        {
          endpoint: route.path,
          requestId: requestIdOf(response),
          clientIp: request.ip ?? '',
          headers: request.headers,
          rawQuery: queryOf(request),
          rawBody: route.rawBody === true && Buffer.isBuffer(body) ? body : null,
          nowMs: deps.nowMs(),
          elapsedMs: () => Math.round(performance.now() - startedMs),
          closed: () => closeSignal(response),
          caller,
          session,
        },
      );
      send(response, route, reply);
    });
  }

  const allowed = new Map<string, string[]>();
  for (const route of deps.routes) {
    const methods = route.method === 'get' ? ['GET', 'HEAD'] : [route.method.toUpperCase()];
    allowed.set(route.path, [...(allowed.get(route.path) ?? []), ...methods]);
  }
  for (const [path, allow] of allowed) {
    app.all(path.replace(/\{(\w+)\}/g, ':$1'), (_request, response) => {
      countIfKeyed(response);
      throw new ApiError({ kind: 'method_not_allowed', allow });
    });
  }
  app.use((_request, response) => {
    countIfKeyed(response);
    throw new ApiError({ kind: 'not_found', message: 'Not found.' });
  });

  /** The router rejects a path with a malformed escape before a route can count the request. */
  const countMalformedPath = (error: unknown, response: Response): unknown => {
    if (!(error instanceof URIError)) return error;
    try {
      countIfKeyed(response);
      return error;
    } catch (limited) {
      return limited;
    }
  };
  const onError: ErrorRequestHandler = (error, request, response, next) => {
    const failure = toFailure(countMalformedPath(error, response));
    const apiGroup = apiGroupOf(pathOf(request));
    failures.inc({ api_group: apiGroup, kind: failure.kind });
    if (failure.kind === 'internal' || failure.kind === 'upstream') {
      const fields = { err: error, path: pathOf(request), requestId: requestIdOf(response) };
      if (failure.kind === 'internal') deps.logger.error(fields, 'request failed');
      else deps.logger.warn(fields, 'request failed upstream');
    }
    if (response.headersSent) {
      next(error);
      return;
    }
    const rendered = renderFailure(apiGroup, failure);
    for (const [name, value] of Object.entries(rendered.headers)) response.setHeader(name, value);
    response.setHeader('cache-control', 'no-store');
    // A response that was about to send a file has set its own content type.
    response.type('application/json');
    response.status(rendered.status).json(rendered.body);
  };
  app.use(onError);
  return app;
}
