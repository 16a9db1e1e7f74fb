import { setTimeout as sleep } from 'node:timers/promises';
import type { Logger } from '../../telemetry/logger.js';
import { compactPartition } from './compaction.js';
import { partitionKey } from './keys.js';
import { createMaintenanceLease, LeaseLostError } from './maintenance-lease.js';
import { decodeState } from './partition-state.js';
import { deletePrefix, expiredEnd } from './retention.js';
import type { Store } from './store.js';
import type { Topic, TopicTable } from './topics.js';

export interface Maintenance {
  /** Apply retention and compaction to all topics now, after a concurrent run of another process ends. */
  run(nowMs: number): Promise<void>;
  /** Delete the records below the offset, after a concurrent run of any process ends. Throws LeaseLostError if the deletion was interrupted; it may be repeated. */
  deleteBefore(topic: Topic, partition: number, offset: number): Promise<void>;
  close(): Promise<void>;
}

/** Compaction starts when the dirty section is at least this share of the clean section and has at least the minimum of records ... */
const MIN_DIRTY_RATIO = 0.5;
const MIN_DIRTY_RECORDS = 1000;
/** ... or this long after the last pass. */
const MAX_DIRTY_AGE_MS = 6 * 60 * 60_000;
/** Pause between two maintenance transactions, for the other writers. */
const THROTTLE_MS = 2;
const LEASE_POLL_MS = 50;

/** Retention and compaction in small transactions; a lease lets one process at a time do it. */
export function createMaintenance(deps: {
  store: Store;
  topics: TopicTable;
  logger: Logger;
  now: () => number;
  intervalMs: number | null;
  tombstoneGraceMs: number;
}): Maintenance {
  const { store, topics, logger, now, intervalMs, tombstoneGraceMs } = deps;
  const lease = createMaintenanceLease({ store, now: Date.now });
  const closing = new AbortController();
  let running: Promise<void> = Promise.resolve();
  let timer: NodeJS.Timeout | null = null;

  const throttle = async () => {
    await sleep(THROTTLE_MS);
    if (closing.signal.aborted) throw new LeaseLostError('The log is being closed');
  };

  const wantsCompaction = (topic: Topic, partition: number, nowMs: number, all: boolean): boolean => {
    if (!topic.compacted) return false;
    const stored = store.read(() => store.meta.get(partitionKey(topic.id, partition)));
    if (stored === undefined) return false;
    const state = decodeState(stored);
    const dirty = state.next - state.cleanedTo;
    if (nowMs >= state.tombstoneHorizonMs) return true;
    if (all || nowMs - state.cleanedAtMs >= MAX_DIRTY_AGE_MS) return dirty > 0;
    return dirty >= Math.max(MIN_DIRTY_RECORDS, state.cleanRecords * MIN_DIRTY_RATIO);
  };

  const maintainPartition = async (topic: Topic, partition: number, nowMs: number, all: boolean): Promise<void> => {
    if (topic.retentionMs !== null) {
      const retention = { store, renewLease: lease.renew, throttle };
      const end = await expiredEnd(retention, topic.id, partition, { nowMs, retentionMs: topic.retentionMs });
      await deletePrefix(retention, topic.id, partition, end);
    }
    let more = wantsCompaction(topic, partition, nowMs, all);
    while (more) {
      const compaction = { store, renewLease: lease.renew, throttle, nowMs, tombstoneGraceMs };
      more = (await compactPartition(compaction, topic.id, partition)) && wantsCompaction(topic, partition, nowMs, all);
      await throttle();
    }
  };

  const sweep = async (nowMs: number, all: boolean): Promise<void> => {
    try {
      store.clearStaleReaders();
      for (const topic of topics.all()) {
        for (let partition = 0; partition < topic.partitions; partition++) {
          await maintainPartition(topic, partition, nowMs, all);
        }
      }
      lease.release();
    } catch (error) {
      if (!(error instanceof LeaseLostError)) throw error;
      logger.info({ reason: error.message }, 'maintenance of the log stopped');
    }
  };

  const enqueue = (task: () => Promise<void>): Promise<void> => {
    const result = running.then(task);
    running = result.catch(() => undefined);
    return result;
  };

  if (intervalMs !== null) {
    timer = setInterval(() => {
      enqueue(async () => {
        if (lease.acquire()) await sweep(now(), false);
      }).catch((error: unknown) => logger.error({ err: error }, 'maintenance of the log failed'));
    }, intervalMs);
    timer.unref();
  }

  const untilAcquired = async (): Promise<void> => {
    while (!closing.signal.aborted && !lease.acquire()) await sleep(LEASE_POLL_MS);
  };

  return {
    run: (nowMs) =>
      enqueue(async () => {
        await untilAcquired();
        if (!closing.signal.aborted) await sweep(nowMs, true);
      }),
    deleteBefore: (topic, partition, offset) =>
      enqueue(async () => {
        await untilAcquired();
        const deps = { store, renewLease: lease.renew, throttle };
        await deletePrefix(deps, topic.id, partition, offset);
        lease.release();
      }),
    async close() {
      if (timer !== null) clearInterval(timer);
      closing.abort();
      await running;
    },
  };
}
