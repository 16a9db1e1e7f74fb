import { execFile } from 'node:child_process';
import { statSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { whyNoCurl } from '../support/curl.js';
import { connectFrames } from '../support/frames.js';
import { eventually, type Product, processNames, startProduct, untilUp } from '../support/product.js';
import { describeDocuments } from './documents-suite.js';

const run = promisify(execFile);
/** The recorded day has gaps: of trades up to 136 s, of ticks up to 387 s. */
const NEXT_TRADE_MS = 180_000;
const NEXT_TICK_MS = 420_000;
let product: Product;
type Body = Record<string, unknown>;

beforeAll(async () => {
  product = await startProduct();
  await untilUp(product);
});
afterAll(async () => {
  await product.dispose();
});

describe('npm start on recorded input', () => {
  it('prints the addresses, and that the data is recorded and shifted', () => {
    const text = product.output();
    for (const part of [product.api, `${product.api}/docs`, product.socket, product.clickhouse, product.key()])
      expect(text).toContain(part);
    expect(text).toMatch(/[Rr]ecorded/);
    expect(text).toMatch(/shifted by \d+ whole days/);
  });

  it('stores the ready key in a file that only its owner can read', () => {
    expect(statSync(join(product.dataDir, 'dev-key')).mode & 0o777).toBe(0o600);
    expect(product.key()).toMatch(/^odds_live_[0-9a-f]{32}$/);
  });

  const printed = () =>
    product
      .output()
      .split('\n')
      .map((line) => line.trim());

  it.skipIf(whyNoCurl() !== null)(
    'prints example requests that succeed when pasted',
    async () => {
      const curls = printed().filter((line) => line.startsWith('curl -s '));
      expect(curls.length).toBeGreaterThanOrEqual(3);
      await eventually(
        'fills for the printed query',
        async () => Number((await product.sql<{ n: string }>('SELECT count() AS n FROM fills'))[0]?.n) > 0,
      );
      for (const command of curls) {
        const stdout = await eventually(command, async () => {
          const response = (await run('sh', ['-c', command])).stdout;
          return response.includes('are still loading') ? false : response;
        });
        expect(stdout.trim().length).toBeGreaterThan(2);
        expect(stdout, product.output().slice(-3000)).not.toMatch(/"error"|Exception/);
      }
    },
    NEXT_TRADE_MS,
  );

  it(
    'prints a subscription that works when pasted',
    async () => {
      const watch = printed().find((line) => line.startsWith('node infra/up/watch.mjs ')) as string;
      const { stdout } = await run('sh', ['-c', `${watch} --count 1`]);
      expect(stdout).toContain('"type":"subscribed"');
      expect(stdout).toMatch(/"type":"(settlement|trade|status_update)"/);
    },
    NEXT_TRADE_MS,
  );

  it('serves /v1/status to the ready key', async () => {
    const { status, body } = await product.get('/v1/status');
    expect(status).toBe(200);
    const sources = (body as { sources: { source: string; mode: string; shift_days: number | null }[] }).sources;
    expect(sources.map((entry) => entry.source).sort()).toEqual(['catalog', 'chain', 'oracle', 'orderbook']);
    expect(sources.every((entry) => entry.mode === 'recorded')).toBe(true);
    expect(sources.find((entry) => entry.source === 'chain')?.shift_days).toBeGreaterThan(0);
  });

  it('counts all open sockets in /v1/status', async () => {
    const sockets = () =>
      product.get('/v1/status').then(({ body }) => {
        const { ws_subscribers, firehose_connections } = body as Body;
        return [ws_subscribers, firehose_connections].join();
      });
    const seen = (text: string) => eventually(`${text} in the status`, async () => (await sockets()) === text);
    const [filtered, whole] = [
      await connectFrames(`${product.socket}?key=${product.key()}`),
      await connectFrames(`${product.socket}?key=${product.key()}`),
    ];
    filtered.send({ action: 'subscribe', type: 'trades', filters: { min_size: 1_000_000 } });
    whole.send({ action: 'subscribe', type: 'blocks' });
    await seen('2,1');
    for (const client of [filtered, whole]) client.close();
    await seen('0,0');
  });

  it('serves the recorded posts to searches and timelines, and says that they are stored', async () => {
    await eventually('posts in the table', async () => {
      const [row] = await product.sql<{ n: string }>('SELECT count() AS n FROM social_posts');
      return Number(row?.n) === 15;
    });
    const get = async (path: string) => {
      // One request per second and key.
      await new Promise((resolve) => setTimeout(resolve, 1_100));
      const { status, body } = await product.get(path);
      expect(status, JSON.stringify(body)).toBe(200);
      return body as { source: string; result_count: number; tweets: { text: string; created_at: string }[] };
    };
    const found = await get(
      `/v2/x/search?q=${encodeURIComponent('tweepy #python -from:PTCruiserBot until:2019-07-13')}`,
    );
    expect(found).toMatchObject({ source: 'stored', result_count: 1 });
    expect(found.tweets[0]?.created_at).toBe('Fri Jul 12 15:15:01 +0000 2019');
    const liked = await get(
      `/v2/x/search?q=${encodeURIComponent('"synthetic sample" $BTC min_faves:40 filter:media')}`,
    );
    expect(liked.tweets.map(({ text }) => text)).toEqual([expect.stringContaining('volume by the hour')]);
    const timeline = await get('/v2/x/user/ptcruiserbot/tweets?max=1');
    expect(timeline).toMatchObject({ handle: 'ptcruiserbot', source: 'stored', result_count: 1 });
  });

  it('serves candles, ticks, the window price, active markets, series and markets', async () => {
    const candles = (await eventually('candles', async () => {
      const { body } = await product.get('/v1/crypto/candles?symbol=BTC');
      const list = (body as { candles: Body[] }).candles;
      return list.length > 5 && list;
    })) as { time: number; open: number; high: number; low: number; close: number }[];
    for (const candle of candles) {
      expect(candle.time % 300).toBe(0);
      expect(candle.high).toBeGreaterThanOrEqual(Math.max(candle.open, candle.close));
      expect(candle.low).toBeLessThanOrEqual(Math.min(candle.open, candle.close));
    }
    // The recording has gaps of up to six minutes; an hour is long enough.
    await eventually('an hour of ticks', async () => {
      const now = Date.now();
      const { body } = await product.get(`/v1/crypto/ticks?symbol=BTC&from=${now - 3_600_000}&to=${now}`);
      return (body as { count: number }).count > 1500;
    });
    const windowNow = () => Math.floor(Date.now() / 300_000) * 300;
    const windowBefore = windowNow();
    const active = (await product.get('/v1/crypto/active')).body as {
      windowStart: number;
      markets: { id: string; slug: string }[];
    };
    expect([windowBefore, windowNow()]).toContain(active.windowStart);
    for (const { id } of active.markets) expect(id).toMatch(/^\d+$/);
    expect(active.markets.map((market) => market.slug)).toContain(`btc-updown-5m-${active.windowStart}`);
    const price = (await product.get(`/v1/crypto/price?symbol=BTC&window=${active.windowStart - 600}`)).body as Body;
    expect(price.openPrice).toBeGreaterThan(1000);
    expect(price.closePrice).toBeGreaterThan(1000);
    const event = await product.get(`/v1/event/btc-updown-5m-${active.windowStart}`);
    expect(event.status).toBe(200);
    expect((event.body as { markets: Body[] }).markets[0]).toMatchObject({ outcomes: ['Up', 'Down'] });
    expect((await product.get('/v1/crypto/series')).status).toBe(200);
    expect((await product.get('/v1/crypto/markets')).status).toBe(200);
    expect((await product.get('/docs/')).status).toBe(200);
    const openapi = (await product.get('/openapi.json')).body as { paths: Body };
    expect(Object.keys(openapi.paths)).toEqual(
      expect.arrayContaining(['/v3/trades', '/v1/crypto/candles', '/v1/event/{slug}']),
    );
  });

  it(
    'serves live trades with their markets',
    async () => {
      const trades = await eventually(
        'live trades with titles',
        async () => {
          const { body } = await product.get('/v3/trades?limit=20');
          const rows = (body as { trades: { market: string | null; timestamp: string }[] }).trades;
          return (
            rows.length > 0 &&
            rows.some((row) => row.market !== null && Number(row.timestamp) > Date.now() / 1000 - 600) &&
            rows
          );
        },
        NEXT_TRADE_MS,
      );
      expect(trades.length).toBeGreaterThan(0);
    },
    NEXT_TRADE_MS + 10_000,
  );

  it(
    'streams settlement, status_update and trade of one transaction with market titles, ticks and blocks',
    async () => {
      const client = await connectFrames(`${product.socket}?key=${product.key()}`);
      try {
        client.send({ action: 'subscribe', type: 'trades', filters: { snapshot_count: 0 } });
        client.send({ action: 'subscribe', type: 'chainlink' });
        client.send({ action: 'subscribe', type: 'blocks', filters: { snapshot_count: 0 } });
        const settlement = await client.until((frame) => frame.type === 'settlement', NEXT_TRADE_MS);
        const tx = settlement.data?.tx_hash;
        const update = await client
          .until((frame) => frame.type === 'status_update' && frame.data?.tx_hash === tx, 30_000)
          .catch(async () => {
            // A few per mille never confirm: use another one.
            return client.until((frame) => frame.type === 'status_update', NEXT_TRADE_MS);
          });
        expect(update.data?.latency_ms).toBeGreaterThan(0);
        const trade = await client.until(
          (frame) => frame.type === 'trade' && frame.data?.tx_hash === update.data?.tx_hash,
        );
        expect(trade.data?.market_title).toMatch(/Up or Down/);
        expect(trade.data?.market_slug).toMatch(/updown-5m-\d+$/);
        await client.until((frame) => frame.type === 'price_feed', NEXT_TICK_MS);
        await client.until((frame) => frame.type === 'block');
        const seqs = client.frames.flatMap((frame) => (typeof frame.seq === 'number' ? [frame.seq] : []));
        expect(seqs).toEqual([...new Set(seqs)].sort((a, b) => a - b));
      } finally {
        client.close();
      }
    },
    2 * NEXT_TRADE_MS + NEXT_TICK_MS,
  );

  it('creates keys, enforces the free plan and counts requests', async () => {
    const created = await fetch(`${product.api}/v1/keys`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ name: 'e2e' }),
    });
    expect(created.status).toBe(201);
    const { api_key: key } = (await created.json()) as { api_key: string };
    const again = await fetch(`${product.api}/v1/keys`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: '{}',
    });
    expect(again.status).toBe(429);
    expect(await again.json()).toMatchObject({ error: 'Too many key generation requests. Max 1 per day.' });
    const gated = await fetch(`${product.api}/v3/trades`, { headers: { 'x-api-key': key } });
    expect(gated.status).toBe(402);
    const free = await fetch(`${product.api}/v1/crypto/series`, { headers: { 'x-api-key': key } });
    expect([free.status, free.headers.get('x-ratelimit-limit')]).toEqual([200, '60']);
    const client = await eventually('the new key on the socket', () => connectFrames(`${product.socket}?key=${key}`));
    client.close();
  });

  describeDocuments(() => product);

  it('runs all processes, and has ended them when it ends with code 0 on SIGINT', async () => {
    const pids = processNames.map((name) => product.pid(name) ?? -1);
    expect(pids).not.toContain(-1);
    expect((await product.stop()).code).toBe(0);
    const isRunning = (pid: number) => {
      try {
        return process.kill(pid, 0);
      } catch {
        return false;
      }
    };
    expect(processNames.filter((_, at) => isRunning(pids[at] as number))).toEqual([]);
  });
});
