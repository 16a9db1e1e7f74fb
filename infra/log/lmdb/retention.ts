import { type ChunkEntry, encodeChunk, readHeader, visitChunk } from './chunk.js';
import { chunkBaseOffset, entryKey } from './keys.js';
import type { Store } from './store.js';
import { pruneTimeIndex } from './time-index.js';

/** Chunks per transaction: about 2 MB, a few milliseconds. */
const CHUNKS_PER_STEP = 32;
/** Chunks per read transaction: about 8 MB. */
const CHUNKS_PER_SCAN = 128;
const INDEX_ENTRIES_PER_STEP = 1000;

export interface RetentionDeps {
  readonly store: Store;
  /** Called inside every write transaction; throws to abort the pass. */
  readonly renewLease: () => void;
  /** Called between transactions: yields to other writers and other work. */
  readonly throttle: () => Promise<void>;
}

/** Writers' clocks differ by less. A record from later than this was written by a clock that ran ahead. */
const CLOCK_TOLERANCE_MS = 60_000;

/**
 * The offset after the records at the start of the partition that are older than the retention: those up to the first that is not. Only a prefix
 * expires, as with Kafka's segments: an old record after a younger one stays until the younger one expires. A record from the future counts as old as the
 * next one that is not, which was appended later: its own time would keep all records after it until the present has passed it.
 */
export async function expiredEnd(
  deps: RetentionDeps,
  topicId: number,
  partition: number,
  { nowMs, retentionMs }: { readonly nowMs: number; readonly retentionMs: number },
): Promise<number> {
  const { store, renewLease, throttle } = deps;
  const cutoffMs = nowMs - retentionMs;
  let end = 0;
  let from = 0;
  /** False at the first record that has not expired, and at the end of the partition. */
  const scan = (): boolean => {
    let chunks = 0;
    const range = { start: entryKey(topicId, partition, from), end: entryKey(topicId, partition + 1, 0) };
    for (const { key, value } of store.chunks.getRange({ ...range, limit: CHUNKS_PER_SCAN })) {
      store.recordBytesRead(value.length);
      const { maxTimestampMs, offsetSpan, lastDelta } = readHeader(value);
      const base = chunkBaseOffset(key);
      chunks += 1;
      from = base + offsetSpan;
      let isExpired = true;
      if (maxTimestampMs < cutoffMs) end = from;
      else
        visitChunk(value, ({ delta, timestampMs }) => {
          if (timestampMs > nowMs + CLOCK_TOLERANCE_MS) return true;
          isExpired = timestampMs < cutoffMs;
          if (isExpired) end = delta === lastDelta ? from : base + delta + 1;
          return isExpired;
        });
      if (!isExpired) return false;
    }
    return chunks === CHUNKS_PER_SCAN;
  };
  while (store.read(scan)) {
    store.write(renewLease);
    await throttle();
  }
  return end;
}

/** Deletes, in small transactions, the records before the offset. */
export async function deletePrefix(
  deps: RetentionDeps,
  topicId: number,
  partition: number,
  offset: number,
): Promise<void> {
  const { store, renewLease, throttle } = deps;
  for (;;) {
    const step = store.read(() => planStep(store, topicId, partition, offset));
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
function planStep(store: Store, topicId: number, partition: number, offset: number): RetentionStep | null {
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
    if (base + header.offsetSpan <= offset) {
      earliest = base + header.offsetSpan;
      remove.push(key);
      continue;
    }
    const entries = entriesFrom(value, base, offset);
    const first = entries[0]?.delta ?? 0;
    if (first === header.firstDelta) break;
    const chunk = encodeChunk(entries, header.offsetSpan, header.tombstoneHorizonMs);
    return { remove, shortened: { key, chunk }, earliest: base + first, more: false };
  }
  if (remove.length === 0) return null;
  return { remove, shortened: null, earliest, more: remove.length === CHUNKS_PER_STEP };
}

function entriesFrom(chunk: Buffer, base: number, offset: number): ChunkEntry[] {
  const entries: ChunkEntry[] = [];
  visitChunk(chunk, (entry) => {
    if (base + entry.delta >= offset) entries.push(entry);
    return true;
  });
  return entries;
}
