import type { Failure } from './failure.js';

/** Groups of paths. Each has its own wording of the same errors; `root` is every other path. */
export type ApiGroup = 'v1' | 'v2' | 'v2x' | 'v3' | 'clobv2' | 'root';

export interface ErrorResponse {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: { readonly error: string } & Readonly<Record<string, unknown>>;
}

interface ErrorFormat {
  readonly missingKey: readonly [status: number, text: string];
  readonly unknownKey: readonly [status: number, text: string];
  /** Message of a plan error; `carriesTier` adds `tier` and `upgrade_url`. */
  readonly planGate: { readonly text: (upgradeUrl: string) => string; readonly carriesTier: boolean };
  readonly rateLimited: (limit: Extract<Failure, { kind: 'rate_limited' }>) => ErrorResponse['body'];
  readonly notFound: string;
  /** Message for an undeclared query parameter; `advice` begins in lower case. */
  readonly unknownParameter: (name: string, advice: string) => string;
  readonly upstream: readonly [status: number, text: string];
  readonly loading: (message: string) => ErrorResponse['body'];
  readonly internal: string;
}

const unixS = (ms: number): number => Math.ceil(ms / 1000);
const retryAfterS = (failure: { retryAtMs: number; nowMs: number }): number =>
  Math.max(1, unixS(failure.retryAtMs - failure.nowMs));

const MAX_SHOWN_NAME_LENGTH = 80;
/** Advice for an unknown parameter: the nearest name, or the accepted ones. */
function suggestionFor({ nearest, known }: Extract<Failure, { kind: 'unknown_parameter' }>): string {
  if (nearest !== null) return `did you mean '${nearest}'?`;
  return known.length === 0 ? 'this endpoint takes none' : `use ${known.join(', ')}`;
}

/** Clients of /clobv2 recognise 5xx by it. */
const PROVIDER_ERROR = 'temporary_data_provider_error';
const v1: ErrorFormat = {
  missingKey: [401, 'Missing or invalid API key. Use x-api-key header or ?key= param.'],
  unknownKey: [403, 'Invalid or inactive API key.'],
  planGate: { text: (url) => `This endpoint requires a paid plan. See ${url} for details.`, carriesTier: true },
  rateLimited: (failure) => ({
    error: failure.message ?? `Rate limit exceeded. Retry after ${unixS(failure.retryAtMs)}.`,
    reset_at: unixS(failure.retryAtMs),
  }),
  notFound: 'Not found.',
  unknownParameter: (name, advice) =>
    `Unknown query parameter '${name}'. ${advice.charAt(0).toUpperCase()}${advice.slice(1)}`,
  upstream: [503, 'Service temporarily unavailable. Retry shortly.'],
  loading: (message) => ({ error: message }),
  internal: 'Internal server error.',
};

const v3: ErrorFormat = {
  missingKey: [401, 'missing or invalid API key: use the x-api-key header, Authorization: Bearer or ?key='],
  unknownKey: [403, 'invalid or inactive API key'],
  planGate: { text: () => 'paid plan required', carriesTier: true },
  rateLimited: (failure) => ({
    error: failure.message ?? 'rate limit exceeded',
    reset_at: unixS(failure.retryAtMs),
    ...(failure.scope === undefined ? {} : { scope: failure.scope }),
  }),
  notFound: 'not found',
  unknownParameter: (name, advice) => `unknown query parameter '${name}': ${advice}`,
  upstream: [503, 'temporarily unavailable, retry shortly'],
  loading: v1.loading,
  internal: 'internal error',
};

/** Key texts of /v2 and /v2/x. */
const v2Keys = {
  missingKey: [401, 'API key required. Pass via ?key= or x-api-key header.'],
  unknownKey: v1.unknownKey,
} as const;

/**
 * The only table of error wording. /v1 and /v2 use sentences, /v3 and /clobv2 short lower-case texts; where the contract does not
 * define a text (/v3 key errors) this service does. /v2/x shares /v2's key texts but has the plan and rate limits of /v3.
 */
const errorFormats: Readonly<Record<ApiGroup, ErrorFormat>> = {
  root: v1,
  v1,
  v2: {
    ...v1,
    ...v2Keys,
    planGate: { text: (url) => `V2 endpoints require a paid plan. See ${url} for details.`, carriesTier: false },
    rateLimited: (failure) => ({
      error:
        failure.message ?? `Rate limited. ${Math.max(1, Math.floor(failure.limitPerMinute / 60))} req/s for your tier.`,
      retryAfterMs: Math.max(1, Math.ceil(failure.retryAtMs - failure.nowMs)),
      reset_at: unixS(failure.retryAtMs),
    }),
  },
  v2x: {
    ...v3,
    ...v2Keys,
    notFound: v1.notFound,
    unknownParameter: v1.unknownParameter,
    upstream: [502, 'upstream error, retry shortly'],
  },
  v3,
  clobv2: {
    ...v3,
    missingKey: [401, 'missing API key: use the x-api-key header, Authorization: Bearer or ?key='],
    unknownKey: [401, 'invalid or revoked API key'],
    upstream: [503, PROVIDER_ERROR],
    loading: (detail) => ({ error: PROVIDER_ERROR, detail }),
  },
};

/** API group of a request path; `root` for paths outside of every group. */
export function apiGroupOf(path: string): ApiGroup {
  const [, first = '', second = ''] = path.split('/', 3);
  if (first === 'v2') return second === 'x' ? 'v2x' : 'v2';
  return first === 'v1' || first === 'v3' || first === 'clobv2' ? first : 'root';
}

/** Status, headers and body of a failure in the format of an API group. `error` is always a string. */
export function renderFailure(apiGroup: ApiGroup, failure: Failure): ErrorResponse {
  const format = errorFormats[apiGroup];
  const respond = (
    status: number,
    body: ErrorResponse['body'],
    headers: ErrorResponse['headers'] = {},
  ): ErrorResponse => ({
    status,
    headers,
    body,
  });
  switch (failure.kind) {
    case 'missing_key':
      return respond(format.missingKey[0], { error: format.missingKey[1] }, { 'www-authenticate': 'Bearer' });
    case 'unknown_key':
      return respond(format.unknownKey[0], { error: format.unknownKey[1] });
    case 'no_session':
      return respond(401, { error: 'Not signed in. Sign in at /dashboard.' });
    case 'not_signed_in':
      return respond(401, { error: failure.message });
    case 'conflict':
      return respond(409, { error: failure.message });
    case 'plan_gate': {
      const error = failure.message ?? format.planGate.text(failure.upgradeUrl);
      const tier = format.planGate.carriesTier ? { tier: failure.tier, upgrade_url: failure.upgradeUrl } : {};
      return respond(failure.status, { error, ...tier });
    }
    case 'rate_limited':
      return respond(429, format.rateLimited(failure), {
        ...failure.headers,
        'retry-after': String(retryAfterS(failure)),
      });
    case 'bad_parameter':
      return respond(failure.status ?? 400, { error: failure.message, ...failure.fields });
    case 'unknown_parameter':
      return respond(400, {
        error: format.unknownParameter(failure.name.slice(0, MAX_SHOWN_NAME_LENGTH), suggestionFor(failure)),
      });
    case 'bad_body':
      return respond(400, { error: failure.message });
    case 'rejected_statement':
      return respond(400, { error: failure.message, code: failure.code });
    case 'wrong_content_type':
      return respond(415, {
        error: `Unsupported content type. Send '${failure.expected}' in the Content-Type header.`,
      });
    case 'forbidden':
      return respond(403, { error: failure.message });
    case 'unmet_condition':
      return respond(failure.status, {
        error: `The file does not meet the ${failure.status === 416 ? 'Range' : 'If-Match or If-Unmodified-Since'} header.`,
      });
    case 'body_too_large':
      return respond(413, { error: `Request body too large. Max ${failure.limitBytes} bytes.` });
    case 'bad_encoding':
      return respond(400, { error: 'Malformed percent-encoding in the path.' });
    case 'not_found': {
      const hint = failure.hint === undefined ? {} : { hint: failure.hint };
      return respond(404, { error: failure.message ?? format.notFound, ...failure.fields, ...hint });
    }
    case 'method_not_allowed':
      return respond(
        405,
        { error: `Method not allowed. Use ${failure.allow.join(' or ')}.` },
        { allow: failure.allow.join(', ') },
      );
    case 'upstream': {
      const detail = failure.detail === undefined ? {} : { detail: failure.detail };
      const [status, error] = format.upstream;
      return respond(status, { error, ...detail }, { 'retry-after': String(failure.retryAfterS) });
    }
    case 'loading':
      return respond(503, format.loading(failure.message), { 'retry-after': String(failure.retryAfterS) });
    case 'overloaded':
      return respond(
        503,
        { error: failure.message, scope: failure.scope },
        { 'retry-after': String(failure.retryAfterS) },
      );
    case 'internal':
      return respond(500, { error: format.internal });
  }
}
