import type { Metrics } from '../infra/telemetry/metrics.js';
import type { NativeTopics } from './hub/native-topics.js';
import type { PeerTotals } from './hub/peer.js';

/** Metrics of the event socket. Counts per frame are plain numbers, which `flush` adds to the metrics: a metric update per frame costs too much. */
export function createServerMetrics(deps: { metrics: Metrics; totals: PeerTotals; natives: NativeTopics }) {
  const { metrics, totals, natives } = deps;
  const open = metrics.gauge('gateway_connections', 'Open event sockets');
  const frames = metrics.counter('gateway_frames_total', 'Frames handed to sockets', ['type']);
  const bytes = metrics.counter('gateway_bytes_total', 'Bytes handed to sockets', ['type']);
  const slow = metrics.counter('gateway_slow_closes_total', 'Connections closed because the client read too slowly');
  const lookups = metrics.counter('gateway_lookup_errors_total', 'Failed lookups of slugs or condition ids');
  const reads = metrics.counter('gateway_history_errors_total', 'Snapshots and replays that failed to read the log');
  const rejections = metrics.counter('gateway_rejected_total', 'Connections rejected before the WebSocket upgrade', [
    'reason',
  ]);
  const buffered = metrics.gauge('gateway_buffered_bytes', 'Bytes buffered for sending, over all connections');
  const dropped = metrics.counter(
    'gateway_dropped_frames_total',
    'Frames dropped by the socket library; must stay 0, because slow readers are closed before that',
  );
  return {
    connections: (count: number) => open.set(count),
    rejected: (reason: string) => rejections.inc({ reason }),
    unavailable: (dependency: 'catalogue' | 'log') => (dependency === 'catalogue' ? lookups : reads).inc(),
    buffered: (total: number) => buffered.set(total),
    dropped: () => dropped.inc(),
    flush(): void {
      const native = natives.takeTotals();
      frames.inc({ type: 'control' }, totals.controlFrames);
      bytes.inc({ type: 'control' }, totals.controlBytes);
      frames.inc({ type: 'event' }, totals.eventFrames + native.frames);
      bytes.inc({ type: 'event' }, totals.eventBytes + native.bytes);
      slow.inc(totals.slowCloses);
      for (const name of Object.keys(totals) as (keyof PeerTotals)[]) totals[name] = 0;
    },
  };
}
