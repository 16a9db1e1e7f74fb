import { entryKey } from './keys.js';
import type { PartitionState } from './partition-state.js';
import type { Store } from './store.js';

/**
 * Sparse time index of a partition. An entry (T -> v) means: every record below offset v has a timestamp <= T. Entries are added
 * when a chunk's largest timestamp exceeds the newest entry by the step or more, so T and v grow together however disordered the
 * records are, and an entry never becomes wrong when records are deleted or chunks are merged.
 *
 * The first record at or after time t is therefore at or after the v of the last entry with T < t; from there the chunks' own
 * largest timestamps lead to it (reader.ts).
 */
const STEP_MS = 1000;

/** Inside a write transaction, after `state.next` moved past the chunk. */
export function indexChunk(
  store: Store,
  topicId: number,
  partition: number,
  state: PartitionState,
  maxTimestampMs: number,
): void {
  if (maxTimestampMs < state.indexedTimestampMs + STEP_MS) return;
  const value = Buffer.allocUnsafe(8);
  value.writeDoubleLE(state.next, 0);
  store.times.put(entryKey(topicId, partition, maxTimestampMs), value);
  state.indexedTimestampMs = maxTimestampMs;
}

/** An offset below which every record is older than `timestampMs`. */
export function lowerBound(store: Store, topicId: number, partition: number, timestampMs: number): number {
  const range = store.times.getRange({
    start: entryKey(topicId, partition, timestampMs - 1),
    end: entryKey(topicId, partition, 0),
    reverse: true,
    inclusiveEnd: true,
    limit: 1,
  });
  for (const { value } of range) return value.readDoubleLE(0);
  return 0;
}

/** Inside a write transaction: delete up to `limit` entries that only concern offsets below `earliest`. Returns how many. */
export function pruneTimeIndex(
  store: Store,
  topicId: number,
  partition: number,
  earliest: number,
  limit: number,
): number {
  const obsolete: Buffer[] = [];
  const range = store.times.getRange({
    start: entryKey(topicId, partition, 0),
    end: entryKey(topicId, partition + 1, 0),
    limit,
  });
  for (const { key, value } of range) {
    if (value.readDoubleLE(0) > earliest) break;
    obsolete.push(key);
  }
  for (const key of obsolete) store.times.remove(key);
  return obsolete.length;
}
