import { expect, it } from 'vitest';
import { yieldToEventLoop } from '../../infra/event-loop.js';
import { backgroundThrottle, createYieldIfDue, type YieldPolicy } from './background-throttle.js';

const work = (ms: number) => {
  const end = performance.now() + ms;
  while (performance.now() < end);
};
/** Turns of the event loop that pass meanwhile. */
async function eventLoopTurnsDuring(waiting: Promise<void>): Promise<number> {
  let over = false;
  let turns = 0;
  const ended = waiting.finally(() => {
    over = true;
  });
  for (; !over; turns++) await yieldToEventLoop();
  await ended;
  return turns;
}

it('rests while nobody waits, and goes on in the next turn when somebody does', async () => {
  let isAwaited = false;
  const pace = backgroundThrottle(() => isAwaited);
  expect(await eventLoopTurnsDuring(pace(10))).toBeGreaterThan(10);
  isAwaited = true;
  expect(await eventLoopTurnsDuring(pace(10))).toBeLessThan(5);
});

it('makes pieces of steps of any length, and tells how long each took', async () => {
  const told: number[] = [];
  const pace: YieldPolicy = async (workedMs) => {
    told.push(workedMs);
    await yieldToEventLoop();
  };
  const turn = createYieldIfDue(pace);
  for (let step = 0; step < 40; step++) {
    work(step === 20 ? 30 : 0.5);
    await turn();
  }
  // The time between two pieces is nobody's.
  expect(told.length).toBeGreaterThan(2);
  expect(Math.min(...told)).toBeGreaterThanOrEqual(3);
  expect(Math.max(...told)).toBeGreaterThanOrEqual(30);
});
