import { afterEach, expect, it, vi } from 'vitest';
import { createMemoryLog } from '../../infra/log/testing.js';
import { silentLogger } from '../../infra/telemetry/logger.js';
import { createCodec } from '../../schemas/codec.js';
import { topicsOnOneMachine } from '../../schemas/topics.js';
import { createSourceStatus } from './source-status.js';

afterEach(() => {
  vi.useRealTimers();
});

it('source status is in the log when a flush resolves', async () => {
  const log = createMemoryLog({ topics: topicsOnOneMachine });
  const codec = createCodec();
  const status = createSourceStatus({ log, codec, logger: silentLogger(), source: 'chain', mode: 'live' });
  await status.flush();
  status.update({ head: 5 });
  await status.flush();
  expect(codec.decode(log.all('sources').at(-1)!.value!).value).toMatchObject({ head: 5 });
  await status.close();
});

it('source status writes nothing more once it is abandoned', async () => {
  vi.useFakeTimers();
  const log = createMemoryLog({ topics: topicsOnOneMachine });
  const status = createSourceStatus({
    log,
    codec: createCodec(),
    logger: silentLogger(),
    source: 'chain',
    mode: 'live',
  });
  await status.flush();
  status.update({ head: 5 });
  status.abandon();
  status.update({ head: 6 });
  await status.flush();
  await status.close();
  await vi.advanceTimersByTimeAsync(60_000);
  expect(log.all('sources')).toHaveLength(1);
});

it('source status writes a change soon after the clock was set back, and continues its heartbeats', async () => {
  const log = createMemoryLog({ topics: topicsOnOneMachine });
  let nowMs = Date.UTC(2027, 4, 22);
  const status = createSourceStatus({
    log,
    codec: createCodec(),
    logger: silentLogger(),
    source: 'chain',
    mode: 'live',
    now: () => nowMs,
  });
  const writes = () => log.all('sources').length;
  await expect.poll(writes).toBe(1);
  nowMs -= 5 * 86_400_000;
  status.update({ connected: true });
  await expect.poll(writes).toBeGreaterThanOrEqual(3);
  await status.close();
});
