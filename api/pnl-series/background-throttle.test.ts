import { expect, it } from 'vitest';
import { yieldToEventLoop } from '../../infra/event-loop.js';
import { backgroundThrottle, createYieldIfDue, type YieldPolicy } from './background-throttle.js';

const work = (ms: number) => {
  const end = performance.now() + ms;
  while (performance.now() < end);
};
/** Number of event-loop iterations until `waiting` resolves. */
async function eventLoopIterationsDuring(waiting: Promise<void>): Promise<number> {
  let over = false;
  let iterations = 0;
  const ended = waiting.finally(() => {
    over = true;
  });
  for (; !over; iterations++) await yieldToEventLoop();
  await ended;
  return iterations;
}

it('backgroundThrottle pauses unless the result is awaited, then continues in the next event-loop iteration', async () => {
  let isAwaited = false;
  const throttle = backgroundThrottle(() => isAwaited);
  expect(await eventLoopIterationsDuring(throttle(10))).toBeGreaterThan(10);
  isAwaited = true;
  expect(await eventLoopIterationsDuring(throttle(10))).toBeLessThan(5);
});

it('createYieldIfDue cuts work into chunks and reports the duration of each', async () => {
  const durationsMs: number[] = [];
  const policy: YieldPolicy = async (workedMs) => {
    durationsMs.push(workedMs);
    await yieldToEventLoop();
  };
  const yieldIfDue = createYieldIfDue(policy);
  for (let step = 0; step < 40; step++) {
    work(step === 20 ? 30 : 0.5);
    await yieldIfDue();
  }
  // The time between two chunks does not count.
  expect(durationsMs.length).toBeGreaterThan(2);
  expect(Math.min(...durationsMs)).toBeGreaterThanOrEqual(3);
  expect(Math.max(...durationsMs)).toBeGreaterThanOrEqual(30);
});
