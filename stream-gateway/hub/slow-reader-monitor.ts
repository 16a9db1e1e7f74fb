import type { Peer } from './peer.js';

/** Looked at again after so many bytes were published, or half of what one connection may have waiting where that is less ... */
const SWEEP_BYTES = 1024 * 1024;

export interface SlowReaderMonitor {
  /** ... which it is told here ... */
  onPublished(bytes: number): void;
  /** ... and from time to time. */
  sweep(): void;
}

/**
 * Topics of the socket library do not tell who falls behind, so all connections are looked at: one over its own bound is closed, and
 * while all together are over theirs, the one with the most waiting. So the library's bound, which drops silently, is never reached.
 */
export function createSlowReaderMonitor(deps: {
  peers: () => Iterable<Peer>;
  /** The bound of one connection: the library's is twice that, and must not be reached between two looks. */
  maxBufferedBytes: number;
  maxTotalBytes: number;
  onTotal: (bytes: number) => void;
}): SlowReaderMonitor {
  const sweepBytes = Math.min(SWEEP_BYTES, deps.maxBufferedBytes / 2);
  let since = 0;

  const sweep = () => {
    since = 0;
    let total = 0;
    const backlogged: { readonly peer: Peer; readonly bytes: number }[] = [];
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
      since += bytes;
      if (since >= sweepBytes) sweep();
    },
    sweep,
  };
}
