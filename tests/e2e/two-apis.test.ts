import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { afterEach, describe, expect, it } from 'vitest';
import { freePorts } from '../support/ports.js';
import { eventually, startProduct, untilUp } from '../support/product.js';
import { startTestRedis, whyNoRedis } from '../support/redis.js';

const cleanups: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
}, 60_000);

describe.skipIf(whyNoRedis() !== null)('two api processes', () => {
  it('know each other’s keys and count an account’s requests together', async () => {
    const redis = await startTestRedis();
    cleanups.push(() => redis.stop());
    const env = { RECORDED_HISTORY_ONLY: '1', REDIS_URL: redis.url };
    const product = await startProduct({ env });
    cleanups.push(() => product.dispose());
    await untilUp(product);
    const [port, adminPort] = await freePorts(2);
    const child = spawn(process.execPath, ['dist/api/main.js'], {
      env: {
        ...process.env,
        ...env,
        ODDSTREAM_DATA: product.dataDir,
        CLICKHOUSE_URL: product.clickhouse,
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

    const made = await fetch(`${second}/v1/keys`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ name: 'two apis' }),
    });
    expect(made.status).toBe(201);
    const { api_key: key } = (await made.json()) as { api_key: string };
    const ask = (base: string) => fetch(`${base}/v1/crypto/series`, { headers: { 'x-api-key': key } });
    const first = await eventually('the key at the first api', async () => {
      const answer = await ask(product.api);
      return answer.status === 200 ? answer : null;
    });
    const remaining = Number(first.headers.get('x-ratelimit-remaining'));
    const answers = await Promise.all(Array.from({ length: 80 }, (_, n) => ask(n % 2 === 0 ? product.api : second)));
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(remaining);
    expect(answers.filter(({ status }) => status === 429)).toHaveLength(80 - remaining);
  });
});
