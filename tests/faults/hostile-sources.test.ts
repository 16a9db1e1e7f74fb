import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, expect, it } from 'vitest';
import { openLog } from '../../infra/log/open-log.js';
import { silentLogger } from '../../infra/telemetry/logger.js';
import { startFakeGamma } from '../../ingest/catalog/testing/fake-gamma.js';
import { startFakeNode } from '../../ingest/chain/rpc/fake-node.fixture.js';
import { startFakeRtds } from '../../ingest/oracle/testing/fake-rtds.js';
import { createCodec } from '../../schemas/codec.js';
import { topics } from '../../schemas/topics.js';
import { freePort } from '../support/ports.js';
import { eventually } from '../support/product.js';
import {
  catalogueChanges,
  hostileResponses,
  nodeChanges,
  priceFrames,
  startHostileProxy,
} from './hostile-responses.js';

const EACH_MS = 350;
const LONGEST_MS = 4_000;
const MOST_MEMORY_KB = 700 * 1024;
/** One block per second. */
const FIRST_BLOCK_S = 1_700_000_000;
const dataDir = mkdtempSync(join(tmpdir(), 'oddstream-hostile-'));
const codec = createCodec();
afterAll(() => rmSync(dataDir, { recursive: true, force: true }));

/** Values of all records of a topic that `pick` takes. */
async function recordsOf<T>(
  topic: string,
  pick: (event: ReturnType<typeof codec.decode>) => T | undefined,
): Promise<T[]> {
  const log = await openLog(`lmdb:${join(dataDir, 'log')}`, { logger: silentLogger(), maintenance: false });
  const found: T[] = [];
  try {
    for (const partition of Array.from({ length: await log.partitions(topic) }, (_, i) => i))
      for await (const { records } of log.read({ topic, partition, from: 'earliest', follow: false }))
        for (const { value } of records) {
          const one = value === null ? undefined : pick(codec.decode(value));
          if (one !== undefined) found.push(one);
        }
  } finally {
    await log.close();
  }
  return found;
}

it('ingest survives every hostile response of node, catalog and price feed with a complete log', async () => {
  const node = await startFakeNode({ length: 30, logsAt: (number) => number % 3, startS: FIRST_BLOCK_S });
  const gamma = await startFakeGamma();
  const rtds = await startFakeRtds();
  gamma.tags = [{ id: '1', slug: 'crypto', label: 'Crypto' }];
  gamma.events = [{ id: '7', slug: 'an-event', title: 'An event', markets: [], tags: [] }];
  node.finalize(20);
  const [nodeProxy, gammaProxy] = [await startHostileProxy(node.rpcUrl), await startHostileProxy(gamma.url)];
  const admin = await freePort();
  const child = spawn(process.execPath, [resolve('dist/ingest/main.js')], {
    stdio: ['ignore', 'pipe', 'pipe'],
    env: {
      ...process.env,
      ODDSTREAM_DATA: dataDir,
      LOG_LEVEL: 'error',
      ADMIN_PORT_INGEST: String(admin),
      POLYGON_RPC_URL: nodeProxy.url,
      POLYGON_WS_URL: node.wsUrl,
      CHAIN_START_BLOCK: '1',
      GAMMA_URL: gammaProxy.url,
      RTDS_URL: rtds.url,
    },
  });
  const ended = once(child, 'exit');
  /** The end of its log, for the message of a failure. */
  let output = '';
  for (const stream of [child.stdout, child.stderr])
    stream.on('data', (chunk) => {
      output = (output + String(chunk)).slice(-4_000);
    });
  const memoryKb = () => Number(/VmHWM:\s+(\d+)/.exec(readFileSync(`/proc/${child.pid}/status`, 'utf8'))?.[1]);
  const mine = () => {
    node.announce(node.mine());
    node.finalize(node.blocks.length - 5);
  };
  const miner = setInterval(mine, 400);
  const price = () => rtds.publish('crypto_prices_chainlink', 'btc/usd', { timestamp: Date.now(), value: 100 });
  const pricer = setInterval(price, 500);
  const metric = async (name: string) => {
    const text = await (await fetch(`http://127.0.0.1:${admin}/metrics`)).text();
    return Number(new RegExp(`^oddstream_${name}(?:\\{[^}]*\\})? (\\S+)$`, 'm').exec(text)?.[1] ?? Number.NaN);
  };
  const seenModes = new Set<string>();
  try {
    await eventually('the first final block', async () => (await metric('chain_final_written')) >= 20, 30_000);
    await eventually('the price feed', async () => rtds.clients.length > 0, 20_000);
    const [subscription] = [...(rtds.clients[0]?.subscribed ?? [])];
    const [topic = '', symbol = ''] = subscription?.split(' ') ?? [];
    const alive = (mode: string) =>
      expect([child.exitCode, child.signalCode], `${mode}: ${output}`).toEqual([null, null]);

    /** Waits until the node received a request in this mode, or for a few seconds, because readers pause after errors. */
    const untilRequested = async (mode: string) => {
      const before = nodeProxy.requests();
      const deadline = performance.now() + LONGEST_MS;
      await sleep(EACH_MS / 4);
      while (nodeProxy.requests() === before && performance.now() < deadline) await sleep(20);
      if (nodeProxy.requests() > before) seenModes.add(mode);
      alive(mode);
    };
    const replaceResponses = async () => {
      for (const [mode, response] of hostileResponses) {
        nodeProxy.response = response;
        gammaProxy.response = response;
        await untilRequested(mode);
      }
      nodeProxy.response = null;
      gammaProxy.response = null;
      const catalogue = [...catalogueChanges];
      for (const [i, [mode, change]] of [...nodeChanges].entries()) {
        nodeProxy.change = change;
        const [other, otherChange] = catalogue[i % catalogue.length] ?? ['', null];
        gammaProxy.change = otherChange;
        await untilRequested(`${mode}, ${other}`);
      }
      nodeProxy.change = null;
      gammaProxy.change = null;
    };
    const frames = async () => {
      for (const [mode, frame] of priceFrames(topic, symbol)) {
        for (const client of rtds.clients) client.sendRaw(frame);
        await sleep(EACH_MS);
        alive(mode);
      }
      for (let i = 0; i < 5; i++) {
        for (const client of rtds.clients) client.close();
        await sleep(EACH_MS);
      }
    };
    const sockets = async () => {
      for (const text of [
        'x',
        '[]',
        '{"method":"eth_subscription"}',
        `"${'x'.repeat(9_000_000)}"`,
        '['.repeat(50_000),
      ]) {
        node.raw(text);
        await sleep(EACH_MS);
      }
      for (const head of [null, {}, { number: 'x' }, { ...header(0), timestamp: '0xffffffffff' }, 5]) {
        node.notify('newHeads', head);
        await sleep(EACH_MS);
      }
      for (const blockNumber of [{ toString: 1, valueOf: 1 }, [1], true, '0xffffffffffffff']) {
        node.notify('logs', { blockNumber });
        await sleep(EACH_MS);
      }
      node.cut();
    };
    await Promise.all([replaceResponses(), frames(), sockets()]);
    const target = node.blocks.length;
    await eventually('the blocks of after it', async () => (await metric('chain_final_written')) >= target, 120_000);
    expect(memoryKb()).toBeLessThan(MOST_MEMORY_KB);
    // Modes that a reader waits out hide the next ones from it.
    expect(seenModes.size).toBeGreaterThan(0.8 * (hostileResponses.size + nodeChanges.size));
  } finally {
    clearInterval(miner);
    clearInterval(pricer);
    child.kill('SIGTERM');
    await ended;
    await Promise.all([nodeProxy.stop(), gammaProxy.stop()]);
    await Promise.all([node.close(), gamma.stop(), rtds.stop()]);
  }
  const written = await recordsOf(topics.chainFinal.name, (event) =>
    event.kind === 'block'
      ? [event.value.block_number, event.value.block_hash, event.value.parent_hash, event.value.timestamp_ms]
      : undefined,
  );
  const newest = Number(written.at(-1)?.[0]);
  const expected = node.blocks.filter(({ number, logs }) => number >= 1 && number <= newest && logs > 0);
  const timeMs = (number: number) => (FIRST_BLOCK_S + number) * 1000;
  expect(written).toEqual(expected.map(({ number, hash, parentHash }) => [number, hash, parentHash, timeMs(number)]));
  const ticks = await recordsOf(topics.oracleTicks.name, (event) =>
    event.kind === 'price_tick' ? event.value : undefined,
  );
  expect(ticks.length).toBeGreaterThan(0);
  expect(ticks.filter(({ price }) => price !== 100n * 10n ** 18n)).toEqual([]);
  const tags = await recordsOf(topics.catalog.name, (event) =>
    event.kind === 'catalog_tag' ? event.value.slug : undefined,
  );
  expect(tags).toContain('crypto');
}, 300_000);

function header(number: number): Record<string, string> {
  const hash = `0x${number.toString(16).padStart(64, '7')}`;
  return { number: `0x${number.toString(16)}`, hash, parentHash: hash, timestamp: '0x65000000' };
}
