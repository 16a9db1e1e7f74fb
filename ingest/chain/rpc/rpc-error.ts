/** The delay that the node requested with its error; 0 without one. */
export function requestedDelayMs(error: unknown): number {
  return error instanceof RpcError ? (error.facts.retryAfterMs ?? 0) : 0;
}

/** A failed JSON-RPC request. The message never contains the node's URL, which may contain a key. */
export class RpcError extends Error {
  override name = 'RpcError';
  constructor(
    message: string,
    readonly facts: {
      /** JSON-RPC error code. */
      readonly code?: number;
      readonly data?: unknown;
      /** HTTP status of a response without a JSON-RPC error; beside one only 413 and 429. */
      readonly status?: number;
      readonly retryAfterMs?: number;
      readonly timedOut?: boolean;
    } = {},
  ) {
    super(message);
  }
}

/** Reaction to a failed request. */
export type RpcFailure =
  /** Request fewer blocks. `suggested`: a range that the node accepts. `maxBlocks`: the longest range that the error text names. */
  | {
      readonly kind: 'too_large';
      readonly suggested: { readonly from: number; readonly to: number } | null;
      readonly maxBlocks: number | null;
    }
  /** Wait, and request fewer blocks. */
  | { readonly kind: 'rate_limited'; readonly retryAfterMs: number | null }
  /** The same request may succeed later. */
  | { readonly kind: 'transient' }
  /** The node rejected the request and would reject a repetition. */
  | { readonly kind: 'rejected' };

const RATE = /rate.?limit|too many requests|request(s)? (count|per)|compute units|capacity|throughput|quota|daily/i;
const TOO_LARGE =
  /more than [\d,]+ (results|logs)|block range|(range|ranges) (is )?(too|over|exceed|limit)|ranges over|limited to (a )?[\d,\- ]+(block|range)|blocks? range|response size|result.*too (large|big)|too many (results|logs|blocks)|exceeds? (the )?(max|limit)|exceed(ed)? max|query (timeout|timed out|exceeds)|max(imum)? (block )?range|response.*(too (large|big)|exceed)|please limit/i;

/** The range ends at a block that the node does not have yet; a shorter one may end there too. */
const BEYOND_HEAD = /beyond (the )?(current )?head/i;
/** Errors of a node that lags, restarts or is overloaded, among the codes that JSON-RPC leaves to servers. */
const PASSING =
  /header not found|busy|overload|temporar|try again|retry|service unavailable|not ready|syncing|upstream|gateway|connection/i;
/** These pass whatever the code: providers use their own codes for them. */
const TIMEOUT = /time.?out|timed out|deadline/i;
const TEMPORARY = /temporar|try again|please retry/i;
/** Errors of the request itself or of the account. Many nodes send them with a general code. */
const CONFIGURATION = /unauthori[sz]ed|authenticat|forbidden|access denied|(api|project).?(key|id)/i;
const isServerCode = (code: number): boolean => code >= -32099 && code <= -32000;

function suggestedRange(message: string, data: unknown): { from: number; to: number } | null {
  const pair = /\[\s*(0x[0-9a-f]+)\s*,\s*(0x[0-9a-f]+)\s*\]/i.exec(message);
  const fields = data as { from?: unknown; to?: unknown } | null | undefined;
  const from = pair?.[1] ?? fields?.from;
  const to = pair?.[2] ?? fields?.to;
  if (typeof from !== 'string' || typeof to !== 'string') return null;
  const range = { from: Number(from), to: Number(to) };
  return Number.isSafeInteger(range.from) && Number.isSafeInteger(range.to) && range.to >= range.from ? range : null;
}

function namedLimit(message: string): number | null {
  const found =
    /(?:limited to|up to|maximum block range:?|max(?:imum)? (?:block )?range(?: is)?:?|over|exceeds?)\s*(?:an?\s+)?(?:0 ?- ?)?([\d,]+)(k)?\s*(?:blocks?|range|\.|,|$)/i.exec(
      message,
    );
  if (found === null) return null;
  const blocks = Number(found[1]!.replaceAll(',', '')) * (found[2] === undefined ? 1 : 1000);
  return Number.isSafeInteger(blocks) && blocks >= 1 ? blocks : null;
}

/** Whether the request names a block that the node does not have yet: fewer blocks do not help. */
export const isBeyondHead = (error: unknown): boolean => error instanceof RpcError && BEYOND_HEAD.test(error.message);

/**
 * Classifies the error shapes of the public providers. The code is ambiguous: -32005 is both "too many results" and "too many requests", so
 * the text decides.
 */
export function classifyRpcError(error: unknown): RpcFailure {
  if (!(error instanceof RpcError)) return { kind: 'transient' };
  const { message } = error;
  const { code, status, data, timedOut, retryAfterMs = null } = error.facts;
  if (status === 413) return { kind: 'too_large', suggested: null, maxBlocks: null };
  if (status === 429) return { kind: 'rate_limited', retryAfterMs };
  if (isBeyondHead(error)) return { kind: 'transient' };
  const suggested = suggestedRange(message, data);
  if (suggested !== null || (TOO_LARGE.test(message) && !RATE.test(message))) {
    return { kind: 'too_large', suggested, maxBlocks: namedLimit(message) };
  }
  if (RATE.test(message) || code === 429 || code === -32005) return { kind: 'rate_limited', retryAfterMs };
  // A range that times out at the node is too large.
  if (timedOut === true) return { kind: 'too_large', suggested: null, maxBlocks: null };
  if (status !== undefined) {
    return status >= 500 || status === 408 ? { kind: 'transient' } : { kind: 'rejected' };
  }
  if (code === undefined || code === -32603 || code === -32002) return { kind: 'transient' };
  if (TIMEOUT.test(message) || TEMPORARY.test(message)) return { kind: 'transient' };
  if (isServerCode(code) && PASSING.test(message)) return { kind: 'transient' };
  return { kind: 'rejected' };
}

/** HTTP statuses of a node or gateway that fails at a range that is too long, or rejects it as a bad request. */
const LENGTH_STATUSES: ReadonlySet<number> = new Set([400, 408, 500, 504, 524]);
/** Method not found, invalid params. */
const REQUEST_CODES: ReadonlySet<number> = new Set([-32601, -32602]);

/** Whether the node may accept the same request for fewer blocks: also a range that timed out at it, or was rejected for no known reason. */
export function mayBeTooLong(error: unknown): boolean {
  const { kind } = classifyRpcError(error);
  if (kind === 'too_large' || kind === 'rate_limited') return true;
  if (!(error instanceof RpcError)) return false;
  const { code, status } = error.facts;
  if (status !== undefined) return LENGTH_STATUSES.has(status);
  if (code === undefined) return false;
  return kind === 'transient'
    ? TIMEOUT.test(error.message)
    : !REQUEST_CODES.has(code) && !CONFIGURATION.test(error.message);
}
