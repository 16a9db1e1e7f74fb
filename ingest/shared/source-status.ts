import type { Log } from '../../infra/log/port.js';
import type { Logger } from '../../infra/telemetry/logger.js';
import type { Codec } from '../../schemas/codec.js';
import { topics } from '../../schemas/topics.js';
import type { SourceMode, SourceStatus } from '../../schemas/types.gen.js';

export type SourceState = Omit<SourceStatus, 'source' | 'mode' | 'updated_at_ms' | 'connected_changed_ms'>;

export interface SourceStatusWriter {
  /** Merges a change of state, which is written within MIN_INTERVAL_MS. */
  update(state: Partial<SourceState>): void;
  /** Merges values that change continuously: written with the next change or heartbeat. */
  updateDeferred(state: Partial<SourceState>): void;
  /** Writes the current state at once. Resolves when it is durable, or when it could not be written, which is logged. */
  flush(): Promise<void>;
  readonly current: SourceState;
  /** Writes phase `stopped` and ends the timer. */
  close(): Promise<void>;
  /** Ends the timer and writes nothing more, also at `close`: the source is another process's now. */
  abandon(): void;
}

const MIN_INTERVAL_MS = 500;
/** A reader takes a source without a report for four times as long as stale. */
const HEARTBEAT_MS = 2000;

/** Writes the status record of a source to topic `sources`: on change (at most every 500 ms) and every 2 s while running. */
export function createSourceStatus(deps: {
  log: Log;
  codec: Codec;
  logger: Logger;
  /** chain, oracle, catalog */
  source: string;
  mode: SourceMode;
  initial?: Partial<SourceState>;
  now?: () => number;
}): SourceStatusWriter {
  const now = deps.now ?? Date.now;
  let state: SourceState = {
    connected: false,
    detail: '',
    head: null,
    finalized: null,
    last_event_ms: null,
    shift_days: null,
    recorded_from_ms: null,
    phase: 'history',
    progress: null,
    pending: null,
    metadata: null,
    reread: null,
    gap: null,
    order_books: null,
    read_until_ms: null,
    rereading: null,
    ...deps.initial,
  };
  let connectedChangedMs = now();
  let timer: NodeJS.Timeout | null = null;
  let lastWriteMs = Number.NEGATIVE_INFINITY;
  let closed = false;
  let writing: Promise<void> = Promise.resolve();

  const write = () => {
    if (timer !== null) clearTimeout(timer);
    timer = null;
    lastWriteMs = now();
    writing = writing.then(async () => {
      const updatedAtMs = now();
      const value = deps.codec.encode('source_status', {
        source: deps.source,
        mode: deps.mode,
        ...state,
        connected_changed_ms: connectedChangedMs,
        updated_at_ms: updatedAtMs,
      });
      try {
        await deps.log.append(topics.sources.name, [{ key: deps.source, value, timestampMs: updatedAtMs }]);
      } catch (error) {
        deps.logger.warn({ err: error, source: deps.source }, 'could not write the source status');
      }
      if (!closed) plan(HEARTBEAT_MS);
    });
  };
  let plannedAtMs = 0;
  const plan = (delayMs: number) => {
    const at = now() + delayMs;
    if (timer !== null) {
      if (plannedAtMs <= at) return;
      clearTimeout(timer);
    }
    plannedAtMs = at;
    timer = setTimeout(write, delayMs);
    timer.unref();
  };
  plan(0);
  return {
    update(change) {
      if (closed) return;
      let changed = false;
      for (const key of Object.keys(change) as (keyof SourceState)[]) {
        if (change[key] !== undefined && change[key] !== state[key]) changed = true;
      }
      if (!changed) return;
      if (change.connected !== undefined && change.connected !== state.connected) connectedChangedMs = now();
      state = { ...state, ...change };
      const sinceMs = now() - lastWriteMs;
      // Negative after the clock was set back.
      plan(sinceMs < 0 ? 0 : Math.max(0, MIN_INTERVAL_MS - sinceMs));
    },
    updateDeferred(change) {
      if (!closed) state = { ...state, ...change };
    },
    flush() {
      if (!closed) write();
      return writing;
    },
    get current() {
      return state;
    },
    abandon() {
      closed = true;
      if (timer !== null) clearTimeout(timer);
    },
    async close() {
      if (closed) return writing;
      closed = true;
      if (state.connected) connectedChangedMs = now();
      state = { ...state, connected: false, phase: 'stopped' };
      write();
      await writing;
    },
  };
}
