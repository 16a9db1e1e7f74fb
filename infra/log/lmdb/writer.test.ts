import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { silentLogger } from '../../telemetry/logger.js';
import { LogUnavailableError } from '../errors.js';
import { createLogHealth } from '../health.js';
import { openStore, type Store } from './store.js';
import { createTopicTable } from './topics.js';
import { createWriter, type Writer } from './writer.js';

let dir: string;
let store: Store;
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'oddstream-writer-'));
  store = openStore(dir);
});
afterEach(async () => {
  await store.close();
  rmSync(dir, { recursive: true, force: true });
});

/** A writer on a real store whose disk is full while `full.now` is true. */
function setUp(unavailableAfterMs: number) {
  const full = { now: true, attempts: 0 };
  const topics = createTopicTable({ store, logger: silentLogger() });
  topics.ensure([{ name: 't', partitions: 1, retentionMs: null, compacted: false }]);
  const disk: Store = {
    get meta() {
      return store.meta;
    },
    get chunks() {
      return store.chunks;
    },
    get times() {
      return store.times;
    },
    ...{
      read: store.read,
      recordBytesRead: store.recordBytesRead,
      clearStaleReaders: store.clearStaleReaders,
      close: store.close,
    },
    write(action) {
      full.attempts++;
      if (full.now) throw new LogUnavailableError('No space left');
      return store.write(action);
    },
  };
  const health = createLogHealth();
  const seen: string[] = [];
  const writer = createWriter({
    store: disk,
    topics,
    logger: silentLogger(),
    onCommitted: () => undefined,
    unavailableAfterMs,
    health: { recordFailure: (what) => seen.push(`failed ${what}`), recordSuccess: health.recordSuccess },
  });
  return { full, writer, seen };
}

const append = async (writer: Writer, key: string): Promise<number | undefined> => {
  const records = [{ key, value: Buffer.from(key), timestampMs: 1_700_000_000_000 }];
  const [ranges] = await writer.submit({ outputs: [{ topic: 't', records }], commit: null });
  return ranges?.[0]?.firstOffset;
};

describe('a writer whose disk is full', () => {
  it('queues appends in order and writes them when there is space', async () => {
    const { full, writer, seen } = setUp(30_000);
    const first = append(writer, 'a');
    while (full.attempts === 0) await new Promise((resolve) => setImmediate(resolve));
    const second = append(writer, 'b');
    const third = append(writer, 'c');
    expect(seen).toEqual(['failed Append to the log']);
    full.now = false;
    expect(await Promise.all([first, second, third])).toEqual([0, 1, 2]);
    expect(await append(writer, 'd')).toBe(3);
  });

  it('rejects appends after unavailableAfterMs without writing them', async () => {
    const { full, writer } = setUp(300);
    await expect(append(writer, 'a')).rejects.toBeInstanceOf(LogUnavailableError);
    expect(full.attempts).toBeGreaterThan(1);
    full.now = false;
    expect(await append(writer, 'b')).toBe(0);
  });

  it('rejects waiting appends at once when it is closed', async () => {
    const { full, writer } = setUp(30_000);
    const waiting = append(writer, 'a');
    while (full.attempts === 0) await new Promise((resolve) => setImmediate(resolve));
    const rejected = expect(waiting).rejects.toBeInstanceOf(LogUnavailableError);
    writer.close();
    await rejected;
  });
});
