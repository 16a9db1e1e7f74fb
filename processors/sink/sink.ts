import { FatalError } from '../../infra/errors.js';
import type { Log, LogRecord } from '../../infra/log/port.js';
import type { Logger } from '../../infra/telemetry/logger.js';
import type { Metrics } from '../../infra/telemetry/metrics.js';
import { createOnUnreadable } from '../../infra/telemetry/unreadable.js';
import type { Codec } from '../../schemas/codec.js';
import { createChunkJournal, type OffsetRange } from './chunk-journal.js';
import { createChunkPlans, type Plan } from './chunk-plans.js';
import { type Chunk, followChunks, readChunk } from './chunk-reader.js';
import type { Family } from './family.js';
import { sinkMetrics } from './metrics.js';
import type { ProgressWriter } from './progress-table.js';
import type { Reconciler } from './reconcile.js';
import { resumePoint } from './resume-point.js';
import { untilDone } from './retry.js';
import { SINK_FORMAT, type TableStore } from './table-store.js';
import { createChunkTransform, type TransformedChunk } from './transform-chunk.js';

export interface SinkOptions {
  readonly family: Family;
  readonly partition: number;
  readonly log: Pick<Log, 'read' | 'bounds' | 'claim' | 'lastRecord'>;
  readonly store: TableStore;
  readonly codec: Codec;
  readonly logger: Logger;
  readonly metrics: Metrics;
  /** Hears of every chunk that is in the tables. */
  readonly onLanded?: Reconciler['landed'];
  readonly progress?: Pick<ProgressWriter, 'note'>;
  readonly maxChunkRecords?: number;
  readonly lingerMs?: number;
  readonly retryDelayMs?: number;
}

export interface SinkState {
  readonly name: string;
  /** Offsets of the log that are not in the tables yet. */
  readonly lag: number;
  /** Why the table store refuses or is away; undefined while it works. */
  readonly trouble: string | undefined;
}

export interface Sink {
  /** Fold until the signal. Rejects with FatalError when the tables know more than the log, RetryableError when they keep refusing. */
  run(signal: AbortSignal): Promise<void>;
  /** Asks the log for its end, and sets the lag metric. */
  state(): Promise<SinkState>;
  /** Take its gauges away; for a sink that has ended while its process goes on. */
  forget(): void;
}

const DEFAULT_CHUNK_RECORDS = 20_000;
const DEFAULT_LINGER_MS = 500;

/**
 * Exactly-once fold of one topic partition into the tables of one family.
 *
 * A chunk (offset range) is decided in the log, in a step of the sink's group, before it is noted in `chunks` and its rows are inserted, each
 * table under a token made of the range. Whoever takes the sink over claims the group and inserts the newest decided chunk again under the
 * same tokens, which changes nothing where it had landed; a predecessor that still lives can only repeat that chunk too. Tables that stand
 * elsewhere were emptied or restored: the fold goes on from what they hold. The next chunk is read and transformed while the current one is
 * inserted; their order is kept.
 */
export function createSink(options: SinkOptions): Sink {
  const { family, partition, log, store, codec, logger } = options;
  const topic = family.topic.name;
  const name = `${family.name}/${topic}/${partition}`;
  const metrics = sinkMetrics(options.metrics, { sink: family.name, topic, partition: String(partition) });
  const journal = createChunkJournal({ store, sink: family.name, topic, partition });
  const plans = createChunkPlans({ family, partition, log, codec, onUnreadable: createOnUnreadable(options) });
  const transform = createChunkTransform({ family, codec, partition });
  let landedNext = 0;
  let lastPlanned: number | null = null;
  let trouble: string | undefined;

  const insist = async <T>(what: string, signal: AbortSignal, attempt: () => Promise<T>): Promise<T> => {
    const result = await untilDone(`${name}: ${what}`, attempt, {
      signal,
      firstDelayMs: options.retryDelayMs,
      failed: (error, delayMs) => {
        trouble = `${what}: ${error instanceof Error ? error.message : String(error)}`;
        metrics.failed();
        logger.warn({ sink: name, err: error, delayMs }, `${what} failed, trying again`);
      },
    });
    trouble = undefined;
    return result;
  };

  const land = async (
    range: Plan,
    chunk: TransformedChunk,
    last: LogRecord | undefined,
    signal: AbortSignal,
  ): Promise<void> => {
    const started = performance.now();
    await insist('record chunk', signal, async () => {
      await plans.confirm(range);
      await journal.record(range);
    });
    for (const { table, rows, body } of chunk.tables) {
      const dedupToken = journal.tokenFor(range, table.name);
      await insist(`insert into ${table.name}`, signal, async () => {
        await plans.confirm(range);
        await store.insertBytes(table.name, SINK_FORMAT, body, { columns: table.columns, dedupToken });
      });
      metrics.inserted(table.name, rows);
    }
    landedNext = range.lastOffset + 1;
    const place = { sink: family.name, topic, partition, nextOffset: landedNext };
    options.progress?.note({ ...place, recordKey: last?.key ?? '', recordTimeMs: last?.timestampMs ?? 0 });
    options.onLanded?.(range, chunk.tables);
    metrics.chunkLanded(landedNext, (performance.now() - started) / 1000);
  };

  const resume = async (signal: AbortSignal): Promise<void> => {
    const decided = await plans.take();
    const known = await insist('read resume point', signal, () => journal.newest());
    const { chunk: range, consistent } = resumePoint(decided, known);
    if (!consistent) {
      const text = 'the tables are not where the log left them, going on from what they hold';
      logger.warn({ sink: name, decided, known }, text);
    }
    landedNext = 0;
    lastPlanned = range?.lastOffset ?? null;
    if (range === null) return;
    const { next } = await log.bounds(topic, partition);
    if (next <= range.lastOffset)
      throw new FatalError(
        `${name}: the tables hold offsets up to ${range.lastOffset}, the log ends at ${next}: they do not belong together`,
      );
    const chunk = await readChunk({ log, topic, partition, signal, ...range });
    signal.throwIfAborted();
    await land(range, await transform(chunk.records), chunk.records.at(-1), signal);
  };

  const decideAndLand = async (read: Chunk, chunk: TransformedChunk, signal: AbortSignal): Promise<void> => {
    const range: OffsetRange = { firstOffset: read.firstOffset, lastOffset: read.lastOffset };
    const plan: Plan = { ...range, previousLastOffset: lastPlanned };
    await plans.decide(plan, chunk.deadLetters);
    lastPlanned = plan.lastOffset;
    if (chunk.deadLetters.length > 0) {
      metrics.deadLetters(chunk.deadLetters.length);
      logger.warn({ sink: name, ...range, count: chunk.deadLetters.length }, 'dead letters');
    }
    await land(plan, chunk, read.records.at(-1), signal);
  };

  const follow = async (signal: AbortSignal): Promise<void> => {
    const chunks = followChunks({
      log,
      topic,
      partition,
      signal,
      fromOffset: landedNext,
      maxRecords: options.maxChunkRecords ?? family.maxChunkRecords ?? DEFAULT_CHUNK_RECORDS,
      lingerMs: options.lingerMs ?? family.lingerMs ?? DEFAULT_LINGER_MS,
    });
    let landing: Promise<unknown> = Promise.resolve();
    for (;;) {
      const next = chunks.next();
      const failed = landing.then(() => next);
      const step = await Promise.race([next, failed]);
      if (step.done) break;
      const chunk: Chunk = step.value;
      const transformed = await transform(chunk.records);
      await landing;
      landing = decideAndLand(chunk, transformed, signal);
    }
    await landing;
  };

  return {
    async run(signal) {
      const own = new AbortController();
      const either = AbortSignal.any([signal, own.signal]);
      try {
        await resume(either);
        await follow(either);
      } catch (error) {
        if (!signal.aborted) throw error;
      } finally {
        own.abort();
      }
    },
    async state() {
      const { earliest, next } = await log.bounds(topic, partition);
      const from = Math.max(landedNext, earliest);
      metrics.lagIs(next, from);
      return { name, lag: Math.max(0, next - from), trouble };
    },
    forget: metrics.forget,
  };
}
