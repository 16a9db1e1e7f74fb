import { describe, expect, it } from 'vitest';
import { yieldToEventLoop } from '../../infra/event-loop.js';
import { createFairScheduler, type FairScheduler } from './fair-scheduler.js';

/** One connection that handles `requests` requests one after the other, each by `work`. */
async function connection(scheduler: FairScheduler, requests: number, work: () => void): Promise<void> {
  for (let i = 0; i < requests; i++) {
    await scheduler.nextTurn();
    work();
  }
}

describe('createFairScheduler', () => {
  it('runs requests until the time budget of an event-loop iteration is used, then yields', async () => {
    let ms = 0;
    const scheduler = createFairScheduler({ budgetMs: 5, now: () => ms });
    let handled = 0;
    const work = () => {
      handled += 1;
      ms += 2;
    };
    const all = Promise.all([connection(scheduler, 4, work), connection(scheduler, 4, work)]);
    const perIteration: number[] = [];
    while (handled < 8) {
      const before = handled;
      await yieldToEventLoop();
      perIteration.push(handled - before);
    }
    await all;
    // 2, 4 and 6 ms: the request that goes over the budget is the last of its iteration.
    expect(Math.max(...perIteration)).toBe(3);
    expect(perIteration.reduce((sum, count) => sum + count, 0)).toBe(8);
  });

  it('is round-robin: a connection with further requests waits behind the others', async () => {
    const scheduler = createFairScheduler();
    const order: string[] = [];
    await Promise.all([
      connection(scheduler, 4, () => order.push('busy')),
      connection(scheduler, 1, () => order.push('quiet')),
      connection(scheduler, 2, () => order.push('other')),
    ]);
    expect(order).toEqual(['busy', 'quiet', 'other', 'busy', 'other', 'busy', 'busy']);
  });

  it('schedules requests after it was idle', async () => {
    const scheduler = createFairScheduler();
    await scheduler.nextTurn();
    await yieldToEventLoop();
    await scheduler.nextTurn();
  });
});
