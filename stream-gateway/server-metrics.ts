import type { Metrics } from '../infra/telemetry/metrics.js';
import type { NativeTopics } from './hub/native-topics.js';
import type { PeerTotals } from './hub/peer.js';

/** Metrics of the event socket. What is counted per frame is kept in plain numbers and brought over by `flush`. */
export function createServerMetrics(deps: { metrics: Metrics; totals: PeerTotals; natives: NativeTopics }) {
  const { metrics, totals, natives } = deps;
  const open = metrics.gauge('gateway_connections', 'Open event sockets');
  const frames = metrics.counter('gateway_frames_total', 'Frames handed to sockets', ['type']);
  const bytes = metrics.counter('gateway_bytes_total', 'Bytes handed to sockets', ['type']);
  const slow = metrics.counter('gateway_slow_closes_total', 'Connections closed because they read too slowly');
  const lookups = metrics.counter('gateway_lookup_errors_total', 'Slug or condition look-ups that failed');
  const reads = metrics.counter('gateway_history_errors_total', 'Snapshots and replays that could not read the log');
  const rejections = metrics.counter('gateway_rejected_total', 'Connections refused before the upgrade', ['reason']);
  const buffered = metrics.gauge('gateway_buffered_bytes', 'Bytes that wait for all connections together');
  const dropped = metrics.counter(
    'gateway_dropped_frames_total',
    'Frames the socket library dropped; must stay 0, as slow readers are closed before',
  );
  return {
    connections: (count: number) => open.set(count),
    rejected: (reason: string) => rejections.inc({ reason }),
    unavailable: (what: 'catalogue' | 'log') => (what === 'catalogue' ? lookups : reads).inc(),
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
