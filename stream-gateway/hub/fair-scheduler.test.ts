import { describe, expect, it } from 'vitest';
import { yieldToEventLoop } from '../../infra/event-loop.js';
import { createFairScheduler, type FairScheduler } from './fair-scheduler.js';

/** So many requests of one connection, each of which takes `work`. */
async function connection(turns: FairScheduler, requests: number, work: () => void): Promise<void> {
  for (let i = 0; i < requests; i++) {
    await turns.nextTurn();
    work();
  }
}

describe('createTurns', () => {
  it('answers requests until the budget of a turn of the event loop is used, then lets the loop go on', async () => {
    let ms = 0;
    const turns = createFairScheduler({ budgetMs: 5, now: () => ms });
    let answered = 0;
    const work = () => {
      answered += 1;
      ms += 2;
    };
    const all = Promise.all([connection(turns, 4, work), connection(turns, 4, work)]);
    const perTurn: number[] = [];
    while (answered < 8) {
      const before = answered;
      await yieldToEventLoop();
      perTurn.push(answered - before);
    }
    await all;
    // 2, 4 and 6 ms: the request that goes over the budget is the last of its turn.
    expect(Math.max(...perTurn)).toBe(3);
    expect(perTurn.reduce((sum, count) => sum + count, 0)).toBe(8);
  });

  it('goes round: a connection that asks again stands behind the others', async () => {
    const turns = createFairScheduler();
    const went: string[] = [];
    await Promise.all([
      connection(turns, 4, () => went.push('busy')),
      connection(turns, 1, () => went.push('quiet')),
      connection(turns, 2, () => went.push('other')),
    ]);
    expect(went).toEqual(['busy', 'quiet', 'other', 'busy', 'other', 'busy', 'busy']);
  });

  it('works on after everybody had their turn', async () => {
    const turns = createFairScheduler();
    await turns.nextTurn();
    await yieldToEventLoop();
    await turns.nextTurn();
  });
});
