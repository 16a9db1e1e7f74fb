import { describe, expect, it } from 'vitest';
import { yieldToEventLoop } from '../../infra/event-loop.js';
import { createRequestQueue } from './request-queue.js';

function harness(frames: number, bytes: number) {
  const done: string[] = [];
  const errors: unknown[] = [];
  const pending: (() => void)[] = [];
  const queue = createRequestQueue({ limits: { frames, bytes }, onError: (error) => errors.push(error) });
  const slow = (name: string) => async () => {
    await new Promise<void>((resolve) => pending.push(resolve));
    done.push(name);
  };
  const settle = () => yieldToEventLoop();
  return { queue, done, errors, pending, slow, settle };
}

describe('request queue', () => {
  it('handles requests one after the other and continues after a failure', async () => {
    const { queue, done, errors, pending, slow, settle } = harness(10, 100);
    queue.push(slow('a'), 1);
    queue.push(() => {
      throw new Error('no');
    }, 1);
    queue.push(slow('b'), 1);
    let idle = false;
    void queue.idle().then(() => {
      idle = true;
    });
    await settle();
    expect([done, pending.length, idle]).toEqual([[], 1, false]);
    pending.shift()?.();
    await settle();
    expect([done, errors.length]).toEqual([['a'], 1]);
    pending.shift()?.();
    await settle();
    expect([done, idle]).toEqual([['a', 'b'], true]);
  });

  it('rejects requests beyond its bounds of count and bytes', async () => {
    const byCount = harness(2, 100);
    expect([1, 2, 3, 4].map(() => byCount.queue.push(byCount.slow('x'), 1))).toEqual([true, true, true, false]);
    const byBytes = harness(100, 10);
    expect([6, 6, 4, 1].map((bytes) => byBytes.queue.push(byBytes.slow('x'), bytes))).toEqual([
      true,
      true,
      true,
      false,
    ]);
  });

  it('starts no request after close', async () => {
    const { queue, done, pending, slow, settle } = harness(10, 100);
    queue.push(slow('a'), 1);
    queue.push(slow('b'), 1);
    queue.close();
    pending.shift()?.();
    await settle();
    expect([done, pending.length, queue.push(slow('c'), 1)]).toEqual([['a'], 0, true]);
  });
});
