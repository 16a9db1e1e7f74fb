import { setInterval } from 'node:timers/promises';
import type {
  GroupOwnership,
  Log,
  LogRecord,
  NewRecord,
  RecordBatch,
  TopicPartitionOffset,
} from '../../infra/log/port.js';
import type { Logger } from '../../infra/telemetry/logger.js';
import type { Metrics } from '../../infra/telemetry/metrics.js';
import type { Codec } from '../../schemas/codec.js';
import { consumerGroups } from '../../schemas/consumer-groups.js';
import { topics } from '../../schemas/topics.js';
import { createTaskLag } from '../assignment/task-lag.js';
import { deadLetterRecord } from '../dead-letter.js';
import { runConcurrently } from '../run-concurrently.js';
import { type CatalogModel, createCatalogModel } from './catalog-model.js';
import { createDraftBuilder } from './draft-builder.js';
import { followTopic, loadTopic } from './follow-topic.js';
import type { Enrichment } from './frames/frame.js';
import { createInputQueue, type Input } from './input-queue.js';
import { createMetadataCounts } from './metadata-counts.js';
import { createNewestEvents } from './newest-events.js';
import { createResolutionFollower } from './resolution-follower.js';
import { createResolutions } from './resolutions.js';
import { createRestore } from './restore.js';
import type { Sequencer } from './sequencer.js';
import { readStreamEpoch, STREAM_STATUS_KEY } from './stream-epoch.js';

export interface StreamProcessorOptions {
  readonly log: Log;
  readonly codec: Codec;
  readonly logger: Logger;
  readonly metrics: Metrics;
  readonly now?: () => number;
  readonly maxBatchRecords?: number;
}

export interface StreamState {
  readonly loaded: boolean;
  /** Input records that are not yet in the stream. */
  readonly lag: number;
}

export interface StreamProcessor {
  run(signal: AbortSignal): Promise<void>;
  state(): Promise<StreamState>;
}

const GROUP = consumerGroups.stream;
const HEAD = topics.chainHead.name;
const TICKS = topics.oracleTicks.name;
const STREAM = topics.streamEvents.name;
/** The record of topic `sources` is replaced this often, with the events of a step or without. A reader takes a stream without a report for four times as long as stale. */
const STATUS_INTERVAL_MS = 2_000;
/** A clock that was set back makes a report due, too. */
const isStatusDue = (nowMs: number, writtenMs: number): boolean => Math.abs(nowMs - writtenMs) >= STATUS_INTERVAL_MS;
const STATUS_CHECK_MS = 500;
const RETENTION_MS = topics.streamEvents.retentionMs;
/** A new stream starts with ticks of this age. Equals the longest `since` of any plan, so older ticks could not be requested. */
const INITIAL_TICKS_MS = 5 * 60_000;
const DEFAULT_BATCH_RECORDS = 500;
/** Input records without output after which their position is committed anyway. */
const MAX_UNCOMMITTED_RECORDS = 20_000;

/**
 * Processes chain.head and oracle.ticks, enriched from the catalog, into stream.events. Outputs and input positions are committed in one
 * transaction, so every event is in the stream once and `seq` is contiguous; after a restart it resumes from the last record of the stream.
 * Ownership of the group is acquired before that record is read, so a previous owner that is still alive cannot append. Enrichment uses the
 * current state without waiting, except that the catalog is read to its end before the first event.
 */
export function createStreamProcessor(options: StreamProcessorOptions): StreamProcessor {
  const { log, codec, logger } = options;
  const now = options.now ?? Date.now;
  const names = ['kind'];
  const sent = options.metrics.counter('stream_events_total', 'Events appended to the stream', names);
  const dropped = options.metrics.counter('stream_dropped_total', 'Input records without an event', ['reason']);
  const letters = options.metrics.counter(
    'stream_dead_letters_total',
    'Input records that could not be converted to stream events',
  );
  const taskLag = createTaskLag(
    options.metrics.gauge('stream_lag_records', 'Input records not in the stream yet', ['topic', 'partition']),
  );
  const catalog: CatalogModel = createCatalogModel();
  const resolutions = createResolutions();
  const known: Enrichment = {
    marketOfToken: catalog.marketOfToken,
    marketOfCondition: catalog.marketOfCondition,
    marketOfQuestion: catalog.marketOfQuestion,
    negRiskGroup: catalog.negRiskGroup,
    payouts: resolutions.payouts,
  };
  const drafting = createDraftBuilder(known);
  const restore = createRestore({ ...options, resolutions, drafting });
  const positions = new Map<string, TopicPartitionOffset>();
  const metadata = createMetadataCounts();
  let statusWrittenMs = Number.NEGATIVE_INFINITY;
  const newest = createNewestEvents();
  let epoch: string | null = null;
  let loaded = false;
  let uncommitted = 0;
  /** A step has advanced `positions` and its outputs are not committed yet: nothing else may commit positions, or its inputs would be skipped if it fails. */
  let stepOpen = false;
  /** Unix ms; older ticks precede the start of the stream and are dropped. */
  let firstTickMs = 0;

  const applyCatalog = (record: LogRecord) => {
    if (record.value === null) return;
    try {
      catalog.apply(codec.decode(record.value));
    } catch (error) {
      // The sink of the catalogue writes the dead letter; the cached market remains unchanged here.
      logger.warn({ err: error, offset: record.offset }, 'unreadable catalogue record');
    }
  };

  const deadLetter = (batch: RecordBatch, record: LogRecord, error: unknown): NewRecord => {
    const { topic, partition } = batch;
    const reason = error instanceof Error ? error.message : String(error);
    logger.warn({ topic, partition, offset: record.offset, reason }, 'input record moved to the dead letters');
    letters.inc();
    return deadLetterRecord({ codec, by: 'stream', topic, partition, record, reason });
  };

  /** Adds the stream records of one input record to `events`; also those with an assigned seq before a later one fails. */
  const addEvents = (value: Buffer, sequencer: Sequencer, events: NewRecord[]): void => {
    const event = codec.decode(value);
    if (event.kind === 'condition_resolved') resolutions.applyHead(event.value);
    if (event.kind === 'retract') resolutions.retract(event.value);
    for (const draft of drafting.drafts(event)) {
      const record = sequencer.assignSeq(draft, event.kind === 'retract' ? event.value.block_hashes : []);
      if (record === null) dropped.inc({ reason: 'duplicate' });
      else {
        sent.inc({ kind: draft.kind });
        metadata.count(draft);
        events.push(record);
        newest.add(draft.kind, draft.timestampMs, draft.blockNumber ?? null);
      }
    }
  };

  const statusRecord = (sequencer: Sequencer, nowMs: number): NewRecord => ({
    key: STREAM_STATUS_KEY,
    value: codec.encode('stream_status', {
      ...metadata.status(),
      ...newest.status(),
      last_seq: sequencer.nextSeq - 1,
      epoch,
      updated_at_ms: nowMs,
    }),
    timestampMs: nowMs,
  });

  const step = async (
    ownership: GroupOwnership,
    batches: readonly RecordBatch[],
    sequencer: Sequencer,
  ): Promise<void> => {
    const events: NewRecord[] = [];
    const dead: NewRecord[] = [];
    // At most that of a stream that is new now: else, after the clock is set back, all ticks would count as old.
    const oldestTick = Math.max(Math.min(firstTickMs, now() - INITIAL_TICKS_MS), now() - RETENTION_MS);
    let passed = 0;
    stepOpen = true;
    for (const batch of batches) {
      for (const record of batch.records) {
        if (record.value === null) continue;
        if (batch.topic === TICKS && record.timestampMs < oldestTick) {
          dropped.inc({ reason: 'old' });
          continue;
        }
        try {
          addEvents(record.value, sequencer, events);
        } catch (error) {
          dead.push(deadLetter(batch, record, error));
        }
      }
      const key = `${batch.topic}/${batch.partition}`;
      passed += batch.nextOffset - (positions.get(key)?.nextOffset ?? 0);
      positions.set(key, { topic: batch.topic, partition: batch.partition, nextOffset: batch.nextOffset });
    }
    uncommitted += passed;
    if (events.length === 0 && dead.length === 0 && uncommitted < MAX_UNCOMMITTED_RECORDS) {
      stepOpen = false;
      return;
    }
    const nowMs = now();
    const statusDue = isStatusDue(nowMs, statusWrittenMs);
    await ownership.appendAndCommit({
      outputs: [
        ...(events.length > 0 ? [{ topic: STREAM, records: events }] : []),
        ...(dead.length > 0 ? [{ topic: topics.deadLetters.name, records: dead }] : []),
        ...(statusDue ? [{ topic: topics.sources.name, records: [statusRecord(sequencer, nowMs)] }] : []),
      ],
      offsets: [...positions.values()],
    });
    stepOpen = false;
    if (statusDue) statusWrittenMs = nowMs;
    uncommitted = 0;
  };

  /** Reports on the stream while no events do; a step that is being committed reports itself if a report is due. */
  const reportStatus = async (ownership: GroupOwnership, sequencer: Sequencer, signal: AbortSignal): Promise<void> => {
    const startedMs = now();
    for await (const _ of setInterval(STATUS_CHECK_MS, undefined, { signal })) {
      const nowMs = now();
      if (stepOpen || !isStatusDue(nowMs, Number.isFinite(statusWrittenMs) ? statusWrittenMs : startedMs)) continue;
      statusWrittenMs = nowMs;
      const outputs = [{ topic: topics.sources.name, records: [statusRecord(sequencer, nowMs)] }];
      await ownership.appendAndCommit({ outputs, offsets: [...positions.values()] });
    }
  };

  const inputs = async (): Promise<readonly Input[]> => {
    const committed = [...(await log.committed(GROUP, HEAD)), ...(await log.committed(GROUP, TICKS))];
    // A new stream does not start with the history that ingest may still be loading.
    if (committed.length === 0) firstTickMs = now() - INITIAL_TICKS_MS;
    for (const position of committed) positions.set(`${position.topic}/${position.partition}`, position);
    const all: { topic: string; partition: number }[] = [{ topic: HEAD, partition: 0 }];
    const tickPartitions = await log.partitions(TICKS);
    for (let partition = 0; partition < tickPartitions; partition++) all.push({ topic: TICKS, partition });
    return Promise.all(
      all.map(async ({ topic, partition }) => {
        const key = `${topic}/${partition}`;
        const offset =
          positions.get(key)?.nextOffset ??
          (topic === HEAD
            ? (await log.bounds(topic, partition)).earliest
            : await log.offsetForTimestamp(topic, partition, now() - INITIAL_TICKS_MS));
        positions.set(key, { topic, partition, nextOffset: offset });
        return { topic, partition, from: { offset } };
      }),
    );
  };

  /** Leaves a hole in `seq` if records of the head were deleted before they were read: the events of their blocks are never sent. */
  const reportDeletedHead = async (sequencer: Sequencer): Promise<void> => {
    const from = positions.get(`${HEAD}/0`)?.nextOffset ?? 0;
    const { earliest, next } = await log.bounds(HEAD, 0);
    // An empty partition has lost no records: on Kafka its bounds may start above 0 after aborted transactions.
    if (from >= earliest || earliest === next) return;
    sequencer.skip();
    logger.error(
      { topic: HEAD, from, earliest },
      'the stream lacks events: their records were deleted before they were read',
    );
  };

  const run = async (signal: AbortSignal): Promise<void> => {
    const ownership = await log.acquireOwnership(GROUP);
    const follower = createResolutionFollower({ log, codec, resolutions, definitions: drafting.definitions });
    const catalogNext = await loadTopic(log, topics.catalog.name, applyCatalog, signal);
    const resolutionsOwnership = await follower.load(signal);
    const { isNew, lastSeq, ...lifetime } = await readStreamEpoch({ log, codec, signal });
    const sequencer = await restore.sequencer(lastSeq, newest, signal);
    const sources = await inputs();
    await reportDeletedHead(sequencer);
    await restore.inputs([...positions.values()], signal);
    if (signal.aborted) return;
    epoch = lifetime.epoch;
    if (isNew) {
      const outputs = [{ topic: topics.sources.name, records: [statusRecord(sequencer, now())] }];
      await ownership.appendAndCommit({ outputs, offsets: [...positions.values()] });
    }
    logger.info({ epoch, markets: catalog.size, nextSeq: sequencer.nextSeq }, 'stream processor starts');
    loaded = true;
    await runConcurrently(signal, (partitionLag) => {
      const maxRecords = options.maxBatchRecords ?? DEFAULT_BATCH_RECORDS;
      const queue = createInputQueue({ log, maxRecords, signal: partitionLag });
      const writeAll = async () => {
        while (!partitionLag.aborted) await step(ownership, await queue.take(), sequencer);
      };
      return [
        followTopic(log, topics.catalog.name, catalogNext, applyCatalog, partitionLag),
        follower.follow(resolutionsOwnership, partitionLag),
        ...sources.map((source) => queue.feed(source)),
        writeAll(),
        reportStatus(ownership, sequencer, partitionLag),
      ];
    });
  };

  return {
    run: (signal) => taskLag.during(() => run(signal)),
    async state() {
      let lag = 0;
      for (const { topic, partition, nextOffset } of positions.values()) {
        const partitionLag = Math.max(0, (await log.bounds(topic, partition)).next - nextOffset);
        taskLag.set({ topic, partition: String(partition) }, partitionLag);
        lag += partitionLag;
      }
      return { loaded, lag };
    },
  };
}
