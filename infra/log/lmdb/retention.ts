import { type ChunkEntry, type ChunkHeader, encodeChunk, readHeader, visitChunk } from './chunk.js';
import { chunkBaseOffset, entryKey } from './keys.js';
import type { Store } from './store.js';
import { pruneTimeIndex } from './time-index.js';

/** Chunks per transaction: about 2 MB, a few milliseconds. */
const CHUNKS_PER_STEP = 32;
const INDEX_ENTRIES_PER_STEP = 1000;

export interface RetentionDeps {
  readonly store: Store;
  /** Called inside every write transaction; throws to abort the pass. */
  readonly renewLease: () => void;
  /** Called between transactions: yields to other writers and other work. */
  readonly throttle: () => Promise<void>;
}

/** Which records at the start of a partition are deleted, given a chunk's base offset. */
export interface Cutoff {
  /** True if every record of the chunk is deleted. */
  readonly coversChunk: (header: ChunkHeader, base: number) => boolean;
  readonly covers: (entry: ChunkEntry, base: number) => boolean;
}

/** Records with an earlier timestamp than `timestampMs`. */
export const olderThan = (timestampMs: number): Cutoff => ({
  coversChunk: (header) => header.maxTimestampMs < timestampMs,
  covers: (entry) => entry.timestampMs < timestampMs,
});

/** Records with a lower offset than `offset`. */
export const beforeOffset = (offset: number): Cutoff => ({
  coversChunk: (header, base) => base + header.offsetSpan <= offset,
  covers: (entry, base) => base + entry.delta < offset,
});

/**
 * Delete, in small transactions, the records at the start of the partition that the cutoff covers, up to the first that it does not. Only a prefix is
 * deleted, as with Kafka's segments: an old record after a younger one stays until the younger one expires, and a record with a future timestamp keeps
 * all records after it.
 */
export async function deletePrefix(
  deps: RetentionDeps,
  topicId: number,
  partition: number,
  cutoff: Cutoff,
): Promise<void> {
  const { store, renewLease, throttle } = deps;
  for (;;) {
    const step = store.read(() => planStep(store, topicId, partition, cutoff));
    if (step === null) return;
    // Only the owner of the lease changes stored chunks, so the chunks read before are unchanged.
    const pruned = store.write(() => {
      renewLease();
      for (const key of step.remove) store.chunks.remove(key);
      if (step.shortened !== null) store.chunks.put(step.shortened.key, step.shortened.chunk);
      return pruneTimeIndex(store, topicId, partition, step.earliest, INDEX_ENTRIES_PER_STEP);
    });
    if (!step.more && pruned < INDEX_ENTRIES_PER_STEP) return;
    await throttle();
  }
}

interface RetentionStep {
  readonly remove: readonly Buffer[];
  /** The chunk of the first record to keep, without the records before it. */
  readonly shortened: { readonly key: Buffer; readonly chunk: Buffer } | null;
  /** No record below this offset is left after the step. */
  readonly earliest: number;
  readonly more: boolean;
}

/** null: there is nothing to delete. */
function planStep(store: Store, topicId: number, partition: number, cutoff: Cutoff): RetentionStep | null {
  const remove: Buffer[] = [];
  let earliest = 0;
  const range = store.chunks.getRange({
    start: entryKey(topicId, partition, 0),
    end: entryKey(topicId, partition + 1, 0),
    limit: CHUNKS_PER_STEP,
  });
  for (const { key, value } of range) {
    store.recordBytesRead(value.length);
    const header = readHeader(value);
    const base = chunkBaseOffset(key);
    if (cutoff.coversChunk(header, base)) {
      earliest = base + header.offsetSpan;
      remove.push(key);
      continue;
    }
    const entries = entriesFromCutoff(value, base, cutoff);
    const first = entries[0]?.delta ?? 0;
    if (first === header.firstDelta) break;
    const chunk = encodeChunk(entries, header.offsetSpan, header.tombstoneHorizonMs);
    return { remove, shortened: { key, chunk }, earliest: base + first, more: false };
  }
  if (remove.length === 0) return null;
  return { remove, shortened: null, earliest, more: remove.length === CHUNKS_PER_STEP };
}

function entriesFromCutoff(chunk: Buffer, base: number, cutoff: Cutoff): ChunkEntry[] {
  const entries: ChunkEntry[] = [];
  visitChunk(chunk, (entry) => {
    if (entries.length > 0 || !cutoff.covers(entry, base)) entries.push(entry);
    return true;
  });
  return entries;
}
