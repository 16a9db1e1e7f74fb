import type { Metrics } from '../../infra/telemetry/metrics.js';
import type { BookPeerTotals } from './book-peer.js';

export type OrderBookMetrics = ReturnType<typeof createOrderBookMetrics>;

/** Metrics of the order-book socket. Counts per frame are plain numbers, which `flush` adds to the metrics. */
export function createOrderBookMetrics(metrics: Metrics) {
  const totals: BookPeerTotals = { controlFrames: 0, controlBytes: 0, dataFrames: 0, dataBytes: 0, slowCloses: 0 };
  const open = metrics.gauge('orderbook_socket_connections', 'Open order-book sockets');
  const frames = metrics.counter('orderbook_socket_frames_total', 'Frames handed to order-book sockets', ['type']);
  const bytes = metrics.counter('orderbook_socket_bytes_total', 'Bytes handed to order-book sockets', ['type']);
  const slow = metrics.counter(
    'orderbook_socket_slow_closes_total',
    'Connections closed because the client read too slowly',
  );
  const rejections = metrics.counter('orderbook_socket_rejected_total', 'Connections rejected before the upgrade', [
    'reason',
  ]);
  const books = metrics.gauge('orderbook_socket_books', 'Order books in memory', ['state']);
  const records = metrics.counter('orderbook_socket_records_total', 'Records of orderbook.updates applied to books');
  const lookups = metrics.counter('orderbook_socket_lookup_errors_total', 'Failed lookups of markets and names');
  const buffered = metrics.gauge('orderbook_socket_buffered_bytes', 'Bytes buffered for sending, over all connections');
  const dropped = metrics.counter(
    'orderbook_socket_dropped_frames_total',
    'Frames dropped by the socket library; must stay 0, because slow readers are closed before that',
  );
  return {
    totals,
    connections: (count: number) => open.set(count),
    rejected: (reason: string) => rejections.inc({ reason }),
    applied: (count: number) => records.inc(count),
    lookupFailed: () => lookups.inc(),
    buffered: (total: number) => buffered.set(total),
    dropped: () => dropped.inc(),
    books({ verified, unverified }: { verified: number; unverified: number }) {
      books.set({ state: 'verified' }, verified);
      books.set({ state: 'unverified' }, unverified);
    },
    flush(): void {
      frames.inc({ type: 'control' }, totals.controlFrames);
      bytes.inc({ type: 'control' }, totals.controlBytes);
      frames.inc({ type: 'data' }, totals.dataFrames);
      bytes.inc({ type: 'data' }, totals.dataBytes);
      slow.inc(totals.slowCloses);
      for (const name of Object.keys(totals) as (keyof BookPeerTotals)[]) totals[name] = 0;
    },
  };
}
