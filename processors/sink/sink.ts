import { FatalError } from '../../infra/errors.js';
import type { Log, LogRecord } from '../../infra/log/port.js';
import { requireRecords } from '../../infra/log/required-records.js';
import type { Logger } from '../../infra/telemetry/logger.js';
import type { Metrics } from '../../infra/telemetry/metrics.js';
import { createOnUnreadable } from '../../infra/telemetry/unreadable-records.js';
import type { Codec } from '../../schemas/codec.js';
import { createChunkJournal, type OffsetRange } from './chunk-journal.js';
import { createChunkPlans, type PlannedChunk } from './chunk-plans.js';
import { type Chunk, followChunks, readChunk } from './chunk-reader.js';
import type { ChunkRecorder } from './chunk-recorder.js';
import type { NewestChunk } from './committed-chunk.js';
import { createSinkMetrics } from './metrics.js';
import type { ProgressWriter } from './progress-table.js';
import type { Reconciler } from './reconcile.js';
import { resumePoint } from './resume-point.js';
import { retryUntilSuccess } from './retry.js';
import { requireSameLog } from './same-log.js';
import type { SinkDefinition } from './sink-definition.js';
import { SINK_FORMAT, type TableStore } from './table-store.js';
import { createChunkTransform, type TransformedChunk } from './transform-chunk.js';

export interface SinkOptions {
  readonly definition: SinkDefinition;
  readonly partition: number;
  readonly log: Pick<Log, 'read' | 'bounds' | 'acquireOwnership' | 'lastRecord'>;
  readonly store: TableStore;
  readonly codec: Codec;
  readonly logger: Logger;
  readonly metrics: Metrics;
  /** Called for every chunk that is in the tables. */
  readonly onCommitted?: Reconciler['recordCommitted'];
  readonly progress?: Pick<ProgressWriter, 'report'>;
  /** The recorder of all sinks of the process. */
  readonly chunkRecorder?: ChunkRecorder;
  /** Whether the newest chunk needs no further insert. Default: it is always inserted again. */
  readonly isCommitted?: (chunk: NewestChunk) => Promise<boolean>;
  readonly maxChunkRecords?: number;
  readonly lingerMs?: number;
  readonly retryDelayMs?: number;
}

export interface SinkState {
  readonly name: string;
  /** Offsets of the log that are not yet in the tables. */
  readonly lag: number;
  /** Last error of the table store; undefined after a successful request. */
  readonly lastError: string | undefined;
}

export interface Sink {
  /** Inserts until the signal. Rejects with FatalError when the tables are ahead of the log, RetryableError when the server keeps rejecting inserts. */
  run(signal: AbortSignal): Promise<void>;
  /** Reads the end offset of the log and sets the lag metric. */
  state(): Promise<SinkState>;
  /** Removes the gauges of a sink that has ended in a process that keeps running. */
  removeMetrics(): void;
}

const DEFAULT_CHUNK_RECORDS = 20_000;
const DEFAULT_LINGER_MS = 500;

/**
 * Exactly-once sink of one topic partition into the tables of one SinkDefinition.
 *
 * A chunk (offset range) is planned in the log, in a transaction of the sink's consumer group, before it is recorded in `chunks` and its rows
 * are inserted, each table with a deduplication token derived from the range. A process that takes over the sink acquires ownership of the
 * group and, unless all rows of the newest planned chunk are known to be in the tables, inserts it again with the same tokens, which has no effect
 * where they are already committed; a previous owner that is still alive can only repeat that chunk too. If the tables are inconsistent with the
 * plans, they were emptied or restored: the sink resumes from the newest range in `chunks`. The next chunk is read and transformed while the current one is inserted; chunks stay in order.
 */
export function createSink(options: SinkOptions): Sink {
  const { definition, partition, log, store, codec, logger } = options;
  const topic = definition.topic.name;
  const name = `${definition.name}/${topic}/${partition}`;
  const isKeptForever = !definition.topic.compacted && definition.topic.retentionMs === null;
  const metrics = createSinkMetrics(options.metrics, { sink: definition.name, topic, partition: String(partition) });
  const { chunkRecorder: recorder } = options;
  const journal = createChunkJournal({ store, sink: definition.name, topic, partition, recorder });
  const plans = createChunkPlans({ definition, partition, log, codec, onUnreadable: createOnUnreadable(options) });
  const transform = createChunkTransform({ definition, codec, partition });
  let committedNext = 0;
  let lastPlanned: number | null = null;
  let lastError: string | undefined;

  const retry = async <T>(what: string, signal: AbortSignal, attempt: () => Promise<T>): Promise<T> => {
    const result = await retryUntilSuccess(`${name}: ${what}`, attempt, {
      signal,
      firstDelayMs: options.retryDelayMs,
      onFailure: (error, delayMs) => {
        lastError = `${what}: ${error instanceof Error ? error.message : String(error)}`;
        metrics.failed();
        logger.warn({ sink: name, err: error, delayMs }, `${what} failed, trying again`);
      },
    });
    lastError = undefined;
    return result;
  };

  const insertChunk = async (
    range: PlannedChunk,
    chunk: TransformedChunk,
    last: LogRecord | undefined,
    signal: AbortSignal,
  ): Promise<void> => {
    const started = performance.now();
    await retry('record chunk', signal, async () => {
      await plans.confirmOwnership(range);
      await journal.record(range);
    });
    for (const { table, rows, body } of chunk.tables) {
      const dedupToken = journal.tokenFor(range, table.name);
      await retry(`insert into ${table.name}`, signal, async () => {
        await plans.confirmOwnership(range);
        await store.insertBytes(table.name, SINK_FORMAT, body, { columns: table.columns, dedupToken });
      });
      metrics.inserted(table.name, rows);
    }
    committedNext = range.lastOffset + 1;
    if (last !== undefined) {
      const position = { sink: definition.name, topic, partition, nextOffset: committedNext };
      options.progress?.report({ ...position, recordKey: last.key, recordTimeMs: last.timestampMs });
    }
    options.onCommitted?.(range, chunk.tables);
    metrics.setCommitted(committedNext);
    metrics.chunkInserted((performance.now() - started) / 1000);
  };

  const isInTables = async (nextOffset: number, signal: AbortSignal): Promise<boolean> => {
    const { isCommitted } = options;
    if (isCommitted === undefined) return false;
    const tables = definition.tables.map((table) => table.name);
    return retry('read progress', signal, () =>
      isCommitted({ sink: definition.name, topic, partition, nextOffset, tables }),
    );
  };

  /** The last record before an empty chunk's end; undefined if the log has younger ones, whose chunk reports the next progress. */
  const newestBefore = async (offset: number): Promise<LogRecord | undefined> => {
    const newest = await log.lastRecord(topic, partition);
    return newest !== null && newest.offset < offset ? newest : undefined;
  };

  const resume = async (signal: AbortSignal): Promise<void> => {
    const decided = await plans.acquireOwnership();
    const known = await retry('read resume point', signal, () => journal.newest());
    const { chunk: range, consistent } = resumePoint(decided, known);
    if (!consistent) {
      const text =
        'tables and chunk plans disagree (tables emptied or restored?), resuming from the newest range in `chunks`';
      logger.warn({ sink: name, decided, known }, text);
    }
    committedNext = 0;
    lastPlanned = range?.lastOffset ?? null;
    if (isKeptForever)
      await requireRecords(log, { reader: `Sink ${name}`, topic, partition, from: range?.firstOffset ?? 0 });
    if (range === null) return;
    const { next } = await log.bounds(topic, partition);
    if (next <= range.lastOffset)
      throw new FatalError(
        `${name}: the tables contain offsets up to ${range.lastOffset}, the log ends at ${next}: they do not belong together. Restore the log, or rebuild the tables in an empty database`,
      );
    if (decided === null)
      await retry('compare tables and log', signal, () =>
        requireSameLog({ store, log, sink: definition.name, topic, partition, lastOffset: range.lastOffset, signal }),
      );
    const nextOffset = range.lastOffset + 1;
    if (known?.lastOffset === range.lastOffset && (await isInTables(nextOffset, signal))) {
      committedNext = nextOffset;
      metrics.setCommitted(nextOffset);
      return;
    }
    const chunk = await readChunk({ log, topic, partition, signal, ...range });
    signal.throwIfAborted();
    const last = chunk.records.at(-1) ?? (await newestBefore(nextOffset));
    await insertChunk(range, await transform(chunk.records), last, signal);
  };

  const planAndInsert = async (read: Chunk, chunk: TransformedChunk, signal: AbortSignal): Promise<void> => {
    const range: OffsetRange = { firstOffset: read.firstOffset, lastOffset: read.lastOffset };
    const plan: PlannedChunk = { ...range, previousLastOffset: lastPlanned };
    await plans.commit(plan, chunk.deadLetters);
    lastPlanned = plan.lastOffset;
    if (chunk.deadLetters.length > 0) {
      metrics.deadLetters(chunk.deadLetters.length);
      logger.warn({ sink: name, ...range, count: chunk.deadLetters.length }, 'input records moved to the dead letters');
    }
    await insertChunk(plan, chunk, read.records.at(-1), signal);
  };

  const follow = async (signal: AbortSignal): Promise<void> => {
    let inserting: Promise<unknown> = Promise.resolve();
    const chunks = followChunks({
      log,
      topic,
      partition,
      signal,
      fromOffset: committedNext,
      maxRecords: options.maxChunkRecords ?? definition.maxChunkRecords ?? DEFAULT_CHUNK_RECORDS,
      lingerMs: options.lingerMs ?? definition.lingerMs ?? DEFAULT_LINGER_MS,
      busy: () => inserting,
    });
    for (;;) {
      const next = chunks.next();
      const failed = inserting.then(() => next);
      const step = await Promise.race([next, failed]);
      if (step.done) break;
      const chunk: Chunk = step.value;
      const transformed = await transform(chunk.records);
      await inserting;
      inserting = planAndInsert(chunk, transformed, signal);
    }
    await inserting;
  };

  return {
    async run(signal) {
      const ended = new AbortController();
      const either = AbortSignal.any([signal, ended.signal]);
      try {
        await resume(either);
        await follow(either);
      } catch (error) {
        if (!signal.aborted) throw error;
      } finally {
        ended.abort();
      }
    },
    async state() {
      const { earliest, next } = await log.bounds(topic, partition);
      const from = Math.max(committedNext, earliest);
      metrics.setLag(next, from);
      return { name, lag: Math.max(0, next - from), lastError };
    },
    removeMetrics: metrics.remove,
  };
}
