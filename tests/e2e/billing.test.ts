import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, describe, expect, inject, it } from 'vitest';
import { type SignedEvent, startFakeStripe } from '../support/fake-stripe.js';
import { freePorts } from '../support/ports.js';
import { eventually, type Product, startProduct } from '../support/product.js';
import { adminOf, signInAtProduct } from '../support/product-user.js';
import { shortHistory } from '../support/short-recording.js';

const secretKey = 'sk_test_end_to_end';
const webhookSecret = 'whsec_end_to_end';
const cleanups: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
});

/** A second api process on the log and the tables of a product. */
async function startSecondApi(product: Product, env: Record<string, string>): Promise<string> {
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
  const url = `http://127.0.0.1:${port}`;
  await eventually('the second api', async () => (await fetch(`${url}/healthz`)).ok);
  return url;
}

describe('packages bought through Stripe', () => {
  it('appear at both api processes once, are used beyond the allowance, and add up in the ledger', async () => {
    const stripe = await startFakeStripe({ secretKey, webhookSecret, nowMs: Date.now });
    cleanups.push(() => stripe.stop());
    const secretFile = join(inject('runDir'), 'webhook-secret');
    writeFileSync(secretFile, `${webhookSecret}\n`);
    const env = {
      ...shortHistory(),
      BILLING_PROVIDER: 'stripe',
      STRIPE_SECRET_KEY: secretKey,
      STRIPE_WEBHOOK_SECRET_FILE: secretFile,
      STRIPE_API_BASE: stripe.url,
    };
    const product = await startProduct({ env });
    cleanups.push(() => product.dispose());
    await eventually('the api', async () => (await fetch(`${product.api}/healthz`)).ok, 120_000);
    const apis = [product.api, await startSecondApi(product, env)] as const;
    const admin = adminOf(product, env);
    const user = await signInAtProduct(product, admin, 'desk@fund.example');
    const post = <T>(api: string, path: string, body: unknown) => user.post<T>(path, body, api);
    const get = <T>(api: string, path: string) => user.get<T>(path, api);
    const deliver = async (api: string, { body, headers }: SignedEvent) => {
      const response = await fetch(`${api}/v1/billing/stripe/webhook`, { method: 'POST', headers, body });
      expect(response.status).toBe(200);
    };
    const buy = async (api: string, count: number) => {
      await post(api, '/v1/account/packages/checkout', { meter: 'api_requests', count });
      return stripe.newestSession();
    };
    const left = async (api: string) =>
      (await get<{ packages: { remaining: number }[] }>(api, '/v1/account/packages')).packages
        .map(({ remaining }) => remaining / 1e6)
        .sort((a, b) => a - b);

    // A refund of half the money, before the completion and at the other api.
    const first = await buy(apis[0], 2);
    await deliver(apis[1], stripe.refunded(first, 2_000));
    expect(await left(apis[0])).toEqual([]);
    const paid = stripe.completed(first);
    await Promise.all([deliver(apis[0], paid), deliver(apis[1], paid)]);
    const second = await buy(apis[1], 1);
    const events = [stripe.completed(second), stripe.completed(second), paid, stripe.expired(second)];
    await Promise.all(events.flatMap((event) => apis.map((api) => deliver(api, event))));
    for (const api of apis)
      await eventually('both packages', async () => JSON.stringify(await left(api)) === '[10,10]');

    const { meters } = await get<{ meters: { packages_remaining: number }[] }>(apis[1], '/v1/account/usage');
    expect(meters[0]?.packages_remaining).toBe(20_000_000);
    await admin('set-limits', 'desk@fund.example', 'api_requests_per_month=5');
    const { api_key: key } = await post<{ api_key: string }>(apis[0], '/v1/account/keys', { name: 'desk' });
    const keyHeaders = { headers: { 'x-api-key': key } };
    await eventually('the key', async () => (await fetch(`${apis[1]}/v1/status`, keyHeaders)).ok);
    for (let n = 0; n < 9; n += 1) expect((await fetch(`${apis[n % 2]}/v1/status`, keyHeaders)).status).toBe(200);
    await eventually('the usage beyond the allowance', async () => {
      await sleep(500);
      const usage = await get<{ meters: Record<string, unknown>[] }>(apis[0], '/v1/account/usage');
      const { used, included, packages_remaining: packages } = usage.meters[0] ?? {};
      return used === 10 && included === 5 && packages === 19_999_995;
    });
    const ledger = () => get<{ entries: { kind: string }[] }>(apis[1], '/v1/account/ledger');
    // Seldom enough for the limit of a session's requests.
    await eventually('the settlement', async () => {
      await sleep(2_000);
      return (await ledger()).entries.some(({ kind }) => kind === 'used');
    });
    expect(await admin('verify-ledger')).toMatch(/ledgers verified/);
    expect(product.output()).not.toContain(secretKey);
    expect(product.output()).not.toContain(webhookSecret);
  }, 300_000);
});
