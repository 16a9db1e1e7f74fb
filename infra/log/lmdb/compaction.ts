import {
  CHUNK_TARGET_BYTES,
  type ChunkEntry,
  type ChunkHeader,
  encodeChunk,
  entryBytes,
  readHeader,
  visitChunk,
} from './chunk.js';
import { chunkBaseOffset, entryKey, partitionKey } from './keys.js';
import { createOffsetMap, type OffsetMap } from './offset-map.js';
import { decodeState, encodeState, type PartitionState } from './partition-state.js';
import type { Store } from './store.js';

/** Chunks per transaction: about 1 MB, a few milliseconds. */
const CHUNKS_PER_STEP = 16;
/** Keys one pass can track: a table of 12 MB. A longer dirty section takes several passes. */
const MAX_KEYS = 340_000;
/** Largest offset span of a chunk; its deltas are 32 bits wide. */
const MAX_OFFSET_SPAN = 2 ** 31;
/** More records than one chunk can hold (its target size over the smallest record). */
const MAX_CHUNK_RECORDS = CHUNK_TARGET_BYTES / 20 + 1;

export interface CompactionDeps {
  readonly store: Store;
  /** Called inside every write transaction; throws to abort the pass. */
  readonly renewLease: () => void;
  /** Called between transactions: yields to other writers and other work. */
  readonly throttle: () => Promise<void>;
  readonly nowMs: number;
  readonly tombstoneGraceMs: number;
  readonly maxKeys?: number;
}

/**
 * One pass over a partition of a compacted topic: keep only the last record per key, in small transactions. Offsets do not move,
 * so the partition gets holes. Works as Kafka's log cleaner does: collect the newest offset of every key in the section written
 * since the last pass, then rewrite the log from its start to the end of that section without the replaced records. An
 * interrupted pass restarts safely.
 *
 * Tombstones stay for `tombstoneGraceMs` after the pass that first saw them (the horizon in the chunk's header), then are deleted.
 * Returns true when records remain that no pass has seen.
 */
export async function compactPartition(deps: CompactionDeps, topicId: number, partition: number): Promise<boolean> {
  const { store, renewLease, throttle } = deps;
  const key = partitionKey(topicId, partition);
  const stored = store.read(() => store.meta.get(key));
  if (stored === undefined) return false;
  const before = decodeState(stored);
  const newest = createOffsetMap(
    Math.min(deps.maxKeys ?? MAX_KEYS, before.next - before.cleanedTo) + MAX_CHUNK_RECORDS,
  );
  const end = await buildOffsetMap(deps, topicId, partition, before, newest);

  let kept = 0;
  let horizonMs = Number.POSITIVE_INFINITY;
  for (let from: number | null = 0; from !== null; ) {
    const at: number = from;
    const step = store.read(() => planStep(deps, topicId, partition, at, end, newest));
    // Only the owner of the lease changes chunks below `end`, so the chunks read before are unchanged.
    if (step.remove.length > 0) {
      store.write(() => {
        renewLease();
        for (const key of step.remove) store.chunks.remove(key);
        for (const { key, chunk } of step.replace) store.chunks.put(key, chunk);
      });
    }
    kept += step.kept;
    horizonMs = Math.min(horizonMs, step.horizonMs);
    from = step.resumeAt;
    await throttle();
  }
  return store.write(() => {
    renewLease();
    const state = decodeState(store.meta.get(key) ?? stored);
    state.cleanedTo = end;
    state.cleanRecords = kept;
    state.cleanedAtMs = deps.nowMs;
    state.tombstoneHorizonMs = horizonMs;
    store.meta.put(key, encodeState(state));
    return end < state.next;
  });
}

/** Fill `newest` from the dirty section; returns the offset (a chunk boundary) up to which it contains all keys. */
async function buildOffsetMap(
  deps: CompactionDeps,
  topicId: number,
  partition: number,
  state: PartitionState,
  newest: OffsetMap,
): Promise<number> {
  let at = state.cleanedTo;
  while (at < state.next) {
    const reached = deps.store.read(() => {
      let covered = at;
      const range = { start: entryKey(topicId, partition, at), end: entryKey(topicId, partition, state.next) };
      for (const { key, value } of deps.store.chunks.getRange({ ...range, limit: CHUNKS_PER_STEP })) {
        deps.store.recordBytesRead(value.length);
        if (newest.remainingCapacity() < readHeader(value).count) return { covered, full: true };
        const base = chunkBaseOffset(key);
        const { offsetSpan } = visitChunk(value, (entry) => {
          newest.set(entry.key, base + entry.delta);
          return true;
        });
        covered = base + offsetSpan;
      }
      return { covered, full: false };
    });
    if (reached.full) return reached.covered;
    if (reached.covered === at) break;
    at = reached.covered;
    await deps.throttle();
  }
  return state.next;
}

interface CompactionStep {
  readonly remove: Buffer[];
  readonly replace: { readonly key: Buffer; readonly chunk: Buffer }[];
  readonly kept: number;
  readonly horizonMs: number;
  /** Offset of the first unprocessed chunk; null at the end. */
  readonly resumeAt: number | null;
}

/** Retained records of adjacent chunks, to be merged into one chunk. */
interface ChunkRun {
  readonly base: number;
  end: number;
  bytes: number;
  readonly sources: Buffer[];
  readonly entries: ChunkEntry[];
  horizonMs: number;
  changed: boolean;
}

/** Plan the rewrite of the next chunks from offset `from`. */
function planStep(
  deps: CompactionDeps,
  topicId: number,
  partition: number,
  from: number,
  end: number,
  newest: OffsetMap,
): CompactionStep {
  const { store, nowMs } = deps;
  const range = { start: entryKey(topicId, partition, from), end: entryKey(topicId, partition, end) };
  const remove: Buffer[] = [];
  const put: { key: Buffer; chunk: Buffer }[] = [];
  let run: ChunkRun | null = null;
  let kept = 0;
  let horizonMs = Number.POSITIVE_INFINITY;
  let seen = 0;
  let resumeAt = from;

  const close = () => {
    if (run === null) return;
    const asItWas = !run.changed && run.sources.length === 1;
    if (!asItWas) remove.push(...run.sources);
    if (!asItWas && run.entries.length > 0) {
      const chunk = encodeChunk(run.entries, run.end - run.base, run.horizonMs);
      put.push({ key: entryKey(topicId, partition, run.base), chunk });
    }
    run = null;
  };
  const take = (key: Buffer, value: Buffer) => {
    store.recordBytesRead(value.length);
    const base = chunkBaseOffset(key);
    const chunk = retainedEntries(value, base, newest, nowMs);
    const { header } = chunk;
    kept += chunk.entries.length;
    resumeAt = base + header.offsetSpan;
    const chunkHorizonMs = chunk.hasTombstones ? header.tombstoneHorizonMs || nowMs + deps.tombstoneGraceMs : 0;
    if (chunkHorizonMs > 0) horizonMs = Math.min(horizonMs, chunkHorizonMs);
    const changed = chunk.entries.length < header.count || chunkHorizonMs !== header.tombstoneHorizonMs;
    if (!changed && value.length >= CHUNK_TARGET_BYTES / 2) return close();
    const fits = (open: ChunkRun) =>
      open.bytes + chunk.bytes <= CHUNK_TARGET_BYTES && resumeAt - open.base <= MAX_OFFSET_SPAN;
    if (run !== null && !fits(run)) close();
    run ??= { base, end: base, bytes: 0, sources: [], entries: [], horizonMs: 0, changed: false };
    for (const entry of chunk.entries) run.entries.push({ ...entry, delta: base + entry.delta - run.base });
    run.end = resumeAt;
    run.changed ||= changed;
    run.bytes += chunk.bytes;
    run.sources.push(key);
    run.horizonMs = Math.max(run.horizonMs, chunkHorizonMs);
  };

  for (const { key, value } of store.chunks.getRange({ ...range, limit: CHUNKS_PER_STEP })) {
    take(key, value);
    seen++;
  }
  close();
  return { remove, replace: put, kept, horizonMs, resumeAt: seen < CHUNKS_PER_STEP ? null : resumeAt };
}

function retainedEntries(
  chunk: Buffer,
  base: number,
  newest: OffsetMap,
  nowMs: number,
): { header: ChunkHeader; entries: ChunkEntry[]; bytes: number; hasTombstones: boolean } {
  const { tombstoneHorizonMs } = readHeader(chunk);
  const entries: ChunkEntry[] = [];
  let bytes = 0;
  let hasTombstones = false;
  const header = visitChunk(chunk, (entry) => {
    const replacedBy = newest.get(entry.key);
    if (replacedBy !== undefined && replacedBy > base + entry.delta) return true;
    if (entry.value === null) {
      if (tombstoneHorizonMs > 0 && nowMs >= tombstoneHorizonMs) return true;
      hasTombstones = true;
    }
    entries.push(entry);
    bytes += entryBytes(entry.key.length, entry.value);
    return true;
  });
  return { header, entries, bytes, hasTombstones };
}
