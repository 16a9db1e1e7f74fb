import type { Plan } from '../../schemas/types.gen.js';

/** All request failures, independent of wording. error-formats.ts converts them to a status and a body. */
export type Failure =
  | { readonly kind: 'missing_key' }
  | { readonly kind: 'unknown_key' }
  /** The route needs a signed-in user, and the request has no valid session. */
  | { readonly kind: 'no_session' }
  /** Email, password or link are not valid; does not state which. */
  | { readonly kind: 'not_signed_in'; readonly message: string }
  /** The state of the account does not allow it. */
  | { readonly kind: 'conflict'; readonly message: string }
  | {
      readonly kind: 'plan_gate';
      readonly tier: Plan;
      readonly upgradeUrl: string;
      readonly status: 402 | 403;
      /** Replaces the group's text (features that need more than a paid plan). */
      readonly message?: string;
    }
  | {
      readonly kind: 'rate_limited';
      /** UTC milliseconds from which a request is accepted again. */
      readonly retryAtMs: number;
      readonly nowMs: number;
      readonly limitPerMinute: number;
      /** Which limit was reached, where a group has several. */
      readonly scope?: string;
      /** Replaces the group's text (limits with their own wording). */
      readonly message?: string;
      /** Further headers of the response. */
      readonly headers?: Readonly<Record<string, string>>;
    }
  | {
      readonly kind: 'bad_parameter';
      readonly message: string;
      /** Default: 400. */
      readonly status?: 422;
      /** Accepted values, as further fields of the body. */
      readonly fields?: Readonly<Record<string, number>>;
    }
  | {
      readonly kind: 'unknown_parameter';
      readonly name: string;
      /** The nearest accepted name. */
      readonly nearest: string | null;
      /** All names that the endpoint accepts. */
      readonly known: readonly string[];
    }
  | { readonly kind: 'bad_body'; readonly message: string }
  /** The body must have content type `expected`, and the request does not declare it. */
  | { readonly kind: 'wrong_content_type'; readonly expected: string }
  /** The host or origin of the request is not allowed, regardless of the key. */
  | { readonly kind: 'forbidden'; readonly message: string }
  /** The file exists, but a precondition or range of the request is not met. */
  | { readonly kind: 'unmet_condition'; readonly status: 412 | 416 }
  | { readonly kind: 'body_too_large'; readonly limitBytes: number }
  | { readonly kind: 'bad_encoding' }
  | {
      readonly kind: 'not_found';
      readonly message?: string;
      readonly hint?: string;
      /** The requested id, as a further field of the body. */
      readonly fields?: Readonly<Record<string, string>>;
    }
  | { readonly kind: 'method_not_allowed'; readonly allow: readonly string[] }
  /** The engine rejected or ended the statement of POST /v1/sql; `code` is its exception code. */
  | { readonly kind: 'rejected_statement'; readonly message: string; readonly code: number }
  | { readonly kind: 'upstream'; readonly retryAfterS: number; readonly detail?: string }
  /** The tables that the response is read from have no row yet. */
  | { readonly kind: 'loading'; readonly message: string; readonly retryAfterS: number }
  /** The concurrency limit of this kind of work is reached. */
  | { readonly kind: 'overloaded'; readonly message: string; readonly scope: string; readonly retryAfterS: number }
  | { readonly kind: 'internal' };

/** Thrown by any code below a route; converted to the response. */
export class ApiError extends Error {
  override name = 'ApiError';
  constructor(
    readonly failure: Failure,
    options?: { cause?: unknown },
  ) {
    super(failure.kind, options);
  }
}

export const badParameter = (message: string): ApiError => new ApiError({ kind: 'bad_parameter', message });
export const notFound = (message: string, hint?: string): ApiError =>
  new ApiError({ kind: 'not_found', message, hint });
