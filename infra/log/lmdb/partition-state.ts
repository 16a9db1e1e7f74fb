/** State of a partition, stored next to its chunks. */
export interface PartitionState {
  /** Offset of the next record. */
  next: number;
  /** Timestamp of the newest time-index entry; -Infinity when there is none. */
  indexedTimestampMs: number;
  /** Compaction has seen every record below this offset. */
  cleanedTo: number;
  /** Records left after the last complete compaction. */
  cleanRecords: number;
  /** Unix ms of the last complete compaction; 0: never. */
  cleanedAtMs: number;
  /** Earliest horizon of the stored tombstones; Infinity: none. */
  tombstoneHorizonMs: number;
}

export function newPartitionState(): PartitionState {
  return {
    next: 0,
    indexedTimestampMs: Number.NEGATIVE_INFINITY,
    cleanedTo: 0,
    cleanRecords: 0,
    cleanedAtMs: 0,
    tombstoneHorizonMs: Number.POSITIVE_INFINITY,
  };
}

export function encodeState(state: PartitionState): Buffer {
  const bytes = Buffer.allocUnsafe(48);
  bytes.writeDoubleLE(state.next, 0);
  bytes.writeDoubleLE(state.indexedTimestampMs, 8);
  bytes.writeDoubleLE(state.cleanedTo, 16);
  bytes.writeDoubleLE(state.cleanRecords, 24);
  bytes.writeDoubleLE(state.cleanedAtMs, 32);
  bytes.writeDoubleLE(state.tombstoneHorizonMs, 40);
  return bytes;
}

export function decodeState(bytes: Buffer): PartitionState {
  return {
    next: bytes.readDoubleLE(0),
    indexedTimestampMs: bytes.readDoubleLE(8),
    cleanedTo: bytes.readDoubleLE(16),
    cleanRecords: bytes.readDoubleLE(24),
    cleanedAtMs: bytes.readDoubleLE(32),
    tombstoneHorizonMs: bytes.readDoubleLE(40),
  };
}
