import { setTimeout as sleep } from 'node:timers/promises';
import { ClickHouseError } from '@clickhouse/client';
import { RetryableError } from '../../infra/errors.js';
import { partitionsOf } from '../../infra/log/partitions.js';
import type { Log } from '../../infra/log/port.js';
import type { Logger } from '../../infra/telemetry/logger.js';
import type { Metrics } from '../../infra/telemetry/metrics.js';
import type { RawTopic } from './raw-topics.js';

export interface HistoryTrimmer {
  /** Deletes what is too old now. The first call only notes positions. */
  trimOnce(): Promise<void>;
  /** Repeats `trimOnce` until the signal. */
  run(signal: AbortSignal): Promise<void>;
}

const DAY_MS = 86_400_000;
const EVERY_MS = 600_000;
/**
 * Records before the position of the slowest reader that are retained whatever their age: more than any reader reads again when it starts, and the end of
 * chain.final, from which ingest resumes.
 */
const MARGIN_RECORDS = 10_000;
/** Sources of raw topics that are silent for longer stop the deletion until they write again. */
const MAX_SILENCE_MS = 2 * DAY_MS;

/**
 * Deletes raw history that is older than `days` complete UTC days from the log and from the table `ticks`. A record is deleted only once every reader has passed
 * it by the margin, and did so at the previous call too, whatever its age: so history that is loaded at its true, old times reaches the tables first. The present is
 * at most two days after the newest record: a clock that runs ahead must not delete what cannot be read again.
 */
export function createHistoryTrimmer(options: {
  log: Pick<Log, 'partitions' | 'bounds' | 'lastRecord' | 'offsetForTimestamp' | 'deleteBefore'>;
  days: number;
  rawTopics: readonly RawTopic[];
  /** Deletes the rows whose records the log has deleted. */
  deleteTickRows: () => Promise<void>;
  logger: Logger;
  metrics: Metrics;
  nowMs?: () => number;
  everyMs?: number;
  marginRecords?: number;
}): HistoryTrimmer {
  const { log, days, rawTopics, deleteTickRows, logger, nowMs = Date.now, marginRecords = MARGIN_RECORDS } = options;
  const deleted = options.metrics.counter(
    'history_deleted_records_total',
    'Offsets deleted from the log because of RAW_HISTORY_DAYS',
    ['topic'],
  );
  const neededBefore = new Map<string, number>();

  const trimPartition = async ({ topic, neededFrom }: RawTopic, partition: number, cutoffMs: number): Promise<void> => {
    const key = `${topic.name}/${partition}`;
    const needed = await neededFrom(partition);
    const before = neededBefore.get(key) ?? 0;
    neededBefore.set(key, needed);
    const { earliest } = await log.bounds(topic.name, partition);
    const consumed = Math.min(before, needed) - marginRecords;
    if (consumed <= earliest) return;
    const offset = Math.min(consumed, await log.offsetForTimestamp(topic.name, partition, cutoffMs));
    if (offset <= earliest) return;
    await log.deleteBefore(topic.name, partition, offset);
    deleted.inc({ topic: topic.name }, offset - earliest);
    logger.info({ topic: topic.name, partition, from: earliest, to: offset }, 'raw history deleted from the log');
  };

  const trimOnce = async (): Promise<void> => {
    const partitions: (readonly [RawTopic, partition: number])[] = [];
    for (const rawTopic of rawTopics)
      for (const partition of await partitionsOf(log, rawTopic.topic)) partitions.push([rawTopic, partition]);
    let newestMs = 0;
    for (const [{ topic }, partition] of partitions)
      newestMs = Math.max(newestMs, (await log.lastRecord(topic.name, partition))?.timestampMs ?? 0);
    const cutoffMs = Math.floor(Math.min(nowMs(), newestMs + MAX_SILENCE_MS) / DAY_MS - days) * DAY_MS;
    for (const [rawTopic, partition] of partitions) await trimPartition(rawTopic, partition, cutoffMs);
    await deleteTickRows();
  };

  return {
    trimOnce,
    async run(signal) {
      while (!signal.aborted) {
        try {
          await trimOnce();
        } catch (error) {
          if (signal.aborted) return;
          if (!(error instanceof RetryableError || error instanceof ClickHouseError)) throw error;
          logger.warn({ err: error }, 'cannot delete raw history, trying again later');
        }
        await sleep(options.everyMs ?? EVERY_MS, undefined, { signal }).catch(() => undefined);
      }
    },
  };
}
