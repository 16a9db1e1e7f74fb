import type { Plan } from '../../schemas/types.gen.js';

/** Everything a request can fail with, before any wording. The dialect table turns it into a status and a body. */
export type Failure =
  | { readonly kind: 'missing_key' }
  | { readonly kind: 'unknown_key' }
  | {
      readonly kind: 'plan_gate';
      readonly tier: Plan;
      readonly upgradeUrl: string;
      readonly status: 402 | 403;
      /** Replaces the family's text (parts of a family that need more than a paid plan). */
      readonly message?: string;
    }
  | {
      readonly kind: 'rate_limited';
      /** When the next request will be let in. */
      readonly retryAtMs: number;
      readonly nowMs: number;
      readonly limitPerMinute: number;
      /** Which limit it was, where a family has several. */
      readonly scope?: string;
      /** Replaces the family's text (limits with wording of their own). */
      readonly message?: string;
    }
  | {
      readonly kind: 'bad_parameter';
      readonly message: string;
      /** What would be right, beside the error. */
      readonly fields?: Readonly<Record<string, number>>;
    }
  | {
      readonly kind: 'unknown_parameter';
      readonly name: string;
      /** The known one that was most likely meant. */
      readonly nearest: string | null;
      /** All that the endpoint knows. */
      readonly known: readonly string[];
    }
  | { readonly kind: 'bad_body'; readonly message: string }
  /** The body must be of `expected`, and the request does not say that it is. */
  | { readonly kind: 'wrong_content_type'; readonly expected: string }
  /** Host or origin of the request are not served, whatever the key. */
  | { readonly kind: 'forbidden'; readonly message: string }
  /** A file is there, but not as the headers of the request ask for it. */
  | { readonly kind: 'unmet_condition'; readonly status: 412 | 416 }
  | { readonly kind: 'body_too_large'; readonly limitBytes: number }
  | { readonly kind: 'bad_encoding' }
  | {
      readonly kind: 'not_found';
      readonly message?: string;
      readonly hint?: string;
      /** What was asked for, beside the error. */
      readonly fields?: Readonly<Record<string, string>>;
    }
  | { readonly kind: 'method_not_allowed'; readonly allow: readonly string[] }
  | { readonly kind: 'upstream'; readonly retryAfterS: number; readonly detail?: string }
  /** The tables that the answer is read from have no row yet. */
  | { readonly kind: 'loading'; readonly message: string; readonly retryAfterS: number }
  /** More of this work than the service does at once. */
  | { readonly kind: 'overloaded'; readonly message: string; readonly scope: string; readonly retryAfterS: number }
  | { readonly kind: 'internal' };

/** Thrown anywhere below a route; becomes the answer. */
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
