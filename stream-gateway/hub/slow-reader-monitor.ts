import type { Peer } from './peer.js';

/** The connections are checked after this many published bytes, or after half the bound of one connection if that is less. */
const SWEEP_BYTES = 1024 * 1024;

type Buffering = Pick<Peer, 'buffered' | 'closeIfSlow' | 'closeSlow'>;

export interface SlowReaderMonitor {
  /** Call after publishing to topics; checks the connections when enough bytes were published since the last check. */
  onPublished(bytes: number): void;
  /** Checks all connections now. */
  sweep(): void;
}

/**
 * Checks all connections, because topics of the socket library do not report slow receivers. Closes a connection over its bound, and closes those
 * with the most buffered bytes while the total exceeds its bound. So the library's bound, at which it drops messages silently, is never reached.
 */
export function createSlowReaderMonitor(deps: {
  peers: () => Iterable<Buffering>;
  /** Bound of one connection. The library's bound is at least twice as high and must not be reached between two checks. */
  maxBufferedBytes: number;
  maxTotalBytes: number;
  onTotal: (bytes: number) => void;
}): SlowReaderMonitor {
  const sweepBytes = Math.min(SWEEP_BYTES, deps.maxBufferedBytes / 2);
  let publishedBytes = 0;

  const sweep = () => {
    publishedBytes = 0;
    let total = 0;
    const backlogged: { readonly peer: Buffering; readonly bytes: number }[] = [];
    for (const peer of [...deps.peers()]) {
      peer.closeIfSlow();
      const bytes = peer.buffered();
      if (bytes === 0) continue;
      total += bytes;
      backlogged.push({ peer, bytes });
    }
    deps.onTotal(total);
    if (total <= deps.maxTotalBytes) return;
    backlogged.sort((a, b) => b.bytes - a.bytes);
    for (const { peer, bytes } of backlogged) {
      if (total <= deps.maxTotalBytes) return;
      peer.closeSlow();
      total -= bytes;
    }
  };

  return {
    onPublished(bytes) {
      publishedBytes += bytes;
      if (publishedBytes >= sweepBytes) sweep();
    },
    sweep,
  };
}
