import { describe, expect, it } from 'vitest';
import type { Peer } from './peer.js';
import { createSlowReaderMonitor } from './slow-reader-monitor.js';

const ended: string[] = [];
const peer = (name: string, bytes: number) => {
  let buffered = bytes;
  return {
    buffered: () => buffered,
    closeIfSlow: () => undefined,
    closeSlow() {
      ended.push(name);
      buffered = 0;
    },
  } as unknown as Peer;
};

describe('slow reader monitor', () => {
  it('closes the connections with the most buffered bytes while the total exceeds its bound', () => {
    ended.length = 0;
    const totals: number[] = [];
    const peers = [peer('a', 10), peer('b', 40), peer('c', 0), peer('d', 30), peer('e', 25)];
    const monitor = createSlowReaderMonitor({
      peers: () => peers,
      maxBufferedBytes: 1_000,
      maxTotalBytes: 50,
      onTotal: (bytes) => totals.push(bytes),
    });
    monitor.sweep();
    expect(ended).toEqual(['b', 'd']);
    monitor.sweep();
    expect([ended.length, totals]).toEqual([2, [105, 35]]);
  });

  it.each([
    [16 * 1024 * 1024, 1024],
    [300 * 1024, 150],
  ])('with a bound of %i bytes per connection checks after %i kB published', (maxBufferedBytes, afterKb) => {
    let sweeps = 0;
    const monitor = createSlowReaderMonitor({
      peers: () => [],
      maxBufferedBytes,
      maxTotalBytes: 1,
      onTotal: () => sweeps++,
    });
    for (let kb = 0; kb < afterKb - 1; kb++) monitor.onPublished(1024);
    expect(sweeps).toBe(0);
    for (let kb = 0; kb < afterKb + 1; kb++) monitor.onPublished(1024);
    expect(sweeps).toBe(2);
  });
});
