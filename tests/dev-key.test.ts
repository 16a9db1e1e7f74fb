import { existsSync, mkdtempSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { createAccountCommands } from '../infra/accounts/commands.js';
import { createAccountsReadModel } from '../infra/accounts/read-model.js';
import { createMemoryLog } from '../infra/log/testing.js';
import { silentLogger } from '../infra/telemetry/logger.js';
import { createMetrics } from '../infra/telemetry/metrics.js';
import { createOnUnreadable } from '../infra/telemetry/unreadable-records.js';
import { devKeyFile, ensureDevKey } from '../infra/up/dev-key.js';
import { createAccountsProcessor } from '../processors/accounts/processor.js';
import { hashKey } from '../schemas/api-keys.js';
import { createCodec } from '../schemas/codec.js';
import { allTopics } from '../schemas/topics.js';
import { eventually } from './support/product.js';

const codec = createCodec();
const cleanups: (() => void)[] = [];
afterEach(() => {
  for (const cleanup of cleanups.splice(0)) cleanup();
});

async function setting() {
  const dataDir = mkdtempSync(join(tmpdir(), 'oddstream-dev-key-'));
  const log = createMemoryLog();
  await log.ensureTopics(allTopics);
  const stop = new AbortController();
  const logger = silentLogger();
  const metrics = createMetrics({ process: 'test', defaults: false });
  createAccountsProcessor({ log, codec, logger, metrics })
    .run(stop.signal)
    .catch(() => undefined);
  const accounts = createAccountsReadModel({
    log,
    codec,
    signal: stop.signal,
    onUnreadable: createOnUnreadable({ metrics, logger }),
  });
  cleanups.push(() => {
    stop.abort();
    rmSync(dataDir, { recursive: true, force: true });
  });
  const ensure = (loopback: boolean) => ensureDevKey({ dataDir, loopback, log, codec, nowMs: Date.now });
  return { dataDir, log, accounts, ensure };
}

describe('the ready key', () => {
  it('belongs to the local enterprise account, is kept for its owner only, and stays the same', async () => {
    const { dataDir, accounts, ensure } = await setting();
    const key = (await ensure(true)) as string;
    expect(statSync(devKeyFile(dataDir)).mode & 0o777).toBe(0o600);
    const found = await eventually('the key', async () => {
      const verdict = accounts.lookupKey(key);
      return verdict.status === 'ok' && verdict;
    });
    expect(found.account).toMatchObject({ account_id: 'local', plan: 'enterprise' });
    expect(await ensure(true)).toBe(key);
    expect(await ensure(true)).toBe(key);
  });

  it('is revoked and removed when a port opens beyond loopback, and a new one is made on return', async () => {
    const { dataDir, accounts, ensure } = await setting();
    const key = (await ensure(true)) as string;
    await eventually('the key', async () => accounts.lookupKey(key).status === 'ok');
    expect(await ensure(false)).toBeNull();
    expect(existsSync(devKeyFile(dataDir))).toBe(false);
    await eventually('the revocation', async () => accounts.lookupKey(key).status === 'inactive');
    const next = (await ensure(true)) as string;
    expect(next).not.toBe(key);
    await eventually('the next key', async () => accounts.lookupKey(next).status === 'ok');
  });

  it('is another one after it was revoked', async () => {
    const { log, accounts, ensure } = await setting();
    const key = (await ensure(true)) as string;
    await eventually('the key', async () => accounts.lookupKey(key).status === 'ok');
    const commands = createAccountCommands({ log, codec, now: Date.now });
    await commands.send({ 'oddstream.RevokeKey': { account_id: 'local', key_hash: hashKey(key) } });
    await eventually('the revocation', async () => accounts.lookupKey(key).status === 'inactive');
    const next = (await ensure(true)) as string;
    expect(next).not.toBe(key);
    await eventually('the next key', async () => accounts.lookupKey(next).status === 'ok');
    expect(await ensure(true)).toBe(next);
  });
});
