import type { CatalogMissing } from '../../../schemas/types.gen.js';
import type { MarketRequest } from '../source.js';
import { createIdSet } from './id-set.js';
import type { MarketReference } from './market-reference.js';

/** Most ids waiting for their first question; the reader of the chain pauses at it. */
const MAX_QUEUED = 10_000;
/** Most ids remembered for another question; later ones are asked for once only. */
const MAX_MISSING = 100_000;
const FIRST_RETRY_DELAY_MS = 60_000;
const MAX_RETRY_DELAY_MS = 7 * 24 * 3_600_000;

/** What has to be written about one id: the new state, or null when it is no longer missing. */
export interface MissingChange {
  readonly key: string;
  readonly value: CatalogMissing | null;
}

/** How long after its n-th question in vain an id is asked for again: 1 minute, four times longer each time, at most 7 days. */
export function retryDelayMs(attempts: number): number {
  return Math.min(MAX_RETRY_DELAY_MS, FIRST_RETRY_DELAY_MS * 4 ** Math.min(attempts - 1, 20));
}

/** An id that waits for an answer. */
interface QueuedId {
  readonly offset: number;
  readonly sinceMs: number;
  readonly resolvedMs?: number;
}

const keyOf = (by: MarketRequest['by'], id: string) => `${by}:${id}`;

/**
 * Which ids of the chain are to be asked for, and when. An id is known when the catalogue has its market, when it waits, or when it is missing:
 * it is never queued twice.
 */
export function createMissingMarketQueue(deps: {
  hasMarket: (conditionId: string) => boolean;
  /** The tokens a condition can have, known from its id alone. */
  tokensOf: (conditionId: string) => readonly string[];
  maxRequestIds: number;
  /** A question that is not full waits this long for more ids. */
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
  /** Tokens of markets of the catalogue, and of missing conditions. */
  const knownTokens = createIdSet();
  const dropped = createIdSet();
  /** No missing id is due before. */
  let nextDueMs = Number.POSITIVE_INFINITY;

  const found = (by: MarketRequest['by'], id: string) => (by === 'condition' ? hasMarket(id) : knownTokens.has(id));
  const recordMissing = (value: CatalogMissing) => {
    missing.set(keyOf(value.is_token ? 'token' : 'condition', value.id), value);
    for (const token of value.token_ids) knownTokens.add(token);
    nextDueMs = Math.min(nextDueMs, value.next_ask_ms);
  };

  return {
    /** What a former process wrote. */
    restore: recordMissing,
    /** What a former process found after all. */
    remove(key: string) {
      missing.delete(key);
    },
    addTokens(ids: readonly string[]) {
      for (const id of ids) knownTokens.add(id);
    },
    /** An id met at that offset of the chain's log; true when it was queued. */
    enqueue({ by, id, resolvedMs }: MarketReference, offset: number, nowMs: number): boolean {
      const key = keyOf(by, id);
      const queued = queues[by].get(id);
      if (found(by, id)) return false;
      if (queued !== undefined) {
        if (resolvedMs !== undefined) queues[by].set(id, { ...queued, resolvedMs });
        return false;
      }
      // The time of its end is a new way to find a window that is missing.
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
    /** The lowest offset with an id that waits; null when none does. */
    oldestOffset(): number | null {
      const offsets = [queues.condition, queues.token].flatMap((queue) => queue.values().next().value?.offset ?? []);
      return offsets.length === 0 ? null : Math.min(...offsets);
    },
    /**
     * The next question, or null when there is none yet. Tokens wait until no condition does: the answer for a condition has its tokens. Missing
     * ids come last.
     */
    nextRequest(nowMs: number): MarketRequest | null {
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
          if (ids.length >= maxRequestIds) break;
          if (found(by, id)) queue.delete(id);
          else {
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
        if (next_ask_ms <= nowMs && ids.length < maxRequestIds) ids.push(id);
        // What this question leaves out, or what it finds no answer for, is due at the next look.
        nextDueMs = Math.min(nextDueMs, next_ask_ms);
      }
      if (due.condition.length > 0) return { by: 'condition', ids: due.condition };
      return due.token.length > 0 ? { by: 'token', ids: due.token } : null;
    },
    /** The question was answered and the answer is in the catalogue. Returns what changed about missing ids, and how many were found. */
    complete(
      { by, ids, resolvedMs: asked = [] }: MarketRequest,
      nowMs: number,
    ): { changes: MissingChange[]; found: number; dropped: number } {
      const changes: MissingChange[] = [];
      let foundNow = 0;
      let droppedNow = 0;
      for (const id of ids) {
        const key = keyOf(by, id);
        const before = missing.get(key);
        const resolvedMs = queues[by].get(id)?.resolvedMs;
        // Resolved while the question was under way: it waits for the one that says so.
        if (!found(by, id) && resolvedMs !== undefined && !asked.includes(resolvedMs)) continue;
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
