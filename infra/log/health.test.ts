import { describe, expect, it } from 'vitest';
import { createMetrics } from '../telemetry/metrics.js';
import { createLogHealth } from './health.js';

function setUp() {
  let now = 1_000_000;
  const metrics = createMetrics({ process: 'test', defaults: false });
  const health = createLogHealth({ metrics, nowMs: () => now });
  const metric = async (name: string, labels = '') => {
    const line = (await metrics.registry.metrics())
      .split('\n')
      .find((text) => text.startsWith(`oddstream_${name}{`) && text.includes(labels));
    return line === undefined ? undefined : Number(line.slice(line.lastIndexOf(' ') + 1));
  };
  return { health, metric, pass: (ms: number) => (now += ms) };
}
const append = 'Append to topic "t", partition 0';

describe('createLogHealth', () => {
  it('reports an outage with its reason and duration, and its end', async () => {
    const { health, metric, pass } = setUp();
    expect(health.check()).toEqual({ ok: true });
    expect(await metric('log_up')).toBe(1);
    health.recordFailure(append, new Error('connection refused'));
    expect(health.check().ok).toBe(true);
    pass(7_000);
    health.recordFailure(append, new Error('connection refused'));
    expect(health.check()).toEqual({ ok: false, detail: `${append} has been failing for 7 s: connection refused` });
    expect(await metric('log_up')).toBe(0);
    expect(await metric('log_unavailable_seconds')).toBe(7);
    expect(await metric('log_errors_total', 'operation="append"')).toBe(2);
    health.recordSuccess(append);
    expect(health.check()).toEqual({ ok: true });
    expect([await metric('log_up'), await metric('log_unavailable_seconds')]).toEqual([1, 0]);
  });

  it('still reports an outage while other calls succeed', () => {
    const { health, pass } = setUp();
    health.recordFailure(append, new Error('no space left'));
    pass(1_500);
    health.recordSuccess('Read of topic "t", partition 0');
    expect(health.check().ok).toBe(false);
  });

  it('forgets the failure of a call that is no longer retried', () => {
    const { health, pass } = setUp();
    health.recordFailure(append, new Error('unreachable'));
    pass(21_000);
    expect(health.check()).toEqual({ ok: true });
  });
});
