import { setTimeout as sleep } from 'node:timers/promises';
import { schemaIdOf } from '../../schemas/codec.js';
import { isTransient } from '../errors.js';
import type { Log, LogRecord } from '../log/port.js';
import type { Logger } from '../telemetry/logger.js';
import type { Metrics } from '../telemetry/metrics.js';
import type { SchemaIdResolver } from './schema-id-resolver.js';

const INITIAL_DELAY_MS = 200;
const MAX_DELAY_MS = 15_000;

/** The ids in these records that nothing is known about yet; null when there are none. */
function findUnknownIds(ids: SchemaIdResolver, records: readonly LogRecord[]): ReadonlySet<number> | null {
  let unknown: Set<number> | null = null;
  let last = -1;
  for (const { value } of records) {
    const id = value === null ? null : schemaIdOf(value);
    if (id === null || id === last) continue;
    last = id;
    if (!ids.isKnown(id)) {
      unknown ??= new Set();
      unknown.add(id);
    }
  }
  return unknown;
}

/**
 * Wraps a log so that every returned record can be decoded at once: a batch with an unknown schema id is buffered until the registry has
 * resolved the id. While the registry is unreachable, that batch waits, is logged and counted in `oddstream_schema_id_waiting_readers`;
 * other readers continue. Costs one check of each header and no promise per record.
 */
export function createSchemaResolvingLog(deps: {
  log: Log;
  ids: SchemaIdResolver;
  logger: Logger;
  metrics?: Metrics;
  signal?: AbortSignal;
  /** Hears how many readers are held, and why the last attempt failed. */
  onWaiting?: (readers: number, why: string | null) => void;
}): Log {
  const { log, ids, logger } = deps;
  let held = 0;
  const waiters = deps.metrics?.gauge(
    'schema_id_waiting_readers',
    'Readers held until the schema registry has said what a schema id met for the first time means',
  );

  const learn = async (id: number, signal: AbortSignal | undefined): Promise<void> => {
    for (let delayMs = INITIAL_DELAY_MS; ; delayMs = Math.min(delayMs * 2, MAX_DELAY_MS)) {
      signal?.throwIfAborted();
      try {
        return await ids.resolve(id);
      } catch (error) {
        if (!isTransient(error)) throw error;
        signal?.throwIfAborted();
        const why = error instanceof Error ? error.message : String(error);
        deps.onWaiting?.(held, why);
        logger.warn({ id, delayMs, why }, 'records wait for the schema registry');
        await sleep(delayMs, undefined, { signal });
      }
    }
  };
  const learnAll = async (unknown: ReadonlySet<number>, own: AbortSignal | undefined): Promise<void> => {
    const signals = [deps.signal, own].filter((signal) => signal !== undefined);
    const signal = signals.length === 0 ? undefined : AbortSignal.any(signals);
    waiters?.inc();
    held++;
    try {
      for (const id of unknown) await learn(id, signal);
    } finally {
      waiters?.dec();
      held--;
      deps.onWaiting?.(held, null);
    }
  };

  return {
    async *read(options) {
      for await (const batch of log.read(options)) {
        const unknown = findUnknownIds(ids, batch.records);
        if (unknown !== null) {
          try {
            await learnAll(unknown, options.signal);
          } catch (error) {
            if (options.signal?.aborted || deps.signal?.aborted) return;
            throw error;
          }
        }
        yield batch;
      }
    },
    async lastRecord(topic, partition) {
      const record = await log.lastRecord(topic, partition);
      const unknown = record === null ? null : findUnknownIds(ids, [record]);
      if (unknown !== null) await learnAll(unknown, undefined);
      return record;
    },
    ensureTopics: (specs) => log.ensureTopics(specs),
    partitions: (topic) => log.partitions(topic),
    append: (topic, records) => log.append(topic, records),
    appendAndCommit: (step) => log.appendAndCommit(step),
    acquireOwnership: (group) => log.acquireOwnership(group),
    bounds: (topic, partition) => log.bounds(topic, partition),
    offsetForTimestamp: (topic, partition, timestampMs) => log.offsetForTimestamp(topic, partition, timestampMs),
    commit: (group, positions) => log.commit(group, positions),
    committed: (group, topic) => log.committed(group, topic),
    maintain: (nowMs) => log.maintain(nowMs),
    close: () => log.close(),
  };
}
