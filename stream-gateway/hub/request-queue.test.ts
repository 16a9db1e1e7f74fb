import { describe, expect, it } from 'vitest';
import { yieldToEventLoop } from '../../infra/event-loop.js';
import { createRequestQueue } from './request-queue.js';

function harness(frames: number, bytes: number) {
  const done: string[] = [];
  const errors: unknown[] = [];
  const gates: (() => void)[] = [];
  const queue = createRequestQueue({ limits: { frames, bytes }, onError: (error) => errors.push(error) });
  const slow = (name: string) => async () => {
    await new Promise<void>((resolve) => gates.push(resolve));
    done.push(name);
  };
  const settle = () => yieldToEventLoop();
  return { queue, done, errors, gates, slow, settle };
}

describe('the request queue', () => {
  it('answers one after the other, and goes on after one that fails', async () => {
    const { queue, done, errors, gates, slow, settle } = harness(10, 100);
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
    expect([done, gates.length, idle]).toEqual([[], 1, false]);
    gates.shift()?.();
    await settle();
    expect([done, errors.length]).toEqual([['a'], 1]);
    gates.shift()?.();
    await settle();
    expect([done, idle]).toEqual([['a', 'b'], true]);
  });

  it('takes no more than may wait, by count and by bytes', async () => {
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

  it('answers nothing after it is closed', async () => {
    const { queue, done, gates, slow, settle } = harness(10, 100);
    queue.push(slow('a'), 1);
    queue.push(slow('b'), 1);
    queue.close();
    gates.shift()?.();
    await settle();
    expect([done, gates.length, queue.push(slow('c'), 1)]).toEqual([['a'], 0, true]);
  });
});
