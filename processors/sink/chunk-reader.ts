import type { Log, LogRecord, RecordBatch } from '../../infra/log/port.js';

/** An offset range of one partition, planned before any of its rows is inserted. `lastOffset` is the offset of its last record. */
export interface Chunk {
  readonly firstOffset: number;
  readonly lastOffset: number;
  readonly records: readonly LogRecord[];
}

interface Source {
  readonly log: Pick<Log, 'read'>;
  readonly topic: string;
  readonly partition: number;
  readonly signal: AbortSignal;
}

const READ_RECORDS = 5_000;

/** Records of this age are history that is being loaded, or late already: larger chunks insert them sooner. */
const HISTORY_AGE_MS = 60_000;
/** A chunk of history waits at most this many times `lingerMs`. */
const MAX_LINGERS = 5;

/**
 * Follows a partition in chunks of at most `maxRecords` records. A smaller chunk is closed `lingerMs` after its first record arrived, but not
 * before `busy` has settled (the reader's work on the chunk before), so chunks are small at the end of the log and grow with the load. A
 * chunk of records older than a minute is closed when none has arrived for `lingerMs`, at most five times `lingerMs` after the first. Prefetches one
 * batch.
 */
export async function* followChunks(
  source: Source & { fromOffset: number; maxRecords: number; lingerMs: number; busy?: () => Promise<unknown> },
): AsyncGenerator<Chunk> {
  const batches = source.log
    .read({
      topic: source.topic,
      partition: source.partition,
      from: { offset: source.fromOffset },
      follow: true,
      maxRecords: Math.min(READ_RECORDS, source.maxRecords),
      signal: source.signal,
    })
    [Symbol.asyncIterator]();
  let upcoming: Promise<IteratorResult<RecordBatch>> | undefined;
  try {
    for (;;) {
      const opened = await (upcoming ?? batches.next());
      upcoming = undefined;
      if (opened.done) return;
      const records: LogRecord[] = [...opened.value.records];
      const openedAtMs = Date.now();
      const isHistory = openedAtMs - (records.at(-1)?.timestampMs ?? openedAtMs) > HISTORY_AGE_MS;
      let closing = deadline(source.lingerMs, source.busy);
      try {
        while (records.length < source.maxRecords) {
          upcoming ??= batches.next();
          const next = await Promise.race([upcoming, closing.passed]);
          if (next === 'passed') break;
          if (next.done) break;
          if (records.length + next.value.records.length > source.maxRecords) break;
          for (const record of next.value.records) records.push(record);
          upcoming = undefined;
          if (isHistory && Date.now() - openedAtMs < (MAX_LINGERS - 1) * source.lingerMs) {
            closing.cancel();
            closing = deadline(source.lingerMs, source.busy);
          }
        }
      } finally {
        closing.cancel();
      }
      const first = records[0];
      const last = records[records.length - 1];
      if (first !== undefined && last !== undefined)
        yield { firstOffset: first.offset, lastOffset: last.offset, records };
    }
  } finally {
    // A pending read ends only with the signal, so its return is not awaited here.
    Promise.allSettled([upcoming, batches.return?.()]);
  }
}

/** The records of a range planned earlier, as far as the log still retains them. */
export async function readChunk(source: Source & { firstOffset: number; lastOffset: number }): Promise<Chunk> {
  const records: LogRecord[] = [];
  const batches = source.log.read({
    topic: source.topic,
    partition: source.partition,
    from: { offset: source.firstOffset },
    follow: false,
    signal: source.signal,
  });
  for await (const batch of batches) {
    for (const record of batch.records) if (record.offset <= source.lastOffset) records.push(record);
    if (batch.nextOffset > source.lastOffset) break;
  }
  return { firstOffset: source.firstOffset, lastOffset: source.lastOffset, records };
}

function deadline(ms: number, busy?: () => Promise<unknown>): { readonly passed: Promise<'passed'>; cancel(): void } {
  let timer: NodeJS.Timeout | undefined;
  const passed = new Promise<'passed'>((resolve) => {
    timer = setTimeout(async () => {
      await busy?.().catch(() => undefined);
      resolve('passed');
    }, ms);
  });
  return { passed, cancel: () => clearTimeout(timer) };
}
