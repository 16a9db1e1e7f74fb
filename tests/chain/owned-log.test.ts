import { describe, expect, it } from 'vitest';
import { silentLogger } from '../../infra/telemetry/logger.js';
import { createMetrics } from '../../infra/telemetry/metrics.js';
import { createAppender } from '../../ingest/shared/appender.js';
import { createDeadLetters, MAX_PAYLOAD_BYTES } from '../../ingest/shared/dead-letters.js';
import { createSourceStatus } from '../../ingest/shared/source-status.js';
import { topics } from '../../schemas/topics.js';
import { codec, eventsOf, freshLog } from '../support/chain-harness.js';

const record = (key: string) => ({ key, value: null, timestampMs: 1 });

describe('appender', () => {
  it('keeps call order and batches records that arrive during an append', async () => {
    const batches: number[] = [];
    const log = await freshLog({
      onAppend: async (_topic, records) => {
        batches.push(records.length);
        await new Promise((resolve) => setImmediate(resolve));
        return undefined;
      },
    });
    const appender = createAppender({ log, topic: topics.chainHead.name });
    void appender.add([record('a')]);
    await Promise.resolve();
    await Promise.resolve();
    void appender.add([record('b'), record('c')]);
    void appender.add([record('d')]);
    expect(appender.waiting).toBe(4);
    await appender.drained();
    expect(log.all(topics.chainHead.name).map(({ key }) => key)).toEqual(['a', 'b', 'c', 'd']);
    expect(batches).toEqual([1, 3]);
    expect(appender.waiting).toBe(0);
  });

  it('fails every later call after a failed append', async () => {
    const log = await freshLog({
      onAppend: () => {
        throw new Error('disk full');
      },
    });
    const appender = createAppender({ log, topic: topics.chainHead.name });
    await expect(appender.add([record('a')])).rejects.toThrow('disk full');
    await expect(appender.add([record('b')])).rejects.toThrow('disk full');
    expect(log.all(topics.chainHead.name)).toEqual([]);
  });
});

describe('dead letters', () => {
  const open = async () => {
    const log = await freshLog();
    const metrics = createMetrics({ process: 'test', defaults: false });
    const letters = createDeadLetters({ log, codec, metrics, logger: silentLogger(), now: () => 42 });
    const read = () =>
      eventsOf(log, topics.deadLetters.name).flatMap((e) => (e.kind === 'dead_letter' ? [e.value] : []));
    return { letters, read, metrics, log };
  };
  it('are written again after a failed append', async () => {
    const { letters, read, log } = await open();
    const letter = { origin: 'rtds', stage: 'oracle.decode', reason: 'no price' };
    const { append } = log;
    log.append = () => Promise.reject(new Error('disk full'));
    await expect(letters.put({ ...letter, payload: 'a' })).rejects.toThrow('disk full');
    log.append = append;
    await letters.put({ ...letter, payload: 'b' });
    expect(read().map(({ payload }) => payload)).toEqual(['b']);
  });
  it('stores text unchanged and bytes as base64, with the same id for the same input', async () => {
    const { letters, read, metrics } = await open();
    await letters.put({ origin: 'rtds', stage: 'oracle.decode', reason: 'no price', payload: '{"a":1}' });
    await letters.put({
      origin: 'rtds',
      stage: 'oracle.decode',
      reason: 'other words',
      payload: Buffer.from('{"a":1}'),
    });
    await letters.put({
      origin: 'rtds',
      stage: 'oracle.decode',
      reason: 'no text',
      payload: Buffer.from([0xff, 0xfe]),
    });
    const [first, second, third] = read();
    expect(first).toMatchObject({
      origin: 'rtds',
      stage: 'oracle.decode',
      reason: 'no price',
      payload: '{"a":1}',
      received_at_ms: 42,
    });
    expect(second?.id).toBe(first?.id);
    expect(third?.payload).toBe('//4=');
    expect(third?.id).not.toBe(first?.id);
    expect(await metrics.registry.metrics()).toContain(
      'oddstream_dead_letters_total{origin="rtds",stage="oracle.decode",process="test"} 3',
    );
  });
  it('cuts at 64 KiB of UTF-8, never inside a character', async () => {
    const { letters, read } = await open();
    await letters.put({ origin: 'x', stage: 'y', reason: 'long', payload: `a${'€'.repeat(40_000)}` });
    const payload = read()[0]!.payload;
    expect(MAX_PAYLOAD_BYTES).toBe(65_536);
    expect(payload).toBe(`a${'€'.repeat(21_845)}`);
  });
});

describe('source status', () => {
  it('writes at start, on change and at stop', async () => {
    const log = await freshLog();
    let nowMs = 1000;
    const status = createSourceStatus({
      log,
      codec,
      logger: silentLogger(),
      source: 'chain',
      mode: 'live',
      initial: { detail: 'node' },
      now: () => nowMs,
    });
    const written = () =>
      eventsOf(log, topics.sources.name).flatMap((e) => (e.kind === 'source_status' ? [e.value] : []));
    const until = async (count: number) => {
      while (written().length < count) await new Promise((resolve) => setTimeout(resolve, 5));
    };
    await until(1);
    expect(written()[0]).toMatchObject({
      source: 'chain',
      mode: 'live',
      detail: 'node',
      updated_at_ms: 1000,
      phase: 'history',
    });
    nowMs = 2000;
    status.update({ head: 5 });
    status.update({ head: 6, connected: true });
    await until(2);
    status.update({ head: 6 });
    nowMs = 2100;
    await status.close();
    status.update({ head: 7 });
    expect(
      written().map(({ head, connected, phase, updated_at_ms }) => [head, connected, phase, updated_at_ms]),
    ).toEqual([
      [null, false, 'history', 1000],
      [6, true, 'history', 2000],
      [6, false, 'stopped', 2100],
    ]);
    expect(log.all(topics.sources.name).every(({ key }) => key === 'chain')).toBe(true);
  });
});
