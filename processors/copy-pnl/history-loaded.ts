import { setTimeout as sleep } from 'node:timers/promises';
import type { ClickHouse } from '../../infra/clickhouse/client.js';
import { RetryableError } from '../../infra/errors.js';
import { partitionsOf } from '../../infra/log/partitions.js';
import type { Log, LogRecord } from '../../infra/log/port.js';
import type { Logger } from '../../infra/telemetry/logger.js';
import type { OnUnreadable } from '../../infra/telemetry/unreadable-records.js';
import type { Codec } from '../../schemas/codec.js';
import { consumerGroups } from '../../schemas/consumer-groups.js';
import { topics } from '../../schemas/topics.js';
import { tryDecode } from '../../schemas/try-decode.js';

const POLL_MS = 500;

const positionsSql = `SELECT partition, toString(max(next_offset)) AS next FROM sink_progress
  WHERE sink = 'wallet_activity' GROUP BY partition`;

/**
 * Resolves with true once `wallet_activity` contains all history that the chain source announces from now on: the source has reached the end of the history,
 * the activity processor has read chain.final up to there, and the sinks have written what it derived. Works from log and tables alone, since
 * these tasks may run in other processes. Resolves with false when the signal aborts.
 */
export async function untilHistoryLoaded(options: {
  log: Pick<Log, 'partitions' | 'read' | 'bounds' | 'lastRecord' | 'committed'>;
  codec: Codec;
  clickhouse: Pick<ClickHouse, 'query'>;
  onUnreadable: OnUnreadable;
  logger: Logger;
  signal: AbortSignal;
  pollMs?: number;
}): Promise<boolean> {
  const { log, codec, clickhouse, signal, pollMs = POLL_MS } = options;
  const endOf = async (topic: string, partition: number) =>
    ((await log.lastRecord(topic, partition))?.offset ?? -1) + 1;

  let announced = false;
  /** Next record of `sources` to read, initially the end: a status of an earlier run of ingest says nothing of the history since. null before the first read. */
  let nextStatus: number | null = null;
  const applyStatus = ({ key, offset, value }: LogRecord): void => {
    if (key !== 'chain' || value === null) return;
    const topic = topics.sources.name;
    const event = tryDecode(codec, value, (reason) => options.onUnreadable({ topic, offset }, reason));
    if (event?.kind !== 'source_status' || event.value.phase === 'stopped') return;
    announced = event.value.phase === 'live' || event.value.progress === 1;
  };
  const isHistoryAnnounced = async (): Promise<boolean> => {
    const topic = topics.sources.name;
    nextStatus ??= (await log.bounds(topic, 0)).next;
    for await (const batch of log.read({ topic, partition: 0, from: { offset: nextStatus }, follow: false, signal })) {
      batch.records.forEach(applyStatus);
      nextStatus = batch.nextOffset;
    }
    return announced;
  };

  /** End of chain.final when the history was found complete; null before. */
  let historyEnd: number | null = null;
  /** Ends of wallet.activity when the activity processor was found past `historyEnd`; null before. */
  let activityEnds: readonly number[] | null = null;

  const isLoaded = async (): Promise<boolean> => {
    if (historyEnd === null) {
      if (!(await isHistoryAnnounced())) return false;
      historyEnd = await endOf(topics.chainFinal.name, 0);
    }
    if (activityEnds === null) {
      const [read] = await log.committed(consumerGroups.activity, topics.chainFinal.name);
      if ((read?.nextOffset ?? 0) < historyEnd) return false;
      const partitions = await partitionsOf(log, topics.walletActivity);
      activityEnds = await Promise.all(partitions.map((partition) => endOf(topics.walletActivity.name, partition)));
    }
    const rows = await clickhouse.query<{ partition: number; next: string }>(positionsSql);
    const written = new Map(rows.map(({ partition, next }) => [partition, Number(next)]));
    return activityEnds.every((end, partition) => (written.get(partition) ?? 0) >= end);
  };

  while (!signal.aborted) {
    try {
      if (await isLoaded()) return true;
    } catch (error) {
      if (signal.aborted) break;
      if (!(error instanceof RetryableError)) throw error;
      options.logger.warn({ err: error }, 'cannot check whether the history is loaded, trying again');
    }
    await sleep(pollMs, undefined, { signal }).catch(() => undefined);
  }
  return false;
}
