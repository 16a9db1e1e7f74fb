import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type AdminServer, startAdminServer } from '../../infra/telemetry/admin-server.js';
import { createMetrics } from '../../infra/telemetry/metrics.js';
import { type ApiHarness, startApi } from '../support/api.js';
import { startBrowser, withoutBrowser } from '../support/browser.js';

const missing = withoutBrowser();
if (missing !== null) console.warn(`Not run here: ${missing}. In CI it must run.`);

/** A name that its owner points at 127.0.0.1, as an attacker can. */
const ATTACKER = 'attacker.example';

/** Result of a request by a page: the response, hidden by the browser, or none. */
const responseSeenBy = (page: Page, url: string, init: RequestInit = {}) =>
  page.evaluate(
    ([target, options]) =>
      fetch(target, options).then(
        async (reply) => (reply.type === 'opaque' ? 'hidden' : `${reply.status} ${await reply.text()}`),
        () => 'nothing',
      ),
    [url, init] as const,
  );

describe.skipIf(missing !== null)('a page of another origin in a browser', () => {
  let api: ApiHarness;
  let admin: AdminServer;
  let foreign: Server;
  let browser: Browser;
  let page: Page;
  let adminUrl: string;

  beforeAll(async () => {
    api = await startApi({ nowMs: Date.UTC(2027, 4, 22) });
    const metrics = createMetrics({ process: 'test', defaults: false });
    const readiness = () => ({ ready: true, checks: {} });
    admin = await startAdminServer({ host: '127.0.0.1', port: 0, metrics, readiness, allowedHosts: [] });
    adminUrl = `http://127.0.0.1:${admin.port}`;
    foreign = createServer((_request, response) => {
      response.setHeader('content-type', 'text/html');
      response.end('<!doctype html><title>Foreign</title>');
    });
    await new Promise<void>((resolve) => foreign.listen(0, '127.0.0.1', resolve));
    browser = await startBrowser([`--host-resolver-rules=MAP ${ATTACKER} 127.0.0.1`]);
    page = await browser.newPage();
    await page.goto(`http://${ATTACKER}:${(foreign.address() as AddressInfo).port}/`);
  });
  afterAll(async () => {
    await browser?.close();
    foreign?.close();
    await admin?.close();
    await api?.stop();
  });

  it('cannot create a key with any kind of request', async () => {
    const before = api.log.all('accounts.commands').length;
    const url = `${api.url}/v1/keys`;
    const json = { 'content-type': 'application/json' };
    expect(await responseSeenBy(page, url, { method: 'POST', body: '{}' })).toBe('nothing');
    expect(await responseSeenBy(page, url, { method: 'POST', body: '{}', headers: json })).toBe('nothing');
    expect(await responseSeenBy(page, url, { method: 'POST', body: '{}', mode: 'no-cors' })).toBe('hidden');
    expect(await responseSeenBy(page, url, { method: 'POST', mode: 'no-cors' })).toBe('hidden');
    const form = await browser.newPage();
    await form.goto(page.url());
    await form.setContent(
      `<form method="post" enctype="text/plain" action="${url}"><input name='{"name":"' value='"}'><button>Send</button></form>`,
    );
    const [reply] = await Promise.all([
      form.waitForResponse((response) => response.url() === url),
      form.getByRole('button').click(),
    ]);
    expect(reply.status()).toBe(403);
    expect(api.log.all('accounts.commands')).toHaveLength(before);
  });

  it('reads the API with a key, but neither pages nor admin ports', async () => {
    const headers = { 'x-api-key': await api.key('enterprise') };
    expect(await responseSeenBy(page, `${api.url}/v3/trades?limit=1`, { headers })).toMatch(/^200 \{/);
    expect(await responseSeenBy(page, `${api.url}/v3/trades?limit=1`)).toMatch(/^401 /);
    for (const url of [`${api.url}/app`, `${api.url}/console/main.js`, `${adminUrl}/metrics`, `${adminUrl}/healthz`])
      expect(await responseSeenBy(page, url), url).toBe('nothing');
  });

  it('may link to the pages, which then work', async () => {
    const linked = await browser.newPage();
    await linked.goto(page.url());
    const failed: string[] = [];
    linked.on('response', (response) => {
      if (response.status() >= 400) failed.push(`${response.status()} ${response.url()}`);
    });
    await linked.setContent(`<a href="${api.url}/docs">Reference</a>`);
    await linked.getByText('Reference').click();
    await linked.locator('#reference .opblock').first().waitFor();
    expect(failed).toEqual([]);
  });

  it("gets no data under its own name for the server's address", async () => {
    for (const [port, path] of [
      [new URL(api.url).port, '/app'],
      [new URL(api.url).port, '/healthz'],
      [admin.port, '/metrics'],
    ] as const) {
      const rebound = await browser.newPage();
      const reply = await rebound.goto(`http://${ATTACKER}:${port}${path}`);
      expect([reply?.status(), await reply?.text()]).toEqual([403, expect.stringContaining('is not served here')]);
      expect(await responseSeenBy(rebound, path)).toMatch(/^403 /);
    }
  });
});
