import { setTimeout as sleep } from 'node:timers/promises';
import { schemaIdOf } from '../../schemas/codec.js';
import { isTransient } from '../errors.js';
import type { Log, LogRecord } from '../log/port.js';
import type { Logger } from '../telemetry/logger.js';
import type { Metrics } from '../telemetry/metrics.js';
import type { SchemaIdResolver } from './schema-id-resolver.js';

const INITIAL_DELAY_MS = 200;
const MAX_DELAY_MS = 15_000;

/** The unresolved schema ids of these records; null when there are none. */
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
  /** Receives the number of readers that wait and the error of the last attempt. */
  onWaiting?: (readers: number, why: string | null) => void;
}): Log {
  const { log, ids, logger } = deps;
  let waiting = 0;
  const waiters = deps.metrics?.gauge(
    'schema_id_waiting_readers',
    'Readers that wait until the schema registry has resolved a new schema id',
  );

  const resolve = async (id: number, signal: AbortSignal | undefined): Promise<void> => {
    for (let delayMs = INITIAL_DELAY_MS; ; delayMs = Math.min(delayMs * 2, MAX_DELAY_MS)) {
      signal?.throwIfAborted();
      try {
        return await ids.resolve(id);
      } catch (error) {
        if (!isTransient(error)) throw error;
        signal?.throwIfAborted();
        const why = error instanceof Error ? error.message : String(error);
        deps.onWaiting?.(waiting, why);
        logger.warn({ id, delayMs, why }, 'records wait for the schema registry');
        await sleep(delayMs, undefined, { signal });
      }
    }
  };
  const resolveAll = async (unknown: ReadonlySet<number>, readSignal: AbortSignal | undefined): Promise<void> => {
    const signals = [deps.signal, readSignal].filter((signal) => signal !== undefined);
    const signal = signals.length === 0 ? undefined : AbortSignal.any(signals);
    waiters?.inc();
    waiting++;
    try {
      for (const id of unknown) await resolve(id, signal);
    } finally {
      waiters?.dec();
      waiting--;
      deps.onWaiting?.(waiting, null);
    }
  };

  return {
    async *read(options) {
      for await (const batch of log.read(options)) {
        const unknown = findUnknownIds(ids, batch.records);
        if (unknown !== null) {
          try {
            await resolveAll(unknown, options.signal);
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
      if (unknown !== null) await resolveAll(unknown, undefined);
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
    deleteBefore: (topic, partition, offset) => log.deleteBefore(topic, partition, offset),
    maintain: (nowMs) => log.maintain(nowMs),
    close: () => log.close(),
  };
}
