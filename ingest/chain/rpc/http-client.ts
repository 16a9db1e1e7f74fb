import { getHttpRpcClient, type HttpRpcClient } from 'viem/utils';
import type { Logger } from '../../../infra/telemetry/logger.js';
import type { Metrics } from '../../../infra/telemetry/metrics.js';
import { retryAfterMs } from '../../shared/retry-after.js';
import { classifyRpcError, RpcError } from './rpc-error.js';

export interface RpcCall {
  readonly method: string;
  readonly params: readonly unknown[];
}

/** JSON-RPC over HTTP, one attempt per call. Every failure is an RpcError. */
export interface RpcClient {
  request(method: string, params: readonly unknown[]): Promise<unknown>;
  /** Results in the order of the calls; a failed call is an RpcError at its position. */
  batch(calls: readonly RpcCall[]): Promise<unknown[]>;
  /** Aborts every request in flight; they reject. */
  close(): void;
}

interface RpcResponse {
  readonly id?: unknown;
  readonly result?: unknown;
  readonly error?: { readonly code?: unknown; readonly message?: unknown; readonly data?: unknown };
}

/** A parsed response; `status`: 413 or 429. */
interface Sent {
  readonly reply: unknown;
  readonly delayMs?: number;
  readonly status?: number;
}

const MAX_RESPONSE_BYTES = 64 * 1024 * 1024;
/** Statuses that count beside a JSON-RPC error: its code and text may say less. */
const LIMIT_STATUSES: ReadonlySet<number> = new Set([413, 429]);
/** Statuses with which a node may reject a whole batch for its size, or for one of its calls. */
const DIVIDED_STATUSES: ReadonlySet<unknown> = new Set([400, 413, 500]);
/** Upper bound of a Retry-After delay that a node requests. */
const MAX_RETRY_AFTER_MS = 300_000;

export function createRpcClient(options: {
  url: string;
  metrics: Metrics;
  logger: Logger;
  timeoutMs?: number;
  batchSize?: number;
  maxResponseBytes?: number;
}): RpcClient {
  const { timeoutMs = 20_000, maxResponseBytes = MAX_RESPONSE_BYTES } = options;
  const { host, pathname, search } = new URL(options.url);
  const secret = `${pathname}${search}`;
  /** Single requests at once instead of a batch. */
  const maxSingles = options.batchSize ?? 50;
  /** Halved when the node accepts only smaller batches. */
  let maxBatchSize = maxSingles;
  /** Halved also at 500, which may have another reason: it grows again with each batch that succeeds. */
  let batchSize = maxBatchSize;
  const http: HttpRpcClient = getHttpRpcClient(options.url, { maxResponseBodySize: maxResponseBytes, timeout: 0 });
  const requests = options.metrics.counter('chain_rpc_requests_total', 'JSON-RPC requests', ['method']);
  const errors = options.metrics.counter('chain_rpc_errors_total', 'Failed JSON-RPC requests', ['method', 'kind']);
  const underWay = new Set<AbortController>();
  let batching = true;
  let nextId = 1;

  /** The text without the path of the URL, which may contain a key. */
  const redacted = (text: string) => (secret === '/' ? text : text.replaceAll(secret, '/...'));
  const errorOf = (reply: RpcResponse, { delayMs, status }: Sent): RpcError => {
    const { code, message, data } = reply.error ?? {};
    const text = typeof message === 'string' ? message : 'The node returned an error without a message';
    return new RpcError(redacted(text), {
      code: typeof code === 'number' ? code : undefined,
      data,
      status,
      retryAfterMs: delayMs,
    });
  };

  const send = async (body: object | object[]): Promise<Sent> => {
    const controller = new AbortController();
    underWay.add(controller);
    let timedOut = false;
    let delayMs: number | undefined;
    let limit: number | undefined;
    let isPage = false;
    const timer = setTimeout(() => {
      timedOut = true;
      controller.abort();
    }, timeoutMs);
    try {
      const reply = await http.request({
        body: body as never,
        fetchOptions: { signal: controller.signal },
        onResponse({ headers, status }) {
          limit = LIMIT_STATUSES.has(status) ? status : undefined;
          const requested = retryAfterMs(headers.get('retry-after'));
          delayMs = requested === null ? undefined : Math.min(requested, MAX_RETRY_AFTER_MS);
          isPage = /\bhtml\b/i.test(headers.get('content-type') ?? '');
        },
      });
      return { reply, delayMs, status: limit };
    } catch (error) {
      if (timedOut) throw new RpcError(`No response within ${timeoutMs} ms`, { timedOut });
      if (controller.signal.aborted) throw new RpcError('The client was closed');
      const { name, status, details, cause } = error as {
        name?: string;
        status?: number;
        details?: string;
        cause?: { name?: string; code?: string; cause?: { code?: string } };
      };
      if (name === 'ResponseBodyTooLargeError')
        // For the reader the same as the status with which nodes reject too large a response.
        throw new RpcError(`${host} sent a response of more than ${maxResponseBytes} bytes`, { status: 413 });
      const page = `${host} sent a web page instead of JSON`;
      if (status === undefined) {
        if (cause?.name === 'SyntaxError')
          throw new RpcError(isPage ? page : `${host} sent a response that is not JSON`);
        const why = cause?.cause?.code ?? cause?.code ?? details ?? 'no connection';
        throw new RpcError(`The node is unreachable: ${redacted(why)}`);
      }
      const text = isPage ? page : redacted(details ?? '').slice(0, 300);
      throw new RpcError(`HTTP ${status} ${text}`, { status, retryAfterMs: delayMs });
    } finally {
      clearTimeout(timer);
      underWay.delete(controller);
    }
  };
  const counted = (method: string, error: unknown): RpcError => {
    const known = error instanceof RpcError ? error : new RpcError(String(error));
    errors.inc({ method, kind: classifyRpcError(known).kind });
    return known;
  };
  const countedAll = (calls: readonly RpcCall[], error: unknown): RpcError => {
    const failures = [...new Set(calls.map(({ method }) => method))].map((method) => counted(method, error));
    return failures[0] as RpcError;
  };
  const single = async ({ method, params }: RpcCall): Promise<unknown> => {
    requests.inc({ method });
    nextId += 1;
    const id = nextId;
    try {
      const sent = await send({ id, method, params });
      const reply = sent.reply as RpcResponse | null;
      if (reply === null || typeof reply !== 'object') throw new RpcError('The response is not JSON-RPC');
      if (reply.error !== undefined && reply.error !== null) throw errorOf(reply, sent);
      if (reply.id !== id) throw new RpcError('The response is to another request');
      if (reply.result === undefined) throw new RpcError('The response has no result');
      return reply.result;
    } catch (error) {
      throw counted(method, error);
    }
  };
  const settled = (calls: readonly RpcCall[]) =>
    Promise.all(calls.map((call) => single(call).catch((error: RpcError) => error)));

  /** Sends a batch that the node rejected as two. A call that fails alone with the same status is the cause, or the node is down: it throws. */
  const divided = async (calls: readonly RpcCall[], failure: RpcError): Promise<unknown[]> => {
    const half = calls.length >> 1;
    const out: unknown[] = [];
    for (const part of [calls.slice(0, half), calls.slice(half)]) {
      const replies = part.length > 1 ? await together(part) : await settled(part);
      for (const reply of replies) {
        if (reply instanceof RpcError && reply.facts.status === failure.facts.status) throw reply;
        out.push(reply);
      }
    }
    const { status } = failure.facts;
    if (half > 1) batchSize = Math.min(batchSize, half);
    if (half > 1 && status !== 500) maxBatchSize = Math.min(maxBatchSize, half);
    if (half <= 1 && status === 400) batching = false;
    return out;
  };
  const together = async (calls: readonly RpcCall[]): Promise<unknown[]> => {
    const first = nextId + 1;
    nextId += calls.length;
    for (const { method } of calls) requests.inc({ method });
    const body = calls.map(({ method, params }, index) => ({ id: first + index, method, params }));
    let sent: Awaited<ReturnType<typeof send>>;
    try {
      sent = await send(body);
    } catch (error) {
      const failure = countedAll(calls, error);
      if (!DIVIDED_STATUSES.has(failure.facts.status)) throw failure;
      return divided(calls, failure);
    }
    const responses = sent.reply;
    if (!Array.isArray(responses)) {
      const failure = countedAll(calls, errorOf((responses ?? {}) as RpcResponse, sent));
      const { kind } = classifyRpcError(failure);
      if (kind === 'rate_limited' || kind === 'transient') throw failure;
      if (kind === 'too_large') return divided(calls, failure);
      options.logger.warn({ error: failure.message }, 'the node rejects batch requests, sending single requests');
      batching = false;
      return settled(calls);
    }
    const byId = new Map<unknown, RpcResponse>();
    for (const reply of responses as (RpcResponse | null)[]) if (reply !== null) byId.set(reply.id, reply);
    return calls.map(({ method }, index) => {
      const reply = byId.get(first + index);
      if (reply === undefined) return counted(method, new RpcError('The batch response lacks this call'));
      if (reply.error !== undefined && reply.error !== null) return counted(method, errorOf(reply, sent));
      return reply.result === undefined ? counted(method, new RpcError('The response has no result')) : reply.result;
    });
  };

  return {
    request: (method, params) => single({ method, params }),
    async batch(calls) {
      if (calls.length === 0) return [];
      if (calls.length === 1) return settled(calls);
      const out: unknown[] = [];
      while (out.length < calls.length) {
        const size = batching ? batchSize : maxSingles;
        const part = calls.slice(out.length, out.length + size);
        const replies = await (batching ? together(part) : settled(part));
        for (const reply of replies) out.push(reply);
        if (batching && part.length === batchSize) batchSize = Math.min(maxBatchSize, batchSize + 1);
        // A failed batch ends here too: the node would fail the next part for the same reason.
        const failure = batching || out.length === calls.length ? undefined : replies.find(mayFailAll);
        if (failure !== undefined) throw failure;
      }
      return out;
    },
    close() {
      for (const controller of underWay) controller.abort();
    },
  };
}

/** Whether a reply is a failure that has its reason in the node and not in the call. */
const mayFailAll = (reply: unknown): boolean =>
  reply instanceof RpcError && classifyRpcError(reply).kind !== 'rejected';
