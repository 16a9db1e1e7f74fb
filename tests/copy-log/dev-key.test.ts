import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createAccountCommands } from '../../infra/accounts/commands.js';
import { createAccountsReadModel } from '../../infra/accounts/read-model.js';
import { openLog } from '../../infra/log/open-log.js';
import { silentLogger } from '../../infra/telemetry/logger.js';
import { createMetrics } from '../../infra/telemetry/metrics.js';
import { createOnUnreadable } from '../../infra/telemetry/unreadable-records.js';
import { ensureDevKey } from '../../infra/up/dev-key.js';
import { createAccountsProcessor } from '../../processors/accounts/processor.js';
import { displayedKeyPrefix, hashKey, newRawKey } from '../../schemas/api-keys.js';
import { createCodec } from '../../schemas/codec.js';
import { topicsOnOneMachine } from '../../schemas/topics.js';
import { eventually } from '../support/product.js';

const program = join(import.meta.dirname, '../../dist/infra/copy-log/main.js');
const codec = createCodec();

describe('the key of npm start in a copy of the log', () => {
  let dataDir: string;
  beforeEach(() => {
    dataDir = mkdtempSync(join(tmpdir(), 'oddstream-copy-key-'));
  });
  afterEach(() => rmSync(dataDir, { recursive: true, force: true }));
  const urlOf = (name: string) => `lmdb:${join(dataDir, name)}`;

  /** Runs `work` on a log with its accounts processor. */
  async function onLog<T>(name: string, work: (on: Awaited<ReturnType<typeof opened>>) => Promise<T>): Promise<T> {
    const stop = new AbortController();
    const on = await opened(name, stop.signal);
    try {
      return await work(on);
    } finally {
      stop.abort();
      await on.processing;
      await on.log.close();
    }
  }
  async function opened(name: string, signal: AbortSignal) {
    const logger = silentLogger();
    const metrics = createMetrics({ process: 'test', defaults: false });
    const log = await openLog(urlOf(name), { logger });
    await log.ensureTopics(topicsOnOneMachine);
    const processing = createAccountsProcessor({ log, codec, logger, metrics }).run(signal);
    const onUnreadable = createOnUnreadable({ metrics, logger });
    const accounts = createAccountsReadModel({ log, codec, signal, onUnreadable });
    await accounts.ready();
    const working = (key: string) => eventually('the key', async () => accounts.lookupKey(key).status === 'ok');
    return {
      ...{ log, accounts, processing, working },
      send: createAccountCommands({ log, codec }).send,
      start: async () => (await ensureDevKey({ dataDir, loopback: true, log, codec, nowMs: Date.now })) as string,
    };
  }
  const copy = async () => {
    const env = { PATH: process.env.PATH, LOG_URL: urlOf('from'), ODDSTREAM_DATA: dataDir };
    const args = [program, '--to', urlOf('to'), 'accounts.state'];
    return (await promisify(execFile)(process.execPath, args, { env })).stdout;
  };

  it('is left out, other keys are not, and a start with the copy creates it again', async () => {
    const customer = newRawKey();
    const key = await onLog('from', async ({ start, send, working }) => {
      const started = await start();
      await send({ 'oddstream.CreateAccount': { account_id: 'c1', plan: 'starter', label: '' } });
      await send({
        'oddstream.CreateKey': {
          ...{ account_id: 'c1', name: 'dev-key', key_hash: hashKey(customer) },
          key_prefix: displayedKeyPrefix(customer),
        },
      });
      await working(started);
      await working(customer);
      return started;
    });
    expect(await copy()).toMatch(/^accounts\.state: \d+ records copied, the key of npm start left out\n$/);
    await onLog('to', async ({ accounts, start, working }) => {
      expect(accounts.lookupKey(key)).toEqual({ status: 'unknown' });
      expect(accounts.lookupKey(customer)).toMatchObject({ status: 'ok', account: { active_keys: 1 } });
      expect(accounts.account('local')).toMatchObject({ plan: 'enterprise', active_keys: 0 });
      expect(await start()).toBe(key);
      await working(key);
      expect(accounts.account('local')).toMatchObject({ active_keys: 1 });
    });
  });

  it('is left out when it has another name', async () => {
    const key = await onLog('from', async ({ accounts, start, send, working }) => {
      const started = await start();
      await working(started);
      await send({ 'oddstream.RenameKey': { account_id: 'local', key_hash: hashKey(started), name: 'mine' } });
      await eventually('the name', async () => accounts.keysOf('local')[0]?.name === 'mine');
      return started;
    });
    expect(await copy()).toContain('the key of npm start left out');
    await onLog('to', async ({ accounts }) => expect(accounts.lookupKey(key)).toEqual({ status: 'unknown' }));
  });

  it('stays revoked: a start with the copy creates another one', async () => {
    const key = await onLog('from', async ({ accounts, start, send, working }) => {
      const started = await start();
      await working(started);
      await send({ 'oddstream.RevokeKey': { account_id: 'local', key_hash: hashKey(started) } });
      await eventually('the revocation', async () => accounts.lookupKey(started).status === 'inactive');
      return started;
    });
    expect(await copy()).toMatch(/^accounts\.state: \d+ records copied\n$/);
    await onLog('to', async ({ accounts, start, working }) => {
      expect(accounts.lookupKey(key)).toMatchObject({ status: 'inactive' });
      const next = await start();
      expect(next).not.toBe(key);
      await working(next);
      expect(accounts.account('local')).toMatchObject({ active_keys: 1 });
    });
  });
});
