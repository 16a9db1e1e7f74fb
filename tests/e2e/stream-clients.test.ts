import { join } from 'node:path';
import { afterAll, expect, it } from 'vitest';
import { openLog } from '../../infra/log/open-log.js';
import { silentLogger } from '../../infra/telemetry/logger.js';
import { createCodec } from '../../schemas/codec.js';
import { topics } from '../../schemas/topics.js';
import type { StreamEvent } from '../../schemas/types.gen.js';
import { orderFilledLog, startOnFakeUpstreams, word } from '../support/fake-upstreams.js';
import { eventually, type Product, processNames, untilUp } from '../support/product.js';
import { whyNoPython } from '../support/python.js';
import { startPythonClient, stopPythonClients } from '../support/python-client.js';

const TOKENS = ['7001', '7002', '7003'] as const;
const BLOCK_S = 2;
const NOTICE_MS = 10_000;
type Frame = Record<string, unknown> & { type: string; seq?: number };
afterAll(stopPythonClients);

async function streamEvents(product: Product): Promise<StreamEvent[]> {
  const codec = createCodec();
  const log = await openLog(`lmdb:${join(product.dataDir, 'log')}`, { logger: silentLogger(), maintenance: false });
  const events: StreamEvent[] = [];
  try {
    for await (const batch of log.read({
      topic: topics.streamEvents.name,
      partition: 0,
      from: 'earliest',
      follow: false,
    })) {
      for (const { value } of batch.records) {
        const event = value === null ? null : codec.decode(value);
        if (event?.kind === 'stream_event') events.push(event.value);
      }
    }
  } finally {
    await log.close();
  }
  return events;
}

it('independent Python clients get exactly the log under kills of every process, dead sources, slow reading and updates', async () => {
  const missing = await whyNoPython('the Python clients');
  if (missing !== null) return expect(missing).toMatch(/Python/);
  const length = 20;
  const { product, node, rtds, gamma, pause, stop } = await startOnFakeUpstreams({
    length,
    logsOf: (block) => TOKENS.map((token, n) => orderFilledLog(word(block * 10 + n), BigInt(token))),
    startS: Math.floor(Date.now() / 1000) - length * BLOCK_S,
    blockS: BLOCK_S,
    mineEveryMs: 500,
    events: [],
  });
  try {
    await untilUp(product);
    await eventually('events', async () => (await streamEvents(product)).length > 0);
    const address = `${product.socket}?key=${product.key()}&notices=1&heartbeat_interval=5`;
    const subscribe = {
      action: 'subscribe',
      type: 'trades',
      on_slow: 'skip',
      end_of_block: true,
      filters: { tokens: [TOKENS[0]], snapshot_count: 0 },
    };
    const client = await startPythonClient('socket_client.py', address, JSON.stringify(subscribe));
    const reference = await startPythonClient('reference_client.py', product.socket, product.key());
    const frames = () => client.lines.map(({ frame }) => frame as Frame);
    const of = (type: string) => frames().filter((frame) => frame.type === type);
    const referenceTrades = () => reference.lines.filter(({ type }) => type === 'trade');
    await eventually(
      'events of both clients',
      async () => of('trade').length > 3 && referenceTrades().length > 3,
    ).catch((error: unknown) => {
      throw new Error(
        `${String(error)} ${client.errors()} ${reference.errors()} ${JSON.stringify(reference.lines.at(-1))}`,
      );
    });

    client.send({ update: { add: { tokens: [TOKENS[1]] } } });
    await eventually('the update', async () => of('updated').length === 1);
    client.send({ pause: 3 });
    for (const name of processNames) {
      const pid = await eventually(`${name} to run`, async () => product.pid(name));
      process.kill(pid, 'SIGKILL');
      const before = of('trade').length;
      await eventually(`a new process of ${name}`, async () => {
        const now = product.pid(name);
        return now !== null && now !== pid;
      });
      await eventually(`events after the kill of ${name}`, async () => of('trade').length > before + 2, 90_000);
    }
    client.send({ update: { add: { tokens: [TOKENS[2]] }, remove: { tokens: [TOKENS[0]] } } });
    await eventually('the second update', async () => of('updated').length === 2).catch((error: unknown) => {
      throw new Error(`${String(error)} ${client.errors()} ${JSON.stringify([of('error'), of('subscribed')])}`);
    });
    const updatedAt = of('updated').at(-1)?.seq ?? 0;
    const endsWithEvents = () => of('end_of_block').filter(({ events }) => events !== null);
    await eventually('enough events, also after the update', async () => {
      const isEnough = of('trade').length > 50 && endsWithEvents().length > 10 && referenceTrades().length > 30;
      return isEnough && (of('trade').at(-1)?.seq ?? 0) > updatedAt + 10;
    });

    // Each source ends; its notice arrives in time.
    const stale = (source: string, afterMs: number) =>
      client.lines.find(({ at, frame }) => {
        const { code, source: of } = frame as Frame;
        return (at as number) >= afterMs && code === 'source_stale' && of === source;
      });
    pause();
    for (const [source, end] of [
      ['catalog', () => gamma.stop()],
      ['oracle', () => rtds.stop()],
      ['chain', () => node.close()],
    ] as const) {
      const killedMs = Date.now();
      void end();
      const notice = await eventually(`the notice of ${source}`, async () => stale(source, killedMs), 20_000);
      expect((notice.at as number) - killedMs, source).toBeLessThan(NOTICE_MS);
    }
    // The API may still be restarting.
    const sources = await eventually(
      'the status',
      async () => ((await product.get('/v1/status')).body as { sources?: Frame[] }).sources,
    );
    expect(sources.filter(({ stale }) => stale === null).map(({ source }) => source)).toEqual([]);

    const events = await streamEvents(product);
    const head = events.at(-1)?.seq ?? 0;
    await eventually('the position of the last event', async () => (of('heartbeat').at(-1)?.seq ?? 0) >= head, 20_000);
    const segments = [
      { after: 0, tokens: [TOKENS[0]] as string[] },
      { after: of('updated')[0]?.seq ?? 0, tokens: [TOKENS[0], TOKENS[1]] as string[] },
      { after: of('updated')[1]?.seq ?? 0, tokens: [TOKENS[1], TOKENS[2]] as string[] },
    ];
    const received = frames().flatMap(({ type, seq }) => (type === 'trade' ? [seq as number] : []));
    const expected = events.filter(
      ({ kind, seq, tokens }) =>
        kind === 'trade' &&
        seq >= (received[0] ?? 0) &&
        segments.findLast(({ after }) => after < seq)?.tokens.some((token) => tokens.includes(token)) === true,
    );
    expect(of('skipped')).toEqual([]);
    expect(received).toEqual(expected.map(({ seq }) => seq));
    // Every complete block has one match per token of the filter.
    for (const { events } of endsWithEvents()) expect([1, 2]).toContain(events);

    const trades = referenceTrades().map(({ tx_hash }) => tx_hash as string);
    const known = new Set(events.flatMap(({ kind, tx_hash }) => (kind === 'trade' ? [tx_hash] : [])));
    expect(trades.filter((hash) => !known.has(hash))).toEqual([]);
    // It reports connections that fail while the gateway restarts; nothing else is an error to it.
    const errors = reference.lines.flatMap(({ error }) => (error === undefined ? [] : [error as string]));
    expect(errors.filter((error) => !error.includes('reconnect_failed'))).toEqual([]);
  } finally {
    await stop();
  }
}, 400_000);
