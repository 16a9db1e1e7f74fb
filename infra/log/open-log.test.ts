import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { FatalError } from '../errors.js';
import { silentLogger } from '../telemetry/logger.js';
import { openLog } from './open-log.js';

describe('openLog', () => {
  let dir: string;
  beforeEach(() => {
    dir = mkdtempSync(join(tmpdir(), 'oddstream-log-'));
  });
  afterEach(() => rmSync(dir, { recursive: true, force: true }));
  const open = (url: string) => openLog(url, { logger: silentLogger() });

  it('creates the directory of an LMDB log, with or without dots in its name', async () => {
    for (const name of ['deep/er', 'with.dot']) {
      const log = await open(`lmdb:${join(dir, name)}`);
      await log.ensureTopics([{ name: 'topic', partitions: 1, retentionMs: null, compacted: false }]);
      await log.append('topic', [{ key: 'a', value: null, timestampMs: 0 }]);
      expect(await log.bounds('topic', 0)).toEqual({ earliest: 0, next: 1 });
      await log.close();
    }
  });

  it.each([
    'lmdb:',
    'kafka:',
    'kafka://',
    'kafka://host',
    'kafka://host:0',
    'kafka://host:99999',
    'kafka://host:9092,',
    'kafka://user@host:9092',
    'kafka://host:9092/topic',
    'file:/tmp/log',
    '',
  ])('throws FatalError for %j', async (url) => {
    await expect(open(url)).rejects.toBeInstanceOf(FatalError);
  });

  it('names the settings for a user and password that LOG_URL contains, without repeating them', async () => {
    const failed = open('kafka://user:s3cret@host:9092');
    await expect(failed).rejects.toThrow(/KAFKA_USER and KAFKA_PASSWORD/);
    await expect(failed).rejects.not.toThrow(/s3cret/);
  });

  it('names the directory that cannot be used', async () => {
    const file = join(dir, 'file');
    writeFileSync(file, '');
    await expect(open(`lmdb:${join(file, 'log')}`)).rejects.toThrow(file);
    await expect(open(`lmdb:${join(file, 'log')}`)).rejects.toBeInstanceOf(FatalError);
  });
});
