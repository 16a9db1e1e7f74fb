import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { silentLogger } from '../../../infra/telemetry/logger.js';
import { createMetrics } from '../../../infra/telemetry/metrics.js';
import type { OracleLiveEvent, OraclePrice } from '../source.js';
import { type FakeRtds, startFakeRtds } from '../testing/fake-rtds.js';
import { createRtdsSource, type RtdsTimes } from './rtds-source.js';
import { allSubscriptions } from './subscriptions.js';

const spot = 'crypto_prices_chainlink';
const twap = 'crypto_prices_twap_sixty';
const subscriptions = [
  { topic: spot, symbol: 'btc/usd' },
  { topic: twap, symbol: 'btc/usd' },
];
const served = 'crypto_prices_chainlink crypto_prices_twap_thirty crypto_prices_twap_sixty'.split(' ');
const symbols = 'btc/usd eth/usd sol/usd bnb/usd xrp/usd doge/usd hype/usd'.split(' ');
const longTimes: RtdsTimes = {
  pingMs: 20,
  staleMs: 60_000,
  openMs: 5000,
  recycleMs: 600_000,
  backoffMs: 5,
  maxBackoffMs: 20,
};
const t0 = Date.UTC(2024, 10, 1, 12);

let server: FakeRtds;
let stop: AbortController;
let prices: OraclePrice[];
let connected: boolean[];
let rejected: string[];
let running: Promise<void>;

function createSource(times: Partial<RtdsTimes>, requested = subscriptions) {
  const metrics = createMetrics({ process: 'test', defaults: false });
  const source = createRtdsSource({
    url: server.url,
    logger: silentLogger(),
    metrics,
    onRejected: (reason) => rejected.push(reason),
    subscriptions: requested,
    times: { ...longTimes, ...times },
    random: () => 0.5,
  });
  return { metrics, source };
}

function start(times: Partial<RtdsTimes> = {}, requested = subscriptions) {
  const { metrics, source } = createSource(times, requested);
  running = (async () => {
    for await (const event of source.live(new Map(), stop.signal)) {
      if (event.type === 'prices') prices.push(...event.prices);
      else connected.push(event.connected);
    }
  })();
  return metrics;
}
const bothSubscribed = () =>
  vi.waitFor(() => {
    expect(server.clients).toHaveLength(2);
    for (const client of server.clients) expect(client.subscribed.size).toBe(2);
  });
const seconds = () => new Set(prices.map((price) => (price.timestampMs - t0) / 1000));

beforeEach(async () => {
  server = await startFakeRtds();
  stop = new AbortController();
  prices = [];
  connected = [];
  rejected = [];
});
afterEach(async () => {
  stop.abort();
  await running;
  await server.stop();
});

describe('createRtdsSource', () => {
  it('delivers updates of two connections and keeps both alive with text pings', async () => {
    start();
    await bothSubscribed();
    server.publish(spot, 'btc/usd', { timestamp: t0, value: 65000.5 });
    await vi.waitFor(() => expect(prices).toHaveLength(2));
    expect(prices.map(({ feed, windowS, priceE18 }) => [feed, windowS, priceE18])).toEqual([
      ['BTC/USD', null, 65000500000000000000000n],
      ['BTC/USD', null, 65000500000000000000000n],
    ]);
    await vi.waitFor(() => {
      for (const client of server.clients) expect(client.pings()).toBeGreaterThan(1);
    });
    expect(connected.at(-1)).toBe(true);
    expect(rejected).toEqual([]);
  });

  it('delivers the prices that wait for the reader as one batch, those before a lost connection as another', async () => {
    const { metrics, source } = createSource({ backoffMs: 60_000, maxBackoffMs: 60_000 });
    const events = source.live(new Map(), stop.signal)[Symbol.asyncIterator]();
    const nextPrices = async () => {
      for (;;) {
        const { value } = (await events.next()) as { value: OracleLiveEvent };
        if (value.type === 'prices') return value.prices.map((price) => (price.timestampMs - t0) / 1000);
        connected.push(value.connected);
      }
    };
    const publish = (from: number, to: number) => {
      for (let n = from; n < to; n++) server.publish(spot, 'btc/usd', { timestamp: t0 + n * 1000, value: 1 });
    };
    const metric = (line: RegExp) => vi.waitFor(async () => expect(await metrics.registry.metrics()).toMatch(line));
    running = events.next().then(() => undefined);
    await bothSubscribed();
    await running;
    publish(0, 3);
    await metric(/rtds_frames_total\{kind="update".*\} 6$/m);
    server.clients[0]?.close();
    await metric(/rtds_connections_open\{.*\} 1$/m);
    publish(3, 5);
    await metric(/rtds_frames_total\{kind="update".*\} 8$/m);
    expect((await nextPrices()).toSorted()).toEqual([0, 0, 1, 1, 2, 2]);
    expect(await nextPrices()).toEqual([3, 4]);
    await events.return?.();
  });

  it('subscribes to spot and both TWAPs of the seven assets, in the accepted filter form', async () => {
    start({}, allSubscriptions.slice());
    const expected = served.flatMap((topic) => symbols.map((symbol) => `${topic} ${symbol}`)).sort();
    await vi.waitFor(() => {
      expect(server.clients).toHaveLength(2);
      for (const client of server.clients) expect([...client.subscribed].sort()).toEqual(expected);
    });
  });

  it('delivers the dump of a subscription', async () => {
    server.setDump(spot, 'btc/usd', [
      { timestamp: t0 - 2000, value: 1 },
      { timestamp: t0 - 1000, value: 2 },
    ]);
    start();
    await vi.waitFor(() => expect(prices).toHaveLength(4));
    expect(seconds()).toEqual(new Set([-2, -1]));
  });

  it('subscribes again when one subscription is silent, and backfills from the dump', async () => {
    start({ staleMs: 400 });
    await bothSubscribed();
    server.setDump(twap, 'btc/usd', [{ timestamp: t0 + 5000, value: 5 }]);
    const ticker = setInterval(() => server.publish(spot, 'btc/usd', { timestamp: t0, value: 1 }), 20);
    try {
      await vi.waitFor(() => expect(prices.some((price) => price.windowS === 60)).toBe(true), { timeout: 15_000 });
      expect(server.allClients).toHaveLength(2);
      expect(server.allClients.some((client) => (client.subscribeCounts.get(`${twap} btc/usd`) ?? 0) > 1)).toBe(true);
      for (const client of server.allClients) expect(client.subscribeCounts.get(`${spot} btc/usd`)).toBe(1);
    } finally {
      clearInterval(ticker);
    }
  });

  it('closes a connection that stalls while its pings are answered; the other loses nothing', async () => {
    start({ staleMs: 400 });
    await bothSubscribed();
    const stalled = server.clients[0];
    stalled?.stall();
    let second = 0;
    const ticker = setInterval(() => {
      for (const topic of [spot, twap]) server.publish(topic, 'btc/usd', { timestamp: t0 + second * 1000, value: 1 });
      second++;
    }, 20);
    try {
      await vi.waitFor(() => expect(server.allClients.length).toBeGreaterThan(2), { timeout: 15_000 });
      await bothSubscribed();
      expect(server.clients).not.toContain(stalled);
      expect(stalled?.pings()).toBeGreaterThan(0);
    } finally {
      clearInterval(ticker);
    }
    const sent = second;
    await vi.waitFor(() => expect(seconds().size).toBe(sent));
    expect(connected).not.toContain(false);
  });

  it('reconnects after the service closes, rejects and recovers', async () => {
    start();
    await bothSubscribed();
    server.rejectConnections(true);
    for (const client of [...server.clients]) client.close();
    await vi.waitFor(() => expect(connected.at(-1)).toBe(false));
    server.rejectConnections(false);
    await bothSubscribed();
    server.publish(spot, 'btc/usd', { timestamp: t0 + 1000, value: 1 });
    await vi.waitFor(() => expect(seconds()).toEqual(new Set([1])));
    expect(connected.at(-1)).toBe(true);
  });

  it('renews its connections on schedule, never both at once', async () => {
    start({ recycleMs: 800 });
    await vi.waitFor(() => expect(server.allClients.length).toBeGreaterThan(5), { timeout: 15_000 });
    await vi.waitFor(() => expect(connected.filter((state) => state).length).toBeGreaterThan(3));
    expect(connected.slice(1)).not.toContain(false);
  });

  it('reports one fault per frame, and continues after one nested too deeply', async () => {
    start();
    await bothSubscribed();
    const [client] = server.clients;
    client?.sendRaw(`{"statusCode":400,"body":${'['.repeat(100_000)}${']'.repeat(100_000)}}`);
    const rows = [{ timestamp: t0, value: 1 }, { timestamp: -1 }, ...Array.from({ length: 20_000 }, () => 0)];
    client?.sendRaw(JSON.stringify({ topic: spot, type: 'subscribe', payload: { symbol: 'btc/usd', data: rows } }));
    await vi.waitFor(() => expect(prices).toHaveLength(1));
    expect(rejected).toEqual([
      'No topic: 400',
      '20001 faults: timestamp -1 is not in milliseconds of this era; A row that is not an object',
    ]);
    expect(server.allClients).toHaveLength(2);
  });

  it('counts unreadable frames and continues', async () => {
    const metrics = start();
    await bothSubscribed();
    const [client] = server.clients;
    for (const junk of ['{"topic":', '[]', 'PONG', '', Buffer.from([1, 2, 3])]) client?.sendRaw(junk);
    client?.sendRaw(`{"topic":"${spot}","type":"update","payload":{"symbol":"btc/usd","timestamp":"?","value":1}}`);
    server.publish(spot, 'btc/usd', { timestamp: t0, value: 1 });
    await vi.waitFor(() => expect(prices).toHaveLength(2));
    expect(rejected).toEqual(['Not JSON', 'Not a JSON object', 'A binary frame', 'timestamp is not an integer']);
    expect(await metrics.registry.metrics()).toMatch(/oddstream_rtds_frames_total\{kind="bad".*\} 4/);
  });
});
