import { RetryableError } from '../../errors.js';
import type { Logger } from '../../telemetry/logger.js';
import { LogArgumentError } from '../errors.js';
import type { LogHealth } from '../health.js';
import type { AtomicStep, Log, TopicPartitionOffset } from '../port.js';
import { createCommitNotifier } from './commit-notifier.js';
import { acquireOwnership, fencedError } from './group-ownership.js';
import { committedOffsetKey } from './keys.js';
import { createMaintenance } from './maintenance.js';
import { createReader } from './reader.js';
import { openStore } from './store.js';
import { createTopicTable } from './topics.js';
import { checkGroup, checkOffset } from './write-plan.js';
import { createWriter } from './writer.js';

export interface LmdbLogOptions {
  /** Directory of the log. Created when missing; all processes of one log name the same one, on a local file system. */
  readonly dir: string;
  readonly logger: Logger;
  /**
   * How often this process tries to run retention and compaction; one process at a time runs them. Default 60 s. `null`: never, for
   * processes whose latency matters.
   */
  readonly maintenanceIntervalMs?: number | null;
  /** How long compaction keeps a tombstone after first seeing it, so that lagging readers can still read it. Default 24 h. */
  readonly tombstoneGraceMs?: number;
  /**
   * How long an append waits for space on the disk (or for the disk to work again) before it throws LogUnavailableError. Later appends
   * wait in order. Default 30 s.
   */
  readonly unavailableAfterMs?: number;
  /** Receives the success or failure of each write attempt. */
  readonly health?: LogHealth;
  /** Unix ms; for tests. */
  readonly now?: () => number;
}

const UNAVAILABLE_AFTER_MS = 30_000;
const DAY_MS = 24 * 60 * 60_000;

/**
 * The LMDB engine: one directory, any number of processes that append and read at once. See store.ts for the
 * durability of appends, commit-notifier.ts for the wake-up of readers, chunk.ts for the layout.
 *
 * Beyond the port: a `read` ends (without an error) when its signal aborts or the log is closed; a batch also ends at 4 MB;
 * appends of one event-loop iteration share one disk sync.
 */
export function createLmdbLog(options: LmdbLogOptions): Log {
  const { dir, logger, now = Date.now } = options;
  const store = openStore(dir);
  const topics = createTopicTable({ store, logger });
  const commitNotifier = createCommitNotifier({ dir, logger, snapshot: store.read });
  const writer = createWriter({
    store,
    topics,
    logger,
    onCommitted: commitNotifier.notify,
    health: options.health,
    unavailableAfterMs: options.unavailableAfterMs ?? UNAVAILABLE_AFTER_MS,
  });
  const reader = createReader({ store, topics, commitNotifier });
  const maintenance = createMaintenance({
    store,
    topics,
    logger,
    now,
    intervalMs: options.maintenanceIntervalMs === undefined ? 60_000 : options.maintenanceIntervalMs,
    tombstoneGraceMs: options.tombstoneGraceMs ?? DAY_MS,
  });

  return {
    ensureTopics: async (specs) => topics.ensure(specs),
    partitions: async (topic) => {
      topics.reload();
      return topics.get(topic).partitions;
    },
    append: async (topic, records) => {
      const [ranges] = await writer.submit({ outputs: [{ topic, records }], commit: null });
      return ranges ?? [];
    },
    appendAndCommit: async ({ outputs, group, offsets }) => {
      checkGroup(group);
      await writer.submit({ outputs, commit: { group, offsets } });
    },
    acquireOwnership: async (group) => {
      const fencingToken = acquireOwnership(store, checkGroup(group));
      let ended = false;
      let last: Promise<unknown> = Promise.resolve();
      const run = async ({ outputs, offsets }: Omit<AtomicStep, 'group'>): Promise<void> => {
        if (ended) throw fencedError(group);
        try {
          await writer.submit({ outputs, commit: { group, offsets }, fencingToken });
        } catch (error) {
          ended = error instanceof RetryableError;
          throw error;
        }
      };
      return {
        appendAndCommit(step) {
          const queued = last.then(() => run(step));
          last = queued.catch(() => undefined);
          return queued;
        },
      };
    },
    read: (read) => reader.read(read),
    bounds: async (topic, partition) => reader.bounds(topic, partition),
    offsetForTimestamp: async (topic, partition, timestampMs) =>
      reader.offsetForTimestamp(topic, partition, timestampMs),
    lastRecord: async (topic, partition) => reader.lastRecord(topic, partition),
    commit: async (group, offsets) => {
      checkGroup(group);
      await writer.submit({ outputs: [], commit: { group, offsets } });
    },
    committed: async (group, topic) => {
      const { id } = topics.get(checkGroup(group) && topic);
      const prefix = committedOffsetKey(group, id);
      return store.read(() => {
        const found: TopicPartitionOffset[] = [];
        const end = Buffer.concat([prefix, Buffer.from([0xff, 0xff])]);
        for (const { key, value } of store.meta.getRange({ start: prefix, end })) {
          const partition = Buffer.from(key).readUInt16BE(prefix.length);
          found.push({ topic, partition, nextOffset: value.readDoubleLE(0) });
        }
        return found;
      });
    },
    deleteBefore: async (topic, partition, offset) => {
      const found = topics.partition(topic, partition);
      if (found.compacted)
        throw new LogArgumentError(`Topic "${topic}" is compacted: its records cannot be deleted by offset`);
      checkOffset({ topic, partition, nextOffset: offset });
      const { earliest, next } = reader.bounds(topic, partition);
      if (offset > earliest) await maintenance.deleteBefore(found, partition, Math.min(offset, next));
    },
    maintain: (nowMs) => maintenance.run(nowMs),
    close: async () => {
      writer.close();
      reader.close();
      await maintenance.close();
      commitNotifier.close();
      await store.close();
    },
  };
}
