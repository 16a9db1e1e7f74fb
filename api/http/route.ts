import type { IncomingHttpHeaders } from 'node:http';
import type { Readable } from 'node:stream';
import { z } from 'zod';
import type { Feature } from '../../schemas/plans.js';
import type { Caller } from '../auth/caller.js';
import type { SessionCaller } from '../auth/session.js';
import type { ApiGroup } from '../errors/error-formats.js';
import { ApiError } from '../errors/failure.js';
import type { TableGroup } from '../readiness/table-groups.js';
import {
  type Aliases,
  type QueryTexts,
  readQueryTexts,
  rejectUnknownParameters,
  validateAliases,
} from './query-parameters.js';

/** Largest body of a route that sets no other limit. */
export const BODY_LIMIT_BYTES = 16 * 1024;

/** Properties of the request besides its inputs. */
export interface RequestContext {
  /** Path template of the route. */
  readonly endpoint: string;
  readonly requestId: string;
  /** Address of the client: the socket's, or the forwarded one behind a trusted proxy. */
  readonly clientIp: string;
  readonly headers: IncomingHttpHeaders;
  /** The query as sent, for routes that pass it on whole. */
  readonly rawQuery: URLSearchParams;
  /** The body as received, on routes with `rawBody`; else null. */
  readonly rawBody: Buffer | null;
  readonly nowMs: number;
  /** Whole milliseconds since the request arrived. */
  readonly elapsedMs: () => number;
  /** Signal that aborts when the client disconnects before the response is complete. */
  readonly closed: () => AbortSignal;
  /** null for requests without a key, on routes that need none. */
  readonly caller: Caller | null;
  /** The signed-in user, on routes with `auth: 'session'`; else null. */
  readonly session: SessionCaller | null;
}

export interface Reply<T> {
  readonly status?: number;
  /** JSON value, or text if the route's content type is not JSON, or bytes that are sent as they arrive; their error closes the connection. */
  readonly body: T;
  /** Content type of bytes. */
  readonly contentType?: string;
  /** Age of a result that may be reused. `maxAgeS`: how old it may become, by default the route's `cacheS`. */
  readonly cache?: { readonly ageMs: number; readonly maxAgeS?: number };
  readonly headers?: Readonly<Record<string, string | readonly string[]>>;
}

/** One documented response of a route. */
export interface ResponseSpec<T extends z.ZodType = z.ZodType> {
  readonly description: string;
  readonly schema: T;
  readonly example: unknown;
  readonly contentType?: string;
  /** The same response in other formats that the request can choose, by content type. */
  readonly otherContent?: Readonly<Record<string, { readonly schema: z.ZodType; readonly example: unknown }>>;
}

type Method = 'get' | 'post' | 'patch' | 'delete';
type InputSchema = z.ZodObject;
type SchemaOutput<S> = S extends z.ZodType ? z.output<S> : undefined;

interface RouteCommon {
  readonly method: Method;
  /** OpenAPI template: `/v1/event/{slug}`. */
  readonly path: string;
  readonly apiGroup: ApiGroup;
  readonly tag: string;
  readonly summary: string;
  readonly description?: string;
  /**
   * optional: requests without a key are served too; a key that is sent must be valid, and its limits apply.
   * session: a signed-in browser, whose other methods than GET carry a CSRF token; keys do not count here.
   */
  readonly auth: 'key' | 'optional' | 'none' | 'session';
  /** Feature that the caller's plan must include. */
  readonly feature?: Feature;
  /** Accepts a body only with content type `application/json`, which pages of other sites cannot send without a CORS preflight. */
  readonly jsonOnly?: boolean;
  /** The body is not parsed: the handler gets its bytes, for a signature. */
  readonly rawBody?: true;
  /** Largest body in bytes; default: BODY_LIMIT_BYTES. */
  readonly bodyLimitBytes?: number;
  /** Also counts in the trade-history bucket. */
  readonly isHeavy?: boolean;
  /** How many requests it counts as, for the limits per minute and for the bill; default: one. */
  readonly requestsOf?: (query: URLSearchParams) => number;
  /** Parameter names by alias. If a request has both, their values must be equal. */
  readonly aliases?: Aliases;
  /** Ignores unknown query parameters: monitors and load balancers add their own. */
  readonly allowUnknownQuery?: boolean;
  /**
   * Table groups that the response is read from: the main group first, then groups that only add titles or prices. While the main group is empty the
   * route returns 503; while any group is loading a response header names it.
   */
  readonly reads?: readonly TableGroup[];
  /** Responds also while the main group is empty, where the response itself says what is missing. */
  readonly respondsWhileEmpty?: boolean;
  /** Maximum age of a cached response, in seconds. */
  readonly cacheS?: number;
  /** Responses besides the successful one and those that follow from auth, plan, inputs and tables. */
  readonly otherResponses?: Readonly<Record<number, ResponseSpec>>;
}

export interface RouteDefinition<
  Q extends InputSchema | undefined,
  P extends InputSchema | undefined,
  B extends z.ZodType | undefined,
  R extends z.ZodType,
> extends RouteCommon {
  /** Each field parses one query parameter from its text; repeated parameters are rejected before. */
  readonly query?: Q;
  readonly params?: P;
  readonly body?: B;
  readonly success: ResponseSpec<R> & { readonly status?: number };
  readonly handler: (
    input: { readonly query: SchemaOutput<Q>; readonly params: SchemaOutput<P>; readonly body: SchemaOutput<B> },
    context: RequestContext,
  ) => Promise<Reply<z.input<R> | Readable>> | Reply<z.input<R> | Readable>;
}

export interface RawInput {
  readonly query: URLSearchParams;
  readonly params: Readonly<Record<string, string>>;
  readonly body: unknown;
}

/** A route with its types erased, as used by routing, OpenAPI and the reference pages. */
export interface Route extends RouteCommon {
  readonly query: InputSchema | null;
  readonly aliases: Aliases;
  readonly params: InputSchema | null;
  readonly body: z.ZodType | null;
  readonly success: ResponseSpec & { readonly status: number };
  /** Validates the input, then runs the handler. Throws ApiError. */
  readonly handle: (raw: RawInput, context: RequestContext) => Promise<Reply<unknown>>;
}

/** Parses a value with its schema. Throws ApiError with the first issue; the message uses the parameter name of the request. */
function parseInput<S extends z.ZodType>(
  schema: S,
  value: unknown,
  kind: 'bad_parameter' | 'bad_body',
  usedAliases: QueryTexts['usedAliases'] = {},
): z.output<S> {
  const result = schema.safeParse(value);
  if (result.success) return result.data;
  const [issue] = result.error.issues;
  const [name, text] = [String(issue?.path[0] ?? ''), issue?.message ?? 'Invalid input'];
  const alias = usedAliases[name];
  const message = alias === undefined ? text : text.replace(name, alias);
  // Parameters of some API groups are rejected with 422 by their values, see integerParam.
  const unprocessable = issue?.code === 'custom' && issue.params?.status === 422;
  throw new ApiError(kind === 'bad_parameter' && unprocessable ? { kind, message, status: 422 } : { kind, message });
}

/** Declares a route; routing, validation, OpenAPI and the reference pages are derived from the declaration. */
export function defineRoute<
  R extends z.ZodType,
  Q extends InputSchema | undefined = undefined,
  P extends InputSchema | undefined = undefined,
  B extends z.ZodType | undefined = undefined,
>(definition: RouteDefinition<Q, P, B, R>): Route {
  const { query, params, body, success, handler, aliases = {}, ...common } = definition;
  const names = { schema: query ?? null, aliases };
  validateAliases(names);
  return {
    ...common,
    query: query ?? null,
    aliases,
    params: params ?? null,
    body: body ?? null,
    success: { ...success, status: success.status ?? 200 },
    async handle(raw, context) {
      if (common.allowUnknownQuery !== true) rejectUnknownParameters(names, raw.query);
      const texts = readQueryTexts(names, raw.query);
      const input = {
        params: params === undefined ? undefined : parseInput(params, raw.params, 'bad_parameter'),
        query: query === undefined ? undefined : parseInput(query, texts.values, 'bad_parameter', texts.usedAliases),
        body: body === undefined ? undefined : parseInput(body, raw.body, 'bad_body'),
      };
      return handler(input as Parameters<typeof handler>[0], context);
    },
  };
}

export const errorSchema = z
  .looseObject({ error: z.string() })
  .meta({ description: 'Every error is an object with a string `error`.' });

/** The 404 of a route, for `otherResponses`. `fields`: those of the error besides its text. */
export const notFoundResponse = (
  description: string,
  error: string,
  fields: Readonly<Record<string, string>> = {},
): Readonly<Record<number, ResponseSpec>> => ({
  404: { description, schema: errorSchema, example: { error, ...fields } },
});
