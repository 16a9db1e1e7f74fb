import type { CatalogMissing } from '../../../schemas/types.gen.js';
import type { MarketRequest } from '../source.js';
import { createIdSet } from './id-set.js';
import type { MarketReference } from './market-reference.js';

/** Maximum number of ids that wait for their first lookup, per kind; the reader of chain.final pauses at it. */
const MAX_QUEUED = 10_000;
/** Maximum number of missing ids that are kept for another lookup; further ids are looked up once only. */
const MAX_MISSING = 100_000;
const FIRST_RETRY_DELAY_MS = 60_000;
const MAX_RETRY_DELAY_MS = 7 * 24 * 3_600_000;

/** Record to write for one id: its new state, or null when it is no longer missing. */
export interface MissingChange {
  readonly key: string;
  readonly value: CatalogMissing | null;
}

/** Delay before the next lookup after `attempts` lookups without a result: 1 minute, times 4 for each further attempt, at most 7 days. */
export function retryDelayMs(attempts: number): number {
  return Math.min(MAX_RETRY_DELAY_MS, FIRST_RETRY_DELAY_MS * 4 ** Math.min(attempts - 1, 20));
}

/** An id that waits for its lookup. */
interface QueuedId {
  readonly offset: number;
  readonly sinceMs: number;
  readonly resolvedMs?: number;
}

/** Key of an id in `catalog.missing`. */
export const keyOf = (by: MarketRequest['by'], id: string): string => `${by}:${id}`;

/**
 * Decides which ids of the chain are looked up, and when. An id is queued once: not while the catalog has its market, while it waits, or
 * while it is recorded as missing.
 */
export function createMissingMarketQueue(deps: {
  hasMarket: (conditionId: string) => boolean;
  /** Possible tokens of a condition, derived from its id. */
  tokensOf: (conditionId: string) => readonly string[];
  maxRequestIds: number;
  /** A request below the maximum size waits this long for more ids. */
  lingerMs: number;
  maxQueued?: number;
  maxMissing?: number;
}) {
  const { hasMarket, tokensOf, maxRequestIds, lingerMs, maxQueued = MAX_QUEUED, maxMissing = MAX_MISSING } = deps;
  const queues = {
    condition: new Map<string, QueuedId>(),
    token: new Map<string, QueuedId>(),
  };
  const missing = new Map<string, CatalogMissing>();
  /** Tokens of catalog markets and of missing conditions. */
  const knownTokens = createIdSet();
  const dropped = createIdSet();
  /** Lower bound of the time at which the next missing id is due, Unix ms. */
  let nextDueMs = Number.POSITIVE_INFINITY;

  const found = (by: MarketRequest['by'], id: string) => (by === 'condition' ? hasMarket(id) : knownTokens.has(id));
  const recordMissing = (value: CatalogMissing) => {
    missing.set(keyOf(value.is_token ? 'token' : 'condition', value.id), value);
    for (const token of value.token_ids) knownTokens.add(token);
    nextDueMs = Math.min(nextDueMs, value.next_ask_ms);
  };

  return {
    /** Restores a record of `catalog.missing`. */
    restore: recordMissing,
    /** Applies a tombstone of `catalog.missing`: the id was found. */
    remove(key: string) {
      missing.delete(key);
    },
    addTokens(ids: readonly string[]) {
      for (const id of ids) knownTokens.add(id);
    },
    /** Queues an id read at that offset of chain.final. Returns false when the id is known already. */
    enqueue({ by, id, resolvedMs }: MarketReference, offset: number, nowMs: number): boolean {
      const key = keyOf(by, id);
      const queued = queues[by].get(id);
      if (found(by, id)) return false;
      if (queued !== undefined) {
        if (resolvedMs !== undefined) queues[by].set(id, { ...queued, resolvedMs });
        return false;
      }
      // A resolution time allows another lookup method for a missing window, so the id is queued again.
      if (resolvedMs === undefined && (missing.has(key) || dropped.has(key))) return false;
      queues[by].set(id, { offset, sinceMs: nowMs, resolvedMs });
      return true;
    },
    get full() {
      return queues.condition.size >= maxQueued || queues.token.size >= maxQueued;
    },
    get queued() {
      return queues.condition.size + queues.token.size;
    },
    get missing() {
      return missing.size;
    },
    /** Lowest offset with a queued id; null when the queue is empty. */
    oldestOffset(): number | null {
      const offsets = [queues.condition, queues.token].flatMap((queue) => queue.values().next().value?.offset ?? []);
      return offsets.length === 0 ? null : Math.min(...offsets);
    },
    /**
     * The next request, or null when none is due. Conditions come before tokens, because the market of a condition also resolves its
     * tokens. Missing ids come last. `limit`: maximum number of ids; `skip`: keys of ids to leave out.
     */
    nextRequest(
      nowMs: number,
      { limit = maxRequestIds, skip }: { limit?: number; skip?: { has(key: string): boolean } } = {},
    ): MarketRequest | null {
      for (const by of ['condition', 'token'] as const) {
        const queue = queues[by];
        for (const id of queue.keys()) {
          if (!found(by, id)) break;
          queue.delete(id);
        }
        const oldest = queue.values().next().value;
        if (oldest === undefined) continue;
        if (queue.size < maxRequestIds && nowMs < oldest.sinceMs + lingerMs) return null;
        const ids: string[] = [];
        const resolved = new Set<number>();
        for (const [id, { resolvedMs }] of queue) {
          if (ids.length >= limit) break;
          if (found(by, id)) queue.delete(id);
          else if (skip?.has(keyOf(by, id)) !== true) {
            ids.push(id);
            if (resolvedMs !== undefined) resolved.add(resolvedMs);
          }
        }
        if (ids.length > 0) return resolved.size === 0 ? { by, ids } : { by, ids, resolvedMs: [...resolved] };
      }
      if (nowMs < nextDueMs) return null;
      const due = { condition: [] as string[], token: [] as string[] };
      nextDueMs = Number.POSITIVE_INFINITY;
      for (const { id, is_token, next_ask_ms } of missing.values()) {
        const ids = is_token ? due.token : due.condition;
        const isSkipped = skip?.has(keyOf(is_token ? 'token' : 'condition', id)) === true;
        if (next_ask_ms <= nowMs && ids.length < limit && !isSkipped) ids.push(id);
        // Ids that do not fit into this request, or whose request fails, are due at the next call.
        nextDueMs = Math.min(nextDueMs, next_ask_ms);
      }
      if (due.condition.length > 0) return { by: 'condition', ids: due.condition };
      return due.token.length > 0 ? { by: 'token', ids: due.token } : null;
    },
    /** Completes a request whose rows are written to the catalog. Returns the changed records of missing ids and the numbers of found and dropped ids. */
    complete(
      { by, ids, resolvedMs: requested = [] }: MarketRequest,
      nowMs: number,
    ): { changes: MissingChange[]; found: number; dropped: number } {
      const changes: MissingChange[] = [];
      let foundNow = 0;
      let droppedNow = 0;
      for (const id of ids) {
        const key = keyOf(by, id);
        const before = missing.get(key);
        const resolvedMs = queues[by].get(id)?.resolvedMs;
        // Resolved during the request: the id stays queued for a request with its resolution time.
        if (!found(by, id) && resolvedMs !== undefined && !requested.includes(resolvedMs)) continue;
        queues[by].delete(id);
        if (found(by, id)) {
          foundNow++;
          if (before !== undefined) {
            missing.delete(key);
            changes.push({ key, value: null });
          }
          continue;
        }
        if (before === undefined && missing.size >= maxMissing) {
          dropped.add(key);
          droppedNow++;
          continue;
        }
        const times = (before?.asked ?? 0) + 1;
        const value: CatalogMissing = {
          id,
          is_token: by === 'token',
          token_ids: before?.token_ids ?? (by === 'condition' ? [...tokensOf(id)] : []),
          asked: times,
          next_ask_ms: nowMs + retryDelayMs(times),
        };
        recordMissing(value);
        changes.push({ key, value });
      }
      return { changes, found: foundNow, dropped: droppedNow };
    },
  };
}
