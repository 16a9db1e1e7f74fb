import { describe, expect, it } from 'vitest';
import type { Peer } from './peer.js';
import { createSlowReaderMonitor } from './slow-reader-monitor.js';

const ended: string[] = [];
const peer = (name: string, bytes: number) => {
  let waiting = bytes;
  return {
    buffered: () => waiting,
    closeIfSlow: () => undefined,
    closeSlow() {
      ended.push(name);
      waiting = 0;
    },
  } as unknown as Peer;
};

describe('slow readers', () => {
  it('close those with the most waiting while all together are over the bound', () => {
    ended.length = 0;
    const totals: number[] = [];
    const peers = [peer('a', 10), peer('b', 40), peer('c', 0), peer('d', 30), peer('e', 25)];
    const readers = createSlowReaderMonitor({
      peers: () => peers,
      maxBufferedBytes: 1_000,
      maxTotalBytes: 50,
      onTotal: (bytes) => totals.push(bytes),
    });
    readers.sweep();
    expect(ended).toEqual(['b', 'd']);
    readers.sweep();
    expect([ended.length, totals]).toEqual([2, [105, 35]]);
  });

  it.each([
    [16 * 1024 * 1024, 1024],
    [300 * 1024, 150],
  ])(
    'are looked for after a megabyte, and before one with a bound of %i bytes has twice as much waiting',
    (maxBufferedBytes, afterKb) => {
      let sweeps = 0;
      const readers = createSlowReaderMonitor({
        peers: () => [],
        maxBufferedBytes,
        maxTotalBytes: 1,
        onTotal: () => sweeps++,
      });
      for (let kb = 0; kb < afterKb - 1; kb++) readers.onPublished(1024);
      expect(sweeps).toBe(0);
      for (let kb = 0; kb < afterKb + 1; kb++) readers.onPublished(1024);
      expect(sweeps).toBe(2);
    },
  );
});
