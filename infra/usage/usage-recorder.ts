import { randomUUID } from 'node:crypto';
import type { Codec } from '../../schemas/codec.js';
import { topics } from '../../schemas/topics.js';
import type { Meter } from '../../schemas/types.gen.js';
import type { Log, NewRecord } from '../log/port.js';
import type { Logger } from '../telemetry/logger.js';
import type { Metrics } from '../telemetry/metrics.js';

const HOUR_MS = 3_600_000;
/** A killed process loses the usage since the last tick. Callers may aggregate for half a second, so less than a second in total. */
const TICK_MS = 250;
const CLOSE_TIMEOUT_MS = 3_000;
const CLOSE_RETRY_MS = 100;

export interface UsageRecorder {
  /** Count `quantity` (requests or bytes, a non-negative integer) for a key of the account. Never waits, never throws. */
  add(by: UsedBy, meter: Meter, quantity: number): void;
  /** Append changed totals. Resolves true when all usage counted before the call is durable. Never rejects. */
  flush(): Promise<boolean>;
  /** Stop the timer and append changed totals; totals that are not durable after 3 s are dropped, counted and logged. */
  close(): Promise<void>;
}

export interface UsedBy {
  readonly accountId: string;
  /** SHA-256 hex of the key. */
  readonly keyHash: string;
}

/** Characters of a key's hash that identify it in usage records. */
const KEY_ID_LENGTH = 16;
/** Key of usage records. */
export const keyIdOf = (keyHash: string): string => keyHash.slice(0, KEY_ID_LENGTH);

interface UsageTotal extends UsedBy {
  readonly meter: Meter;
  readonly hourMs: number;
  /** How often the clock had been set back to an earlier hour. */
  readonly setBacks: number;
  quantity: number;
  /** Whether the quantity has changed since the last acknowledged append. */
  dirty: boolean;
}

/**
 * Counts usage in memory and appends running totals to the usage topic four times a second: one record per process, UTC hour, key and meter, whose
 * id is the same each time and whose quantity only grows. So an append may be repeated, late, or skipped while the log is unavailable: the
 * usage is the greatest quantity of each id, and no usage is lost while the process runs.
 */
export function createUsageRecorder(deps: {
  log: Pick<Log, 'append'>;
  codec: Pick<Codec, 'encode'>;
  logger: Logger;
  metrics: Metrics;
  nowMs?: () => number;
  /** Unique per process start. */
  processId?: string;
  /** 0: no timer; call `flush`. */
  tickMs?: number;
}): UsageRecorder {
  const { log, codec, logger } = deps;
  const nowMs = deps.nowMs ?? Date.now;
  const processId = deps.processId ?? randomUUID();
  const tickMs = deps.tickMs ?? TICK_MS;
  const pending = deps.metrics.gauge('usage_records_pending', 'Usage totals that are not in the log yet');
  const appended = deps.metrics.counter('usage_records_total', 'Usage totals appended to the log');
  const failed = deps.metrics.counter(
    'usage_append_failures_total',
    'Appends of usage totals that failed and are retried',
  );
  const lost = deps.metrics.counter(
    'usage_records_dropped_total',
    'Usage totals dropped at shutdown because the log was unavailable',
  );

  const hourOf = (timeMs: number) => timeMs - (timeMs % HOUR_MS);
  let hourMs = hourOf(nowMs());
  let setBacks = 0;
  let current = new Map<Meter, Map<string, UsageTotal>>();
  const unrecorded = new Set<UsageTotal>();
  let running: Promise<boolean> = Promise.resolve(true);
  let failing = false;

  const startNewHour = () => {
    const hour = hourOf(nowMs());
    // Also in the hour before: the clock was adjusted a little.
    if (hour === hourMs || hour === hourMs - HOUR_MS) return;
    // The hour may have been counted before: its totals start at 0 again, so they need ids of their own.
    if (hour < hourMs) setBacks += 1;
    hourMs = hour;
    current = new Map();
  };

  const toRecord = (total: UsageTotal, countedMs: number): NewRecord => {
    const keyId = keyIdOf(total.keyHash);
    const counter = total.setBacks === 0 ? processId : `${processId}.${total.setBacks}`;
    const id = `${counter}-${total.hourMs / HOUR_MS}-${total.accountId}-${total.meter}-${keyId}`;
    const value = codec.encode('usage', {
      id,
      process_id: processId,
      account_id: total.accountId,
      meter: total.meter,
      quantity: total.quantity,
      interval_start_ms: total.hourMs,
      interval_end_ms: Math.min(countedMs, total.hourMs + HOUR_MS),
      key_id: keyId,
    });
    return { key: id, value, timestampMs: countedMs };
  };

  const append = async (): Promise<boolean> => {
    startNewHour();
    const batch = [...unrecorded];
    if (batch.length === 0) return true;
    const now = nowMs();
    const sent = batch.map((total) => total.quantity);
    try {
      await log.append(
        topics.usage.name,
        batch.map((total) => toRecord(total, now)),
      );
    } catch (error) {
      failed.inc();
      if (!failing)
        logger.warn(
          { err: error, totals: batch.length },
          'usage cannot be recorded; the totals stay in memory and are retried',
        );
      failing = true;
      pending.set(unrecorded.size);
      return false;
    }
    if (failing) logger.info({ totals: batch.length }, 'usage is recorded again');
    failing = false;
    batch.forEach((total, at) => {
      if (total.quantity !== sent[at]) return;
      total.dirty = false;
      unrecorded.delete(total);
    });
    appended.inc(batch.length);
    pending.set(unrecorded.size);
    return true;
  };

  const flush = (): Promise<boolean> => {
    running = running.then(append);
    return running;
  };

  let timer: NodeJS.Timeout | undefined;
  let closed = false;
  let waiting = false;
  /** Runs at multiples of the tick of the wall clock, so that an hour ends with a tick. */
  const schedule = () => {
    if (closed || tickMs === 0) return;
    timer = setTimeout(
      () => {
        startNewHour();
        schedule();
        if (waiting) return;
        waiting = true;
        void flush().then(() => {
          waiting = false;
        });
      },
      tickMs - (nowMs() % tickMs),
    );
    timer.unref();
  };
  schedule();

  return {
    add({ accountId, keyHash }, meter, quantity) {
      if (quantity <= 0) return;
      let totals = current.get(meter);
      if (totals === undefined) {
        totals = new Map();
        current.set(meter, totals);
      }
      let total = totals.get(keyHash);
      if (total === undefined) {
        total = { accountId, keyHash, meter, hourMs, setBacks, quantity: 0, dirty: false };
        totals.set(keyHash, total);
      }
      total.quantity += quantity;
      if (total.dirty) return;
      total.dirty = true;
      unrecorded.add(total);
    },
    flush,
    async close() {
      closed = true;
      clearTimeout(timer);
      let timedOut = false;
      let closeTimer: NodeJS.Timeout | undefined;
      const timeout = new Promise<boolean>((resolve) => {
        closeTimer = setTimeout(() => {
          timedOut = true;
          resolve(false);
        }, CLOSE_TIMEOUT_MS);
      });
      while (!(await Promise.race([flush(), timeout])) && !timedOut) {
        await new Promise((resolve) => setTimeout(resolve, CLOSE_RETRY_MS));
      }
      clearTimeout(closeTimer);
      if (unrecorded.size === 0) return;
      lost.inc(unrecorded.size);
      const totals = [...unrecorded]
        .slice(0, 100)
        .map(({ accountId, meter, quantity }) => ({ accountId, meter, quantity }));
      logger.error({ totals, count: unrecorded.size }, 'usage totals dropped at shutdown: the log was unavailable');
    },
  };
}
