import { describe, expect, it } from 'vitest';
import { createSilenceDetector } from './silence.js';

const received = new Map<string, number>();
const detector = () => {
  received.clear();
  return createSilenceDetector({
    receivedMs: (tokenId) => received.get(tokenId) ?? null,
    needsFirstBook: (tokenId) => tokenId !== 'no book',
  });
};

describe('createSilenceDetector', () => {
  it('finds a token whose first book does not come within 10 s', () => {
    const silence = detector();
    silence.subscribed(['a', 'b', 'no book'], 0);
    received.set('b', 500);
    expect(silence.check(9_999)).toEqual([]);
    expect(silence.check(10_000)).toEqual([{ tokenId: 'a', why: 'no_first_book', reconnect: false }]);
    expect(silence.check(30_000)).toEqual([]);
  });

  it('finds a token that trades on chain while its book does not change, within 10 s of the trade', () => {
    const silence = detector();
    received.set('dead', 0);
    received.set('alive', 58_000);
    received.set('late', 0);
    silence.traded('dead', 60_000);
    silence.traded('alive', 60_000);
    silence.traded('late', 60_000);
    silence.traded('not followed', 60_000);
    expect(silence.check(64_000)).toEqual([]);
    received.set('late', 64_500);
    expect(silence.check(65_000)).toEqual([{ tokenId: 'dead', why: 'trade_without_change', reconnect: false }]);
  });

  it('asks for a new connection when a third token is silent within a minute', () => {
    const silence = detector();
    silence.subscribed(['a', 'b', 'c', 'd'], 0);
    expect(silence.check(10_000).map(({ reconnect }) => reconnect)).toEqual([false, false, true, false]);
  });

  it('asks for a new connection when a subscription did not help a token', () => {
    const silence = detector();
    silence.subscribed(['a'], 0);
    expect(silence.check(10_000).map(({ reconnect }) => reconnect)).toEqual([false]);
    silence.subscribed(['a'], 10_000);
    expect(silence.check(20_000).map(({ reconnect }) => reconnect)).toEqual([true]);
    silence.subscribed(['a'], 1_000_000);
    expect(silence.check(1_010_000).map(({ reconnect }) => reconnect)).toEqual([false]);
  });

  it.each([1, 3])('reopens the connection of %i tokens that stay silent twice at most, and tries each on', (tokens) => {
    const silence = detector();
    const silent = Array.from({ length: tokens }, (_, n) => `silent ${n}`);
    const [reconnects, tries] = [[] as number[], new Map(silent.map((tokenId) => [tokenId, 0]))];
    silence.subscribed(silent, 0);
    for (let nowMs = 0; nowMs < 3_600_000; nowMs += 1_000) {
      const found = silence.check(nowMs);
      for (const { tokenId } of found) tries.set(tokenId, (tries.get(tokenId) ?? 0) + 1);
      if (found.some(({ reconnect }) => reconnect)) {
        reconnects.push(nowMs);
        silence.subscribed(silent, nowMs);
      } else
        silence.subscribed(
          found.map(({ tokenId }) => tokenId),
          nowMs,
        );
    }
    expect(reconnects.length).toBeLessThanOrEqual(2);
    for (const count of tries.values()) {
      expect(count).toBeGreaterThanOrEqual(10);
      expect(count).toBeLessThanOrEqual(16);
    }
  });

  it('forgets tokens that are no longer followed', () => {
    const silence = detector();
    silence.subscribed(['a'], 0);
    silence.forget(['a']);
    expect(silence.check(60_000)).toEqual([]);
  });
});
