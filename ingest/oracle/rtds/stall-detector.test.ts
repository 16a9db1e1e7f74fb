import { describe, expect, it } from 'vitest';
import { createStallDetector } from './stall-detector.js';

describe('createStallDetector', () => {
  it('repeats a silent subscription while another delivers', () => {
    const watch = createStallDetector(['a', 'b'], 10, 0);
    watch.recordData('a', 5);
    watch.recordData('b', 5);
    watch.recordData('a', 14);
    expect(watch.check(14)).toEqual({ type: 'ok' });
    expect(watch.check(15)).toEqual({ type: 'resubscribe', keys: ['b'] });
    expect(watch.check(16)).toEqual({ type: 'ok' });
  });

  it('closes a connection without any data', () => {
    const watch = createStallDetector(['a', 'b'], 10, 0);
    expect(watch.check(10)).toEqual({ type: 'resubscribe', keys: ['a', 'b'] });
    expect(watch.check(20).type).toBe('reconnect');
  });

  it('closes a connection when a subscription that delivered stays silent', () => {
    const watch = createStallDetector(['a', 'b'], 10, 0);
    watch.recordData('b', 0);
    const verdicts: string[] = [];
    for (let now = 1; now < 400; now++) {
      watch.recordData('a', now);
      const verdict = watch.check(now);
      if (verdict.type !== 'ok') verdicts.push(`${now} ${verdict.type}`);
      if (verdict.type === 'reconnect') break;
    }
    expect(verdicts).toEqual(['10 resubscribe', '30 resubscribe', '70 resubscribe', '150 reconnect']);
  });

  it('repeats a subscription without data at growing intervals, without a limit', () => {
    const watch = createStallDetector(['a', 'b'], 10, 0);
    const resubscribedAt: number[] = [];
    for (let now = 1; now < 1500; now++) {
      watch.recordData('a', now);
      const verdict = watch.check(now);
      if (verdict.type === 'resubscribe') resubscribedAt.push(now);
      expect(verdict.type).not.toBe('reconnect');
    }
    expect(resubscribedAt).toEqual([10, 30, 70, 150, 310, 630, 950, 1270]);
  });
});
