import type { Logger } from '../../../infra/telemetry/logger.js';
import type { Metrics } from '../../../infra/telemetry/metrics.js';
import { joinReasons } from '../../shared/dead-letters.js';
import { pause } from '../../shared/pause.js';
import { createBatchQueue } from '../batch-queue.js';
import type { OracleLiveEvent, OraclePrice, OracleSource } from '../source.js';
import { runConnection } from './connection.js';
import { mergePrices } from './merge-prices.js';
import { allSubscriptions, type Subscription } from './subscriptions.js';

export interface RtdsOptions {
  readonly url: string;
  readonly logger: Logger;
  readonly metrics: Metrics;
  /** Called once for every frame that is unreadable or has unreadable parts. */
  readonly onRejected: (reason: string, payload: string) => void;
  readonly subscriptions?: readonly Subscription[];
  readonly times?: Partial<RtdsTimes>;
  /** Jitter of reconnects, 0 <= x < 1. */
  readonly random?: () => number;
}

/** All in milliseconds. */
export interface RtdsTimes {
  readonly pingMs: number;
  readonly staleMs: number;
  readonly openMs: number;
  /** Planned reconnect. The first one of the second connection is due after half of it, so that both are never renewed together. */
  readonly recycleMs: number;
  readonly backoffMs: number;
  readonly maxBackoffMs: number;
}

const defaults: RtdsTimes = {
  pingMs: 5000,
  staleMs: 10_000,
  openMs: 10_000,
  recycleMs: 15 * 60_000,
  backoffMs: 500,
  maxBackoffMs: 30_000,
};

/**
 * Source of the venue's real-time price service over two concurrent connections with the same subscriptions. Prices that one misses in a
 * stall, a planned reconnect or a network fault come from the other, or from the dump after a new subscription; the tick writer drops
 * repetitions.
 */
export function createRtdsSource(options: RtdsOptions): OracleSource {
  const { url, logger, metrics, onRejected, subscriptions = allSubscriptions, random = Math.random } = options;
  const times = { ...defaults, ...options.times };
  const frames = metrics.counter('rtds_frames_total', 'Frames received', ['kind']);
  const reconnects = metrics.counter('rtds_reconnects_total', 'Connections ended', ['planned']);
  const resubscribes = metrics.counter('rtds_resubscribes_total', 'Stale subscriptions that were subscribed again');
  const open = metrics.gauge('rtds_connections_open', 'Open connections');
  const now = () => performance.now();

  return {
    mode: 'live',
    description: `RTDS ${new URL(url).host}`,
    shiftDays: null,
    recordedFromMs: null,
    historyTotal: () => 0,
    async *history() {
      yield* [] as OraclePrice[][];
    },
    async *live(_resume, outer) {
      const stop = new AbortController();
      const signal = AbortSignal.any([outer, stop.signal]);
      const queue = createBatchQueue<OracleLiveEvent>();
      let openCount = 0;
      const moveOpen = (by: number, detail: string) => {
        openCount += by;
        open.set(openCount);
        queue.push({ type: 'connected', connected: openCount > 0, detail: `${openCount} of 2 connections; ${detail}` });
      };

      const lane = async (index: number) => {
        let failures = 0;
        for (let connectionCount = 0; !signal.aborted; connectionCount++) {
          let opened = false;
          const startedMs = now();
          const recycleMs = connectionCount === 0 && index === 1 ? times.recycleMs / 2 : times.recycleMs;
          const end = await runConnection({
            url,
            subscriptions,
            times: { ...times, recycleMs },
            signal,
            now,
            events: {
              open: () => {
                opened = true;
                moveOpen(1, `connection ${index} open`);
              },
              frame: (frame, text) => {
                frames.inc({ kind: frame.kind });
                if (frame.errors.length > 0) onRejected(joinReasons(frame.errors), text);
                if (frame.prices.length > 0)
                  queue.push({ type: 'prices', prices: frame.prices.map(({ price }) => price) });
              },
              resubscribed: (keys) => {
                resubscribes.inc(keys.length);
                logger.warn({ connection: index, keys }, 'oracle subscriptions are silent, subscribing again');
              },
            },
          });
          reconnects.inc({ planned: String(end.planned) });
          if (opened) moveOpen(-1, end.reason);
          else if (!signal.aborted)
            queue.push({ type: 'connected', connected: openCount > 0, detail: `connection ${index}: ${end.reason}` });
          if (signal.aborted) return;
          const worked = end.delivered && now() - startedMs >= times.staleMs;
          failures = end.planned || worked ? 0 : failures + 1;
          if (end.planned) continue;
          const ceiling = Math.min(times.maxBackoffMs, times.backoffMs * 2 ** Math.min(failures, 16));
          const waitMs = ceiling * (0.5 + random() / 2);
          logger.warn({ connection: index, reason: end.reason, waitMs: Math.round(waitMs) }, 'oracle connection lost');
          await pause(waitMs, signal);
        }
      };

      const lanes = [lane(0), lane(1)];
      try {
        for await (const batch of queue.batches(signal)) yield* mergePrices(batch);
      } finally {
        stop.abort();
        await Promise.all(lanes);
      }
    },
  };
}
