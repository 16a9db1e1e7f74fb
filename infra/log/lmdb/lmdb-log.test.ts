import { mkdtempSync, readdirSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { open } from 'lmdb';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { silentLogger } from '../../telemetry/logger.js';
import { LogArgumentError, LogCorruptError, LogUnavailableError } from '../errors.js';
import type { Log, NewRecord } from '../port.js';
import { compactPartition } from './compaction.js';
import { createLmdbLog, type LmdbLogOptions } from './lmdb-log.js';
import { createMaintenanceLease, LeaseLostError } from './maintenance-lease.js';
import { openStore } from './store.js';

const TOPIC = 'topic';
const T0 = 1_700_000_000_000;

describe('the LMDB log', () => {
  let dir: string;
  let opened: Log[];
  beforeEach(() => {
    dir = mkdtempSync(join(tmpdir(), 'oddstream-log-'));
    opened = [];
  });
  afterEach(async () => {
    for (const log of opened) await log.close();
    rmSync(dir, { recursive: true, force: true });
  });
  const start = async (options: Partial<LmdbLogOptions> = {}, compacted = false) => {
    const log = createLmdbLog({ dir, logger: silentLogger(), maintenanceIntervalMs: null, ...options });
    opened.push(log);
    await log.ensureTopics([{ name: TOPIC, partitions: 1, retentionMs: null, compacted }]);
    return log;
  };
  const batch = (count: number, bytes = 10): NewRecord[] =>
    Array.from({ length: count }, (_, i) => ({ key: `k${i}`, value: Buffer.alloc(bytes, i), timestampMs: T0 }));
  const count = async (log: Log) => {
    let records = 0;
    for await (const got of log.read({ topic: TOPIC, partition: 0, from: 'earliest', follow: false })) {
      records += got.records.length;
    }
    return records;
  };

  it('one of several instances runs compaction periodically', async () => {
    const first = await start({ maintenanceIntervalMs: 5 }, true);
    await start({ maintenanceIntervalMs: 5 }, true);
    for (let i = 0; i < 20; i++) await first.append(TOPIC, batch(100));
    while ((await count(first)) === 2000) await sleep(5);
    expect((await first.bounds(TOPIC, 0)).earliest).toBeGreaterThan(0);
    await first.maintain(T0);
    expect(await first.bounds(TOPIC, 0)).toEqual({ earliest: 1900, next: 2000 });
  });

  it('reuses the pages of deleted records, so that its files stop growing but do not shrink', async () => {
    const log = await start();
    const bytes = () => readdirSync(dir).reduce((sum, file) => sum + statSync(join(dir, file)).size, 0);
    const sizes: number[] = [];
    for (let round = 0; round < 12; round++) {
      await log.append(TOPIC, batch(400, 10_000));
      await log.deleteBefore(TOPIC, 0, (await log.bounds(TOPIC, 0)).next - 1);
      sizes.push(bytes());
    }
    expect(sizes[0]).toBeGreaterThan(4_000_000);
    expect(sizes.at(-1)).toBeGreaterThanOrEqual(sizes[0] as number);
    // Without reuse: 12 times the first.
    expect(sizes.at(-1)).toBeLessThan(3 * (sizes[0] as number));
  });

  it('rejects the deletion of records of a compacted topic', async () => {
    const log = await start({}, true);
    await expect(log.deleteBefore(TOPIC, 0, 1)).rejects.toBeInstanceOf(LogArgumentError);
  });

  it('reads more than UNMAP_AFTER_BYTES with two instances in one process while appending', async () => {
    const first = await start();
    const second = await start();
    for (let i = 0; i < 50; i++) await first.append(TOPIC, batch(100, 10_000));
    for (let i = 0; i < 4; i++) {
      expect(await count(first)).toBe(5000 + i * 2);
      expect(await count(second)).toBe(5000 + i * 2);
      await first.append(TOPIC, batch(1));
      await second.append(TOPIC, batch(1));
    }
  });

  it('throws LogCorruptError for a damaged record', async () => {
    const log = await start();
    await log.append(TOPIC, batch(3));
    await log.close();
    const root = open<Buffer, Buffer>({
      path: dir,
      noSubdir: false,
      overlappingSync: false,
      encoding: 'binary',
      keyEncoding: 'binary',
    });
    const chunks = root.openDB<Buffer, Buffer>('chunks', { encoding: 'binary', keyEncoding: 'binary' });
    const [entry] = [...chunks.getRange({ start: Buffer.from([0]) })];
    const bytes = Buffer.from(entry!.value);
    bytes[bytes.length - 1]! ^= 1;
    chunks.putSync(entry!.key, bytes);
    await root.close();
    await expect(count(await start())).rejects.toBeInstanceOf(LogCorruptError);
  });

  it('compacts a partition with more keys than one pass can track in several passes', async () => {
    const log = await start({}, true);
    for (let i = 0; i < 2; i++) await log.append(TOPIC, batch(5000, 100));
    const store = openStore(dir);
    const deps = {
      store,
      renewLease: () => undefined,
      throttle: async () => undefined,
      nowMs: T0,
      tombstoneGraceMs: 0,
    };
    let passes = 1;
    while (await compactPartition({ ...deps, maxKeys: 1 }, 1, 0)) passes++;
    await store.close();
    expect(passes).toBeGreaterThan(1);
    expect(await count(log)).toBe(5000);
    expect(await log.bounds(TOPIC, 0)).toEqual({ earliest: 5000, next: 10_000 });
  });

  it('grants the maintenance lease to one process at a time, and to the next after it expires', async () => {
    const store = openStore(dir);
    let nowMs = T0;
    const [first, second] = [
      createMaintenanceLease({ store, now: () => nowMs }),
      createMaintenanceLease({ store, now: () => nowMs }),
    ];
    expect(first.acquire()).toBe(true);
    expect(second.acquire()).toBe(false);
    nowMs += 9_000;
    store.write(() => first.renew());
    nowMs += 9_000;
    expect(second.acquire()).toBe(false);
    nowMs += 1_000;
    expect(second.acquire()).toBe(true);
    expect(() => store.write(() => first.renew())).toThrow(LeaseLostError);
    first.release();
    expect(first.acquire()).toBe(false);
    second.release();
    expect(first.acquire()).toBe(true);
    await store.close();
  });

  it('rolls back a transaction that throws', async () => {
    const store = openStore(dir);
    const key = Buffer.from('Xtest');
    expect(() =>
      store.write(() => {
        store.meta.put(key, Buffer.from('1'));
        throw new LogUnavailableError('no');
      }),
    ).toThrow('no');
    expect(store.read(() => store.meta.get(key))).toBeUndefined();
    await store.close();
  });
});
