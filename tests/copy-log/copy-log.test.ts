import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it, onTestFinished } from 'vitest';
import {
  type CopySource,
  type CopyTarget,
  copyTopic,
  endsOf,
  requireCopyable,
  requireUnchanged,
} from '../../infra/copy-log/copy-topic.js';
import { FatalError, RetryableError } from '../../infra/errors.js';
import { openLog } from '../../infra/log/open-log.js';
import { partitionForKey } from '../../infra/log/partitioner.js';
import { createMemoryLog } from '../../infra/log/testing.js';
import { silentLogger } from '../../infra/telemetry/logger.js';
import { assertSingleSourceMode } from '../../ingest/shared/single-source-mode.js';
import { createSourceStatus } from '../../ingest/shared/source-status.js';
import { createCodec } from '../../schemas/codec.js';
import { committedSchemaIds, type SchemaIds } from '../../schemas/registry.js';
import { allTopics, topics, topicsOnOneMachine } from '../../schemas/topics.js';
import { createTestTick, createTestTrade } from '../processors/events.js';

const { oracleTicks, chainFinal, socialPosts } = topics;
const codec = createCodec();
/** Ids of a registry that gave other numbers to the same schemas. */
const committed = committedSchemaIds();
const shifted: SchemaIds = {
  idFor: (kind) => committed.idFor(kind) + 5_000,
  schemaFor(id) {
    const found = committed.schemaFor(id - 5_000);
    return found && { ...found, id };
  },
};
const feeds = ['BTC/USD', 'ETH/USD', 'SOL/USD', 'XRP/USD', 'DOGE/USD'];
const tickOf = (n: number) => createTestTick(feeds[n % feeds.length] ?? '', 1_790_000_000 + n, BigInt(100 + n));

async function logWith(specs = allTopics) {
  const log = createMemoryLog();
  await log.ensureTopics(specs);
  return log;
}
const on = { progress: () => undefined, unreadable: () => undefined };

describe('copyTopic', () => {
  it('gives every record to the partition of its key in the schema ids of the target, each feed in its order', async () => {
    const source: CopySource & CopyTarget = { log: await logWith(topicsOnOneMachine), codec };
    const ticks = Array.from({ length: 500 }, (_, n) => tickOf(n));
    const records = ticks.map((tick) => ({
      key: tick.feed,
      value: codec.encode('price_tick', tick),
      timestampMs: tick.timestamp_ms,
    }));
    await source.log.append(oracleTicks.name, records);
    const targetLog = await logWith();
    const target = { log: targetLog, codec: createCodec(shifted) };
    expect(await copyTopic(oracleTicks, source, target, on)).toEqual({ copied: 500, unreadable: 0 });

    const found: unknown[] = [];
    for (let partition = 0; partition < oracleTicks.partitions; partition++)
      for await (const batch of targetLog.read({ topic: oracleTicks.name, partition, from: 'earliest', follow: false }))
        for (const { key, value, timestampMs } of batch.records) {
          expect(partitionForKey(Buffer.from(key), oracleTicks.partitions)).toBe(partition);
          const event = target.codec.decode(value as Buffer);
          expect(event).toMatchObject({ kind: 'price_tick', value: { feed: key, timestamp_ms: timestampMs } });
          found.push(event.value);
        }
    const byFeed = (values: readonly unknown[]) =>
      feeds.map((feed) => values.filter((value) => (value as { feed: string }).feed === feed));
    expect(byFeed(found)).toEqual(byFeed(ticks));
  });

  it('keeps tombstones, and leaves out records that cannot be decoded, with the reason of each', async () => {
    const source = { log: await logWith(), codec };
    await source.log.append(socialPosts.name, [
      { key: 'a', value: null, timestampMs: 1 },
      { key: 'b', value: Buffer.from('junk'), timestampMs: 2 },
    ]);
    const targetLog = await logWith();
    const reasons: string[] = [];
    const target = { log: targetLog, codec };
    const unreadable = (partition: number, { offset }: { offset: number }, reason: string) =>
      reasons.push(`${partition}/${offset}: ${reason}`);
    expect(await copyTopic(socialPosts, source, target, { ...on, unreadable })).toEqual({ copied: 1, unreadable: 1 });
    expect(reasons).toEqual(['0/1: Not in the Confluent wire format']);
    expect(await targetLog.lastRecord(socialPosts.name, 0)).toMatchObject({ key: 'a', value: null, timestampMs: 1 });
  });
});

describe('requireCopyable', () => {
  const record = { key: 'k', value: Buffer.from('v'), timestampMs: Date.now() };

  it('rejects a target with records, and a source without its oldest ones, but of a compacted topic neither', async () => {
    const source = { log: await logWith(), codec };
    const target = { log: await logWith(), codec };
    for (const { name } of [chainFinal, socialPosts]) await target.log.append(name, [record]);
    await expect(requireCopyable(chainFinal, source, target)).rejects.toThrow(FatalError);
    await expect(requireCopyable(chainFinal, source, target)).rejects.toThrow(/chain\.final of the target has records/);
    await requireCopyable(socialPosts, source, target);

    const empty = { log: await logWith(), codec };
    await source.log.append(chainFinal.name, [record, record]);
    await requireCopyable(chainFinal, source, empty);
    await source.log.deleteBefore(chainFinal.name, 0, 1);
    await expect(requireCopyable(chainFinal, source, empty)).rejects.toThrow(/begins at 1.*RAW_HISTORY_DAYS/);
  });
});

it('requireUnchanged rejects a copy during which a process appended records', async () => {
  const log = await logWith();
  const watched = [topics.usage, topics.accountsCommands];
  const ends = await endsOf(watched, { log, codec });
  await log.append(socialPosts.name, [{ key: 'a', value: null, timestampMs: 1 }]);
  await expect(requireUnchanged(ends, watched, { log, codec })).resolves.toBeUndefined();
  await log.append(topics.usage.name, [{ key: 'a', value: null, timestampMs: 1 }]);
  await expect(requireUnchanged(ends, watched, { log, codec })).rejects.toThrow(RetryableError);
});

describe('npm run copy-log', () => {
  const directory = mkdtempSync(join(tmpdir(), 'oddstream-copy-'));
  afterAll(() => rmSync(directory, { recursive: true, force: true }));
  const program = join(import.meta.dirname, '../../dist/infra/copy-log/main.js');
  const urlOf = (name: string) => `lmdb:${join(directory, name)}`;
  const run = (...args: string[]) => runWith({}, ...args);
  const runWith = (settings: Readonly<Record<string, string>>, ...args: string[]) =>
    new Promise<{ code: unknown; out: string; err: string }>((resolve) => {
      const env = { PATH: process.env.PATH, LOG_URL: urlOf('from'), ...settings };
      execFile(process.execPath, [program, ...args], { env }, (error, out, err) =>
        resolve({ code: error?.code ?? 0, out, err }),
      );
    });

  it('copies the source topics to a new log once, and says why not twice', async () => {
    const from = await openLog(urlOf('from'), { logger: silentLogger() });
    await from.ensureTopics(topicsOnOneMachine);
    const trade = createTestTrade(7, 1);
    const value = codec.encode('trade', trade);
    await from.append(chainFinal.name, [{ key: '7', value, timestampMs: trade.timestamp_ms }]);
    await from.append(topics.chainHead.name, [{ key: '7', value, timestampMs: trade.timestamp_ms }]);
    await createSourceStatus({ log: from, codec, logger: silentLogger(), source: 'chain', mode: 'recorded' }).close();
    const stream = {
      ...{ updated_at_ms: 1, epoch: 'a', last_event_ms: null, settlement_missing_full: 0, settlement_missing_title: 0 },
      ...{ status_missing_full: 0, status_missing_title: 0 },
      ...{ last_seq: null, last_block: null, last_chain_event_ms: null, last_tick_ms: null },
    };
    await from.append(topics.sources.name, [
      { key: 'stream', value: codec.encode('stream_status', stream), timestampMs: 1 },
    ]);
    await from.close();

    expect(await run('--to', urlOf('to'))).toEqual({
      code: 0,
      err: '',
      out: [
        'sources: 1 record copied',
        'chain.final: 1 record copied',
        ...['oracle.ticks', 'catalog', 'accounts.state', 'usage.totals', 'social.posts'].map(
          (name) => `${name}: 0 records copied`,
        ),
        '',
      ].join('\n'),
    });
    const to = await openLog(urlOf('to'), { logger: silentLogger() });
    expect(await to.lastRecord(chainFinal.name, 0)).toEqual({
      offset: 0,
      key: '7',
      value,
      timestampMs: trade.timestamp_ms,
    });
    expect(await to.lastRecord(topics.chainHead.name, 0)).toBeNull();
    // The stream of the copy has another epoch; ingest recognises the kind of input by the status of its sources.
    expect(await to.lastRecord(topics.sources.name, 0)).toMatchObject({ key: 'chain' });
    const guard = (mode: 'live' | 'recorded') =>
      assertSingleSourceMode({ log: to, codec, mode, onUnreadable: () => expect.unreachable() });
    await expect(guard('live')).rejects.toThrow(/contains recorded input and cannot be continued with live input/);
    expect([...(await guard('recorded')).keys()]).toEqual(['chain']);
    await to.close();

    const again = await run('--to', urlOf('to'));
    expect(again).toMatchObject({ code: 78, out: '' });
    expect(again.err).toMatch(/^chain\.final of the target has records/);
    expect(await run('--to', urlOf('to'), 'accounts.state')).toMatchObject({ code: 0 });
    expect(await run('--to', urlOf('from'))).toMatchObject({ code: 64 });
    expect(await run('--to', 'redis://x')).toMatchObject({ code: 78 });

    const log = await openLog(urlOf('to'), { logger: silentLogger() });
    const at_ms = Date.now();
    const member = { role: 'ingest', member: 'host:1', state: 'alive', at_ms } as const;
    await log.append(topics.members.name, [
      { key: 'ingest/host:1', value: codec.encode('member', member), timestampMs: at_ms },
    ]);
    await log.close();
    const running = await run('--to', urlOf('to'), 'accounts.state');
    expect(running).toMatchObject({ code: 75, out: '' });
    expect(running.err).toMatch(/^Stop all processes first.* ingest of lmdb:.*: host:1/);
  });

  it('takes the user and password of the target registry from the environment, and not from its URL', async () => {
    const seen: unknown[] = [];
    const server = createServer(({ headers }, response) => {
      seen.push(headers.authorization);
      response.writeHead(401).end();
    }).listen(0, '127.0.0.1');
    onTestFinished(() => void server.close());
    await once(server, 'listening');
    const host = `127.0.0.1:${(server.address() as AddressInfo).port}`;
    const credentials = { COPY_LOG_REGISTRY_USER: 'me', COPY_LOG_REGISTRY_PASSWORD: 'p4ss' };
    const target = ['--to', urlOf('registered'), '--to-registry'];

    const inUrl = await run(...target, `http://me:p4ss@${host}`);
    expect(inUrl).toMatchObject({ code: 64, err: expect.stringContaining('set COPY_LOG_REGISTRY_USER') });
    expect(inUrl.err).not.toContain('p4ss');
    expect(seen).toEqual([]);

    const rejected = await runWith(credentials, ...target, `http://${host}`);
    expect(rejected).toMatchObject({ code: 78, err: expect.stringContaining('COPY_LOG_REGISTRY_USER') });
    expect([...new Set(seen)]).toEqual([`Basic ${Buffer.from('me:p4ss').toString('base64')}`]);
  });
});
