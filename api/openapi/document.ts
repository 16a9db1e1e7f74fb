import { z } from 'zod';
import type { ReferenceDocument } from '../../pages/docs/reference-markdown.js';
import { commonLimits, missingFeatureStatus, plans } from '../../schemas/plans.js';
import { renderFailure } from '../errors/error-formats.js';
import type { Failure } from '../errors/failure.js';
import type { Aliases } from '../http/query-parameters.js';
import { BODY_LIMIT_BYTES, errorSchema, type ResponseSpec, type Route } from '../http/route.js';
import { describeFields } from './describe-fields.js';
import { recordedExample } from './recorded-examples.js';
import { sqlStatements } from './sql-statements.js';

type Json = Readonly<Record<string, unknown>>;

/** Most responses of the document have the schema of an error. */
const converted = { input: new WeakMap<z.ZodType, Json>(), output: new WeakMap<z.ZodType, Json>() };

/** JSON Schema 2020-12, which OpenAPI 3.1 embeds unchanged. */
function jsonSchema(schema: z.ZodType, io: 'input' | 'output'): Json {
  const known = converted[io].get(schema);
  if (known !== undefined) return known;
  const { $schema: _dialect, ...rest } = z.toJSONSchema(schema, {
    io,
    target: 'draft-2020-12',
    unrepresentable: 'any',
  });
  converted[io].set(schema, rest);
  return rest;
}

const response = (path: string, spec: ResponseSpec, headers?: Json): Json => ({
  description: spec.description,
  ...(headers === undefined ? {} : { headers }),
  content: {
    [spec.contentType ?? 'application/json']: {
      schema: describeFields(jsonSchema(spec.schema, 'output'), path),
      example: spec.example,
    },
    ...Object.fromEntries(
      Object.entries(spec.otherContent ?? {}).map(([type, { schema, example }]) => [
        type,
        { schema: describeFields(jsonSchema(schema, 'output'), path), example },
      ]),
    ),
  },
});

const exampleOf = (example: unknown): Json => (example === undefined ? {} : { example });

function parameters(route: Route, where: 'query' | 'path', aliases: Aliases = {}): Json[] {
  const schema = where === 'path' ? route.params : route.query;
  if (schema === null) return [];
  const { properties = {}, required = [] } = jsonSchema(schema, 'input') as {
    properties?: Record<string, Json>;
    required?: readonly string[];
  };
  const named = Object.entries(aliases).map(([alias, main]): [string, Json] => [
    alias,
    { ...properties[main], description: `Alias of ${main}. If both are given, they must be equal.` },
  ]);
  return [...Object.entries(properties), ...named].map(([name, { description, example, ...rest }]) => ({
    name,
    in: where,
    required: where === 'path' || required.includes(name),
    ...(description === undefined ? {} : { description }),
    schema: rest,
    ...exampleOf(recordedExample(route.path, name) ?? example),
  }));
}

const rateHeaders = {
  'x-ratelimit-limit': {
    description: 'Requests per sliding 60 seconds; of a 429 what the limit admits that rejected the request.',
    schema: { type: 'integer' },
  },
  'x-ratelimit-remaining': { description: 'Requests left now.', schema: { type: 'integer' } },
  'x-ratelimit-reset': {
    description:
      'Time at which the oldest counted request leaves the window, or at which the limit admits a request, Unix seconds.',
    schema: { type: 'integer' },
  },
};
const requestIdHeader = { 'x-request-id': { description: 'Id of this request.', schema: { type: 'string' } } };
/** Headers of routes that read from tables whose history may still be loading. */
const loadingHeaders = {
  'x-loading': {
    description:
      'Present while a table of this response is loading: the tables, and the loaded share of their history.',
    schema: { type: 'string' },
  },
  'x-lagging': {
    description: 'Present while a table of this response lags by more than a minute: the tables, and their lag.',
    schema: { type: 'string' },
  },
  'x-complete-through-block': {
    description: 'With `x-loading` or `x-lagging`, if known: the data is complete up to this block.',
    schema: { type: 'integer' },
  },
  'x-complete-through': {
    description: 'With `x-loading` or `x-lagging`, if known: the data is complete before this time.',
    schema: { type: 'string', format: 'date-time' },
  },
};
const retryHeader = { 'retry-after': { description: 'Seconds to wait before a retry.', schema: { type: 'integer' } } };

const hasKeyLimits = (route: Route): boolean => route.auth !== 'none' && route.auth !== 'session';
/** Of routes that a signed-in browser changes something with. */
const csrfParameter: Json = {
  name: 'x-csrf-token',
  in: 'header',
  required: true,
  description: '`csrf_token` of `GET /v1/account`.',
  schema: { type: 'string' },
};

/** Failures of a route besides the declared ones, with an example each. */
function commonFailures(route: Route, upgradeUrl: string): readonly (readonly [string, Failure])[] {
  const nowMs = 1_811_000_466_512;
  const list: [string, Failure][] = [];
  if (route.query !== null || route.params !== null || route.body !== null) {
    list.push([
      'A parameter is missing, malformed or unknown.',
      { kind: 'bad_parameter', message: 'Invalid limit. Max 100000' },
    ]);
  } else if (route.allowUnknownQuery !== true) {
    const failure = { kind: 'unknown_parameter', name: 'limit', nearest: null, known: [] } as const;
    list.push(['The request has a query parameter; this endpoint has none.', failure]);
  }
  if (route.auth === 'session') {
    list.push(['Not signed in.', { kind: 'no_session' }]);
    list.push([
      'Too many requests.',
      { kind: 'rate_limited', retryAtMs: nowMs + 12_000, nowMs, limitPerMinute: commonLimits.sessionRequestsPerMinute },
    ]);
  } else if (route.auth === 'none') {
    list.push([
      'Too many requests of this client address.',
      { kind: 'rate_limited', retryAtMs: nowMs + 12_000, nowMs, limitPerMinute: commonLimits.keylessPerMinute },
    ]);
  } else {
    const unreadable =
      route.auth !== 'optional' ? 'No key, or not shaped like one.' : 'A key that is not shaped like one.';
    list.push([unreadable, { kind: 'missing_key' }]);
    list.push(['Unknown or inactive key.', { kind: 'unknown_key' }]);
    if (route.feature !== undefined && !plans.free.features[route.feature]) {
      const status = missingFeatureStatus[route.feature];
      list.push(['The plan does not include this endpoint.', { kind: 'plan_gate', tier: 'free', upgradeUrl, status }]);
    }
    const scope = route.isHeavy === true ? { scope: 'v3_heavy' } : {};
    list.push([
      'Too many requests.',
      { kind: 'rate_limited', retryAtMs: nowMs + 12_000, nowMs, limitPerMinute: 1000, ...scope },
    ]);
  }
  if (route.jsonOnly === true) {
    list.push(['The content type is not JSON.', { kind: 'wrong_content_type', expected: 'application/json' }]);
  }
  if (route.body !== null || route.rawBody === true) {
    list.push([
      'The body is too large.',
      { kind: 'body_too_large', limitBytes: route.bodyLimitBytes ?? BODY_LIMIT_BYTES },
    ]);
  }
  if (route.method !== 'get' || route.auth === 'session') {
    const message = 'Requests of web pages from another origin are not allowed here.';
    list.push(['The request comes from a web page of another origin.', { kind: 'forbidden', message }]);
  }
  list.push(['Internal error; report the request id.', { kind: 'internal' }]);
  if (route.reads !== undefined && route.respondsWhileEmpty !== true) {
    const message = 'Trades are still loading: 0 % of the history is loaded. Try again in 5 seconds.';
    const reason = 'The tables are still empty, or log or tables are unreachable.';
    list.push([reason, { kind: 'loading', message, retryAfterS: 5 }]);
  }
  list.push(['Log or tables are unreachable.', { kind: 'upstream', retryAfterS: 2 }]);
  return list;
}

function responses(route: Route, upgradeUrl: string): Json {
  const out: Record<string, Json> = {};
  const okHeaders = {
    ...requestIdHeader,
    ...(hasKeyLimits(route) ? rateHeaders : {}),
    ...(route.reads === undefined ? {} : loadingHeaders),
  };
  out[String(route.success.status)] = response(route.path, route.success, okHeaders);
  const limitedHeaders = { ...requestIdHeader, ...retryHeader, ...(hasKeyLimits(route) ? rateHeaders : {}) };
  for (const [status, spec] of Object.entries(route.otherResponses ?? {}))
    out[status] = response(route.path, spec, status === '429' ? limitedHeaders : requestIdHeader);
  for (const [description, failure] of commonFailures(route, upgradeUrl)) {
    const { status, body, headers } = renderFailure(route.apiGroup, failure);
    const declared = out[String(status)];
    if (declared !== undefined) continue;
    const extra = headers['retry-after'] === undefined ? requestIdHeader : { ...requestIdHeader, ...retryHeader };
    const sent = failure.kind === 'rate_limited' ? limitedHeaders : extra;
    out[String(status)] = response(route.path, { description, schema: errorSchema, example: body }, sent);
  }
  return out;
}

/** An empty security requirement permits a request without a key. */
function securityOf(auth: Route['auth']): readonly Json[] {
  const key = [{ header: [] }, { bearer: [] }, { query: [] }];
  if (auth === 'none') return [];
  if (auth === 'session') return [{ session: [] }];
  return auth === 'key' ? key : [...key, {}];
}

function operation(route: Route, upgradeUrl: string): Json {
  const notes = [
    route.description,
    route.cacheS === undefined
      ? undefined
      : `Cached: responses are at most ${route.cacheS} s old (\`Cache-Control\`, \`Age\`).`,
    route.isHeavy === true
      ? 'Counts against the standard and the trade-history limit; the stricter one applies.'
      : undefined,
    route.feature !== undefined && !plans.free.features[route.feature] ? 'Paid plans only.' : undefined,
  ].filter((note) => note !== undefined);
  return {
    operationId: `${route.method}${route.path.replace(/[^A-Za-z0-9]+(\w)?/g, (_match, next: string | undefined) => (next ?? '').toUpperCase())}`,
    tags: [route.tag],
    summary: route.summary,
    ...(notes.length === 0 ? {} : { description: notes.join('\n\n') }),
    parameters: [
      ...parameters(route, 'path'),
      ...parameters(route, 'query', route.aliases),
      ...(route.auth === 'session' && route.method !== 'get' ? [csrfParameter] : []),
    ],
    ...(route.body === null
      ? {}
      : {
          requestBody: {
            required: !route.body.safeParse(undefined).success,
            content: { 'application/json': { schema: describeFields(jsonSchema(route.body, 'input'), route.path) } },
          },
        }),
    responses: responses(route, upgradeUrl),
    security: securityOf(route.auth),
    ...(route.method === 'get' && sqlStatements[route.path] !== undefined
      ? { 'x-sql': sqlStatements[route.path] }
      : {}),
  };
}

/** OpenAPI 3.1 document, derived from the route declarations. */
export function openApiDocument(
  routes: readonly Route[],
  options: { upgradeUrl: string; version: string },
): Json & ReferenceDocument {
  const paths: Record<string, Record<string, Json>> = {};
  for (const route of routes) {
    paths[route.path] = { ...paths[route.path], [route.method]: operation(route, options.upgradeUrl) };
  }
  return {
    openapi: '3.1.0',
    info: {
      title: 'Oddstream',
      version: options.version,
      description:
        'Prediction-market data: catalogue, oracle prices and every fill on chain.\n\nCreate a key with `POST /v1/keys` and send it as `x-api-key`. Every error is a JSON object with a string `error`; every response carries `x-request-id`. A known path with another method returns 405 with `Allow`, an unknown path 404. A query parameter that an endpoint does not list (besides `key`) returns 400 with the nearest listed name. Parameters that only defeat caches are rejected too: send `Cache-Control: no-cache`, or rely on the `Age` header of the response.',
    },
    servers: [{ url: '/' }],
    tags: [...new Set(routes.map((route) => route.tag))].map((name) => ({ name })),
    paths,
    components: {
      securitySchemes: {
        header: { type: 'apiKey', in: 'header', name: 'x-api-key', description: 'Recommended.' },
        bearer: { type: 'http', scheme: 'bearer' },
        session: {
          type: 'apiKey',
          in: 'cookie',
          name: 'odds_session',
          description: 'Set by signing in; `__Host-odds_session` over https.',
        },
        query: {
          type: 'apiKey',
          in: 'query',
          name: 'key',
          description: 'Appears in logs of proxies: prefer a header.',
        },
      },
    },
  } as Json & ReferenceDocument;
}
