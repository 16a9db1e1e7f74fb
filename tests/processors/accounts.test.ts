import { describe, expect, it } from 'vitest';
import { createAccountCommands } from '../../infra/accounts/commands.js';
import { createAccountsReadModel } from '../../infra/accounts/read-model.js';
import { RetryableError } from '../../infra/errors.js';
import type { Log } from '../../infra/log/port.js';
import { createMemoryLog, createMemoryStore } from '../../infra/log/testing.js';
import { silentLogger } from '../../infra/telemetry/logger.js';
import { createMetrics } from '../../infra/telemetry/metrics.js';
import { createOnUnreadable } from '../../infra/telemetry/unreadable-records.js';
import { createAccountsProcessor } from '../../processors/accounts/processor.js';
import { hashKey, newRawKey } from '../../schemas/api-keys.js';
import { type Codec, CodecError, createCodec } from '../../schemas/codec.js';
import { allTopics } from '../../schemas/topics.js';
import { eventually } from '../support/product.js';

const codec = createCodec();
const NOW = Date.UTC(2026, 8, 1, 12);

function processorOn(log: Log, stateCodec: Codec = codec) {
  return createAccountsProcessor({
    log,
    codec: stateCodec,
    logger: silentLogger(),
    metrics: createMetrics({ process: 'test', defaults: false }),
  });
}

async function setUp() {
  const store = createMemoryStore();
  const log = createMemoryLog({ store });
  await log.ensureTopics(allTopics);
  const controller = new AbortController();
  const metrics = createMetrics({ process: 'test', defaults: false });
  const onUnreadable = createOnUnreadable({ metrics, logger: silentLogger() });
  /** One API instance: separate command writer and read model. */
  const instance = () => {
    const model = createAccountsReadModel({ log, codec, signal: controller.signal, onUnreadable });
    const commands = createAccountCommands({ log, codec, now: () => NOW });
    return {
      model,
      commands,
      async freeKey(ip: string) {
        const key = newRawKey();
        const id = await commands.send({
          'oddstream.CreateFreeKey': {
            account_id: hashKey(key).slice(0, 12),
            key_hash: hashKey(key),
            key_prefix: key.slice(0, 16),
            name: 'unnamed',
            ip_hash: ip,
            utc_day: '2026-09-01',
          },
        });
        return { key, outcome: await model.waitForOutcome(id, 10_000) };
      },
    };
  };
  return { store, log, controller, instance, metrics };
}

describe('accounts', () => {
  it('accept one of many key commands from one address, over two API instances', async () => {
    const { log, controller, instance } = await setUp();
    const running = processorOn(log).run(controller.signal);
    const [one, two] = [instance(), instance()];
    const results = await Promise.all(Array.from({ length: 40 }, (_, i) => (i % 2 ? one : two).freeKey(`ip${i % 5}`)));
    const won = results.filter((result) => result.outcome?.accepted);
    expect(won).toHaveLength(5);
    for (const { outcome } of results) expect(['ok', 'rate_limited']).toContain(outcome?.code);
    for (const { key, outcome } of results) {
      for (const { model } of [one, two]) {
        await model.ready();
        expect(model.lookupKey(key).status).toBe(outcome?.accepted ? 'ok' : 'unknown');
      }
    }
    controller.abort();
    await running;
  });

  it('decide a repeated command once, also after a crash that lost the response', async () => {
    const { store, log, controller, instance } = await setUp();
    const { commands, model } = instance();
    await commands.send(
      { 'oddstream.CreateAccount': { account_id: 'a', plan: 'starter', label: '' } },
      { id: 'create' },
    );
    await commands.send(
      { 'oddstream.CreateKey': { account_id: 'a', key_hash: 'h', key_prefix: 'p', name: 'n' } },
      { id: 'key' },
    );
    const dying = createMemoryLog({ store, onStep: () => ({ error: new Error('crashed'), committed: true }) });
    const crashed = processorOn(dying);
    await expect(crashed.run(new AbortController().signal)).rejects.toThrow('crashed');
    const running = processorOn(log).run(controller.signal);
    await commands.send(
      { 'oddstream.CreateKey': { account_id: 'a', key_hash: 'h', key_prefix: 'p', name: 'n' } },
      { id: 'key' },
    );
    await commands.send({ 'oddstream.SetPlan': { account_id: 'a', plan: 'growth' } }, { id: 'plan' });
    expect(await model.waitForOutcome('plan', 10_000)).toMatchObject({ accepted: true });
    expect(await model.waitForOutcome('key', 10_000)).toMatchObject({ accepted: true, code: 'ok' });
    expect(model.account('a')).toMatchObject({ plan: 'growth', active_keys: 1 });
    expect(model.keysOf('a')).toHaveLength(1);
    expect(await model.waitForOutcome('never sent', 1)).toBeNull();
    controller.abort();
    await running;
  });

  it('deactivate a revoked key in every read model, and write unreadable commands to dead.letters', async () => {
    const { log, controller, instance } = await setUp();
    const running = processorOn(log).run(controller.signal);
    await log.append('accounts.commands', [{ key: 'x', value: Buffer.from('junk'), timestampMs: NOW }]);
    const { freeKey, model, commands } = instance();
    const { key, outcome } = await freeKey('ip');
    const revoke = { account_id: outcome?.account_id ?? '', key_hash: hashKey(key) };
    const id = await commands.send({ 'oddstream.RevokeKey': revoke });
    expect(await model.waitForOutcome(id, 10_000)).toMatchObject({ accepted: true });
    expect(model.lookupKey(key).status).toBe('inactive');
    const late = instance().model;
    await late.ready();
    expect(late.lookupKey(key).status).toBe('inactive');
    expect(log.all('dead.letters')).toHaveLength(1);
    controller.abort();
    await running;
  });

  it('write all changes of a command or none: one that cannot be written goes to dead.letters, and the state is loaded again', async () => {
    const { log, controller, instance } = await setUp();
    /** Cannot write a key of this name, as if a number did not fit. */
    const narrow: Codec = {
      ...codec,
      encode(kind, value) {
        const state = (value as { state?: { 'oddstream.Key'?: { name: string } } }).state;
        if (state?.['oddstream.Key']?.name === 'does not fit') throw new CodecError('name does not fit');
        return codec.encode(kind, value);
      },
    };
    const { freeKey, model, commands } = instance();
    const account = { account_id: 'a', plan: 'starter' as const, label: '' };
    const created = await commands.send({ 'oddstream.CreateAccount': account });
    const key = (name: string) => {
      const key_hash = hashKey(newRawKey());
      return { 'oddstream.CreateKey': { account_id: 'a', key_hash, key_prefix: 'p', name } };
    };
    // It changes the account first, and then the key.
    const broken = await commands.send(key('does not fit'));
    const next = await commands.send(key('fits'));
    await expect(processorOn(log, narrow).run(controller.signal)).rejects.toBeInstanceOf(RetryableError);
    const restarted = processorOn(log, narrow).run(controller.signal);
    for (const id of [created, next]) expect(await model.waitForOutcome(id, 10_000)).toMatchObject({ code: 'ok' });
    expect((await freeKey('ip')).outcome?.code).toBe('ok');
    expect(await model.waitForOutcome(broken, 0)).toBeNull();
    expect(model.keysOf('a').map(({ name }) => name)).toEqual(['fits']);
    expect(model.account('a')?.active_keys).toBe(1);
    expect(log.all('dead.letters')).toHaveLength(1);
    controller.abort();
    await restarted;
  });

  it('treat a key with an unreadable state as unknown, and serve the others', async () => {
    const { log, controller, instance, metrics } = await setUp();
    const first = new AbortController();
    const running = processorOn(log).run(first.signal);
    const { freeKey, model } = instance();
    const [broken, good] = [await freeKey('one'), await freeKey('two')];
    await log.append('accounts.state', [
      { key: `key:${hashKey(broken.key)}`, value: Buffer.from('junk'), timestampMs: NOW },
    ]);
    await eventually('the broken key to be unknown', async () => model.lookupKey(broken.key).status === 'unknown');
    expect(model.lookupKey(good.key).status).toBe('ok');
    first.abort();
    await running;
    const restarted = processorOn(log).run(controller.signal);
    const late = instance();
    await late.model.ready();
    expect(late.model.lookupKey(broken.key).status).toBe('unknown');
    expect((await late.freeKey('three')).outcome?.accepted).toBe(true);
    expect(await metrics.registry.getSingleMetricAsString('oddstream_unreadable_records_total')).toMatch(
      /topic="accounts.state",process="test"\} 2$/m,
    );
    controller.abort();
    await restarted;
  });
});
