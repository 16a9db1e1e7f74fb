import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, describe, expect, it } from 'vitest';
import { freePorts } from '../support/ports.js';
import { eventually, sumOfSeries } from '../support/product.js';
import { startTestRedis, whyNoRedis } from '../support/redis.js';
import { REFERENCE_RUN_TIMEOUT_MS, startLoaded } from '../support/reference-run.js';

const cleanups: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
});

describe.skipIf(whyNoRedis() !== null)('two api processes', () => {
  it(
    'share keys and the request counts of an account',
    async () => {
      const redis = await startTestRedis();
      cleanups.push(() => redis.stop());
      const env = { RECORDED_HISTORY_ONLY: '1', REDIS_URL: redis.url };
      const product = await startLoaded({ REDIS_URL: redis.url });
      cleanups.push(() => product.dispose());
      const [port, adminPort] = await freePorts(2);
      const child = spawn(process.execPath, ['dist/api/main.js'], {
        env: {
          ...process.env,
          ...env,
          ODDSTREAM_DATA: product.dataDir,
          CLICKHOUSE_URL: product.clickhouse,
          CLICKHOUSE_USER: 'oddstream',
          CLICKHOUSE_PASSWORD: product.clickhousePassword(),
          API_PORT: String(port),
          ADMIN_PORT_API: String(adminPort),
        },
        stdio: 'ignore',
      });
      cleanups.push(async () => {
        const ended = once(child, 'exit');
        if (child.exitCode === null && child.kill('SIGTERM')) await ended;
      });
      const second = `http://127.0.0.1:${port}`;
      await eventually('the second api', async () => (await fetch(`${second}/healthz`)).ok);

      const name = 'oddstream_api_rate_limit_fallback_total';
      const alone = async () =>
        (await product.metric('api', name)) +
        sumOfSeries(await (await fetch(`http://127.0.0.1:${adminPort}/metrics`)).text(), name);
      const key = await createKey(second);
      // If the machine stalls for longer than an API waits for Redis, that API counts alone for a second: such a burst is not conclusive.
      const { served, rejected, remaining } = await eventually(
        'a burst within the Redis timeout',
        async () => {
          const before = await alone();
          const counts = await burst(product.api, second, key);
          if ((await alone()) === before) return counts;
          // An address gets one key a day; the requests of this one leave the window.
          await sleep(61_000);
          return null;
        },
        240_000,
      );
      expect([served, rejected]).toEqual([remaining, 80 - remaining]);
    },
    REFERENCE_RUN_TIMEOUT_MS + 240_000,
  );
});

async function createKey(api: string): Promise<string> {
  const created = await fetch(`${api}/v1/keys`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ name: 'two apis' }),
  });
  expect(created.status).toBe(201);
  return ((await created.json()) as { api_key: string }).api_key;
}

/** 80 concurrent requests with the key, half to each API, after a first one to the API that did not create it. */
async function burst(
  api: string,
  second: string,
  key: string,
): Promise<{ served: number; rejected: number; remaining: number }> {
  const send = (base: string) => fetch(`${base}/v1/crypto/series`, { headers: { 'x-api-key': key } });
  const first = await eventually('the key at the first api', async () => {
    const response = await send(api);
    return response.status === 200 ? response : null;
  });
  const responses = await Promise.all(Array.from({ length: 80 }, (_, n) => send(n % 2 === 0 ? api : second)));
  const count = (status: number) => responses.filter((response) => response.status === status).length;
  return { served: count(200), rejected: count(429), remaining: Number(first.headers.get('x-ratelimit-remaining')) };
}
