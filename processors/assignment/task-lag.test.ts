import { expect, it } from 'vitest';
import { createMetrics } from '../../infra/telemetry/metrics.js';
import { createTaskLag } from './task-lag.js';

const setUp = (labelNames: readonly string[]) => {
  const metrics = createMetrics({ process: 'test', defaults: false });
  const lag = createTaskLag(metrics.gauge('lag_records', 'Lag', labelNames));
  const values = async () =>
    (await metrics.registry.metrics()).split('\n').filter((line) => line.startsWith('oddstream_lag_records'));
  return { lag, values };
};

it('task lag gauge reports a task while it runs and drops it after it has stopped', async () => {
  const { lag, values } = setUp(['processor']);
  lag.set({ processor: 'a' }, 7);
  expect(await values()).toEqual([]);
  await lag.during(async () => {
    lag.set({ processor: 'a' }, 5);
    lag.set({ processor: 'b' }, 3);
    expect(await values()).toHaveLength(2);
  });
  expect(await values()).toEqual([]);
  lag.set({ processor: 'a' }, 5);
  expect(await values()).toEqual([]);
  await expect(lag.during(() => Promise.reject(new Error('taken over')))).rejects.toThrow('taken over');
  expect(await values()).toEqual([]);
});

it('task lag gauge works without labels', async () => {
  const { lag, values } = setUp([]);
  await lag.during(async () => {
    lag.set({}, 2);
    expect(await values()).toEqual(['oddstream_lag_records{process="test"} 2']);
  });
  expect(await values()).toEqual([]);
});
