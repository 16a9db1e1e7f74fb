import { LogCorruptError } from '../errors.js';
import type { LogRecord } from '../port.js';
import type { FetchResponse } from './kafka-connection.js';
import { decodeBatch, type FetchedBatch, isAbort, splitBatches } from './record-batch.js';

/** Result of one fetch: the batches that readers of committed records may see, and the offset of the next fetch. */
export interface VisibleBatches {
  readonly batches: readonly FetchedBatch[];
  readonly nextOffset: number;
  readonly logStart: number;
}

/** The batches of a response without markers and without batches of aborted transactions (KIP-98, "Reading transactional messages"). */
export function visibleBatches(response: FetchResponse, fetchOffset: number): VisibleBatches {
  const batches: FetchedBatch[] = [];
  const aborted = [...response.aborted].sort((a, b) => a.firstOffset - b.firstOffset);
  const abortedProducers = new Set<number>();
  let nextOffset = fetchOffset;
  for (const batch of splitBatches(response.records)) {
    if (batch.lastOffset < fetchOffset) continue;
    nextOffset = batch.lastOffset + 1;
    while (aborted[0] !== undefined && aborted[0].firstOffset <= batch.lastOffset) {
      abortedProducers.add(aborted.shift()!.producerId);
    }
    if (batch.control) {
      if (isAbort(batch)) abortedProducers.delete(batch.producerId);
    } else if (batch.count > 0 && !(batch.transactional && abortedProducers.has(batch.producerId))) {
      batches.push(batch);
    }
  }
  if (nextOffset === fetchOffset && response.records.length > 0) {
    throw new LogCorruptError(`The broker's response for offset ${fetchOffset} contains no complete batch`);
  }
  return { batches, nextOffset, logStart: response.logStart };
}

/** Records below `end` in groups of at most `maxRecords`; small batches are merged. */
export async function* groupRecords(
  fetched: VisibleBatches,
  fromOffset: number,
  maxRecords: number,
  end: number,
): AsyncGenerator<{ records: LogRecord[]; nextOffset: number }> {
  let waiting: LogRecord[] = [];
  for (const batch of fetched.batches) {
    if (batch.baseOffset >= end) break;
    const records = await decodeBatch(batch, fromOffset);
    for (const record of records) {
      if (record.offset >= end) break;
      waiting.push(record);
      if (waiting.length > maxRecords) {
        const full = waiting.slice(0, maxRecords);
        waiting = waiting.slice(maxRecords);
        yield { records: full, nextOffset: full.at(-1)!.offset + 1 };
      }
    }
  }
  if (waiting.length > 0) {
    yield { records: waiting, nextOffset: Math.max(waiting.at(-1)!.offset + 1, Math.min(fetched.nextOffset, end)) };
  }
}
