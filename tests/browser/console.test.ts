import { spawn } from 'node:child_process';
import { join } from 'node:path';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import WebSocket from 'ws';
import type { StreamEvent } from '../../schemas/types.gen.js';
import { startTestGateway } from '../../stream-gateway/testing.js';
import { type ApiHarness, startApi } from '../support/api.js';
import { startBrowser, withoutBrowser } from '../support/browser.js';
import { axeFindings, LOOKS } from '../support/page-checks.js';
import { pythonWith, whyNoPython } from '../support/python.js';
import { recordedStream } from '../support/recorded-stream.js';

const missing = withoutBrowser();
if (missing !== null) console.warn(`Not run here: ${missing}. In CI it must run.`);

const FROM = Date.UTC(2026, 10, 21, 15, 4, 0);

describe.skipIf(missing !== null)('console in a browser', () => {
  let gateway: Awaited<ReturnType<typeof startTestGateway>>;
  let api: ApiHarness;
  let browser: Browser;
  let key: string;
  let events: StreamEvent[] = [];

  beforeAll(async () => {
    const oracle = { source: 'oracle', last_event_ms: FROM, stale: 'disconnected' as const, stale_since_ms: FROM };
    const sources = { freshness: () => [oracle], all: () => [] };
    gateway = await startTestGateway({ sources, nowMs: () => FROM + 3_000 });
    api = await startApi({ nowMs: FROM, socketPort: gateway.server.port });
    key = await api.key('enterprise');
    browser = await startBrowser();
    events = await recordedStream(FROM, FROM + 90_000);
    for (const event of events.slice(0, -400)) gateway.load(event);
  });
  afterAll(async () => {
    await browser?.close();
    await api?.stop();
    await gateway?.server.close();
  });

  /** The console in a new page; any browser error fails the test. */
  async function open(colorScheme: 'light' | 'dark' = 'light'): Promise<{ page: Page; complaints: string[] }> {
    const page = await browser.newPage({ viewport: { width: 1280, height: 900 }, colorScheme });
    const complaints: string[] = [];
    page.on('pageerror', (error) => complaints.push(error.message));
    page.on('console', (message) => {
      if (message.type() === 'error') complaints.push(message.text());
    });
    page.on('requestfailed', (request) => complaints.push(request.url()));
    await page.goto(`${api.url}/console`);
    return { page, complaints };
  }
  const rows = (page: Page) => page.locator('#frames .row:visible');
  const publishRest = async () => {
    for (const event of events.splice(-200)) await gateway.publish(event);
  };

  it('connects with a key, shows snapshot and live frames, counts, pauses and filters them', async () => {
    const { page, complaints } = await open();
    await page.getByLabel('Key').fill(key);
    await page.getByLabel('Preset').selectOption('global');
    await page.getByRole('button', { name: 'Connect' }).click();
    await page.getByText('Connected.').waitFor();
    const total = async () => Number((await page.locator('#total').textContent())?.replaceAll(',', ''));
    await expect.poll(total).toBe(22);
    await publishRest();
    await expect.poll(total).toBeGreaterThan(40);
    expect(Number(await page.locator('#rate').textContent())).toBeGreaterThan(0);
    expect(await page.locator('#bytes').textContent()).toMatch(/[1-9].* k?B$/);
    expect(await rows(page).count()).toBeLessThan(60);
    await expect
      .poll(() => page.locator('#position').textContent())
      .toMatch(/^Read up to seq [\d,]+ · oracle: disconnected for 3 s, last event 3 s ago$/);

    await page.getByRole('button', { name: 'Pause' }).click();
    const before = await total();
    await publishRest();
    await expect.poll(total).toBeGreaterThan(before);
    await expect.poll(() => page.locator('#shown').textContent()).toMatch(/ [1-9]\d* skipped$/);
    await page.getByRole('button', { name: 'Resume' }).click();

    await page.getByLabel('Show only frames with this text').fill('"status_update"');
    await expect
      .poll(async () => new Set(await page.locator('#frames .row:visible .type').allTextContents()))
      .toEqual(new Set(['status_update']));
    expect(complaints).toEqual([]);
    await page.close();
  });

  it('works with the keyboard only', async () => {
    const { page, complaints } = await open();
    await page.getByLabel('Key').focus();
    await page.keyboard.type(key);
    await page.keyboard.press('Enter');
    await page.getByText('Connected.').waitFor();
    await expect.poll(() => rows(page).count()).toBeGreaterThan(10);
    await page.locator('#frames').focus();
    await page.keyboard.press('Home');
    await expect.poll(() => page.locator('#detail').textContent()).toContain('"type": "subscribed"');
    await page.keyboard.press('ArrowDown');
    await page.keyboard.press('ArrowDown');
    await expect.poll(() => page.locator('#detail').textContent()).toContain('"event_type"');
    await expect.poll(() => page.locator('#frames').getAttribute('aria-activedescendant')).toBe('frame-3');
    const active = await page.locator('#frames').getAttribute('aria-activedescendant');
    expect(await page.locator(`#${active}`).getAttribute('aria-selected')).toBe('true');
    expect(complaints).toEqual([]);
    await page.close();
  });

  it('draws oracle prices of compressed frames, in the dark theme too', async () => {
    const { page, complaints } = await open('dark');
    await page.getByLabel('Key').fill(key);
    await page.getByLabel('Preset').selectOption('chainlink');
    await page.getByLabel('BTC/USD').check();
    await page.getByLabel('Compressed').check();
    await page.getByRole('button', { name: 'Connect' }).click();
    await page.getByText('Connected.').waitFor();
    await rows(page).filter({ hasText: 'subscribed' }).waitFor();
    const ticks = events.filter((event) => event.kind === 'price_feed' && event.twap_window_s === null);
    expect(ticks.length).toBeGreaterThan(20);
    const seq = (events.at(-1)?.seq ?? 0) + 1000;
    for (const [index, tick] of ticks.entries())
      await gateway.publish({
        ...tick,
        seq: seq + index,
        frame: tick.frame.replace(/"seq":\d+/, `"seq":${seq + index}`),
      });
    await page.locator('#chart canvas').first().waitFor();
    expect(await page.getByLabel('Feed of the chart').inputValue()).toBe('BTC/USD');
    await expect.poll(() => rows(page).filter({ hasText: 'price_feed' }).count()).toBeGreaterThan(10);
    expect(await page.evaluate('getComputedStyle(document.body).backgroundColor')).toBe('rgb(17, 21, 27)');
    // No other element has the colour of the line.
    const painted = () =>
      page.evaluate(`[...document.querySelectorAll('#chart canvas')].some((canvas) => {
        const { data } = canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height);
        for (let at = 0; at < data.length; at += 4)
          if (data[at] === 0x1f && data[at + 1] === 0x8a && data[at + 2] === 0x5b) return true;
        return false;
      })`);
    await expect.poll(painted).toBe(true);
    expect(complaints).toEqual([]);
    await page.close();
  });

  it('reconnects after a lost connection and resumes with since_seq', async () => {
    const { page } = await open();
    const sent: { filters?: { since_seq?: number } }[] = [];
    const cut: (() => Promise<void>)[] = [];
    await page.routeWebSocket(/\/ws\?/, (socket) => {
      const server = socket.connectToServer();
      socket.onMessage((message) => {
        sent.push(JSON.parse(message.toString()));
        server.send(message);
      });
      cut.push(() => socket.close({ code: 1012, reason: 'server restart' }));
    });
    await page.getByLabel('Key').fill(key);
    await page.getByLabel('Preset').selectOption('blocks');
    await page.getByRole('button', { name: 'Connect' }).click();
    await expect.poll(() => rows(page).filter({ hasText: 'settlements' }).count()).toBeGreaterThan(10);
    const newest = Math.max(...(await page.locator('#frames .row:visible .seq').allTextContents()).map(Number));
    // Shown for less than a second.
    const lost = page.getByText('Connection lost; reconnecting').waitFor();
    await cut[0]?.();
    await lost;
    await page.getByText('Connected.').waitFor();
    await expect.poll(() => sent.at(-1)?.filters?.since_seq).toBe(newest);
    expect(sent).toHaveLength(2);
    await page.close();
  });

  it('serves the AsyncAPI document with the address of the socket', async () => {
    const { status, body } = await api.get('/asyncapi.json');
    expect(status).toBe(200);
    expect(body).toMatchObject({
      asyncapi: '3.0.0',
      servers: { events: { host: `api.test:${gateway.server.port}`, protocol: 'ws' } },
    });
  });

  it('shows why a key is rejected and which filter is invalid', async () => {
    const { page } = await open();
    await page.getByLabel('Key').fill('revoked');
    await page.getByLabel('More filters as JSON').fill('{');
    expect(await page.getByRole('alert').textContent()).toBe('More filters: not valid JSON.');
    await page.getByLabel('More filters as JSON').fill('');
    await page.getByRole('button', { name: 'Connect' }).click();
    await page.getByText('Missing or invalid API key.').waitFor();
    expect(await page.getByRole('button', { name: 'Connect' }).isVisible()).toBe(true);
    await page.close();
  });

  it('says what a preset delivers now, and why an open stream is empty', async () => {
    const { page, complaints } = await open();
    const now = () => page.locator('#preset-now').textContent();
    expect(await now()).toBe('With a key this line shows what the preset delivers now.');
    await page.getByLabel('Preset').selectOption('global');
    await page.getByLabel('Key').fill(key);
    await page.getByLabel('Key').blur();
    await expect.poll(now).toMatch(/^Now: (\d+ \w+, )*\d+ \w+, the newest \d+ (s|min|h) ago, all within \d+ s\.$/);
    await page.getByLabel('Preset').selectOption('deposits');
    await expect.poll(now).toBe('Now: no event of this preset among the newest 50,000 events of the stream.');
    await page.getByLabel('Preset').selectOption('trades');
    await page.getByRole('textbox', { name: 'Wallets' }).fill(`0x${'0'.repeat(38)}aa`);
    await page.getByRole('button', { name: 'Connect' }).click();
    await page.getByText('Connected.').waitFor();
    const why = () => page.locator('#silence').textContent();
    await expect.poll(why).toMatch(/^No event for \d+ s: oracle is disconnected\.$/);
    const passing = events.filter((event) => event.kind === 'price_feed').slice(0, 20);
    for (const [index, tick] of passing.entries())
      await gateway.publish({
        ...tick,
        seq: 10_000_000 + index,
        frame: tick.frame.replace(/"seq":\d+/, `"seq":${10_000_000 + index}`),
      });
    await expect
      .poll(why)
      .toMatch(
        /^No event for \d+ s: [\d,]+ events passed, none matches preset trades with wallets\. Remove a filter to see more\. oracle is disconnected\.$/,
      );
    await page.getByRole('button', { name: 'Disconnect' }).click();
    await expect.poll(why).toBe('');
    expect(complaints).toEqual([]);
    await page.close();
  });

  it('has no finding of axe and no sideways scrolling, wide and narrow, light and dark', async () => {
    for (const [width, colorScheme] of LOOKS) {
      const page = await browser.newPage({ viewport: { width, height: 900 }, colorScheme });
      await page.goto(`${api.url}/console#key=${key}`);
      await page.getByRole('button', { name: 'Connect' }).click();
      await rows(page).first().waitFor();
      const what = `${width} ${colorScheme}`;
      expect([what, ...(await axeFindings(page))]).toEqual([what]);
      expect([what, await page.evaluate('document.documentElement.scrollWidth <= innerWidth')]).toEqual([what, true]);
      await page.close();
    }
  });

  it('shows equivalent code in JavaScript, Python and curl, all of which work', async () => {
    const { page, complaints } = await open();
    await page.getByLabel('Preset').selectOption('large_trades');
    await page.getByLabel('Side').selectOption('SELL');
    const code = () => page.locator('#code').textContent();
    const javascript = ((await code()) ?? '').replaceAll('YOUR_KEY', key);
    const lines: { type: string }[] = [];
    const sockets: WebSocket[] = [];
    const Socket = class extends WebSocket {
      constructor(url: string) {
        super(url);
        sockets.push(this);
      }
    };
    new Function('WebSocket', 'console', 'setTimeout', javascript)(
      Socket,
      { log: (frame: { type: string }) => lines.push(frame) },
      () => undefined,
    );
    await expect.poll(() => lines[0]).toMatchObject({ type: 'subscribed', subscription_type: 'large_trades' });
    for (const socket of sockets) socket.terminate();

    await page.getByLabel('Python').check();
    const python = ((await code()) ?? '').replaceAll('YOUR_KEY', key);
    expect(python).toContain('"type":"large_trades"');
    if ((await whyNoPython('websockets')) === null) {
      const programs = await pythonWith('websockets', 'tests/socket/requirements.txt');
      const program = spawn(join(programs, 'python'), ['-u', '-c', python]);
      let output = '';
      for (const stream of [program.stdout, program.stderr])
        stream.on('data', (text) => {
          output += text;
        });
      await expect.poll(() => output).toMatch(/'type': 'subscribed'.*'large_trades'/);
      program.kill('SIGKILL');
    }
    await page.getByLabel('curl (REST)').check();
    const url = /'(http[^']+)'/.exec((await code()) ?? '')?.[1] ?? '';
    expect(url).toBe(`${api.url}/v3/trades?limit=20&side=sell&min_amount_usd=1000`);
    expect((await api.get(url.slice(api.url.length), key)).status).toBe(200);
    await page.getByRole('textbox', { name: 'Wallets' }).fill('0x00000000000000000000000000000000000000aa');
    for (const preset of ['large_trades', 'combos']) {
      await page.getByLabel('Preset').selectOption(preset);
      const wallet = /'(http[^']+)'/.exec((await code()) ?? '')?.[1] ?? '';
      expect((await api.get(wallet.slice(api.url.length), key)).status, wallet).toBe(200);
    }
    await page.getByLabel('Preset').selectOption('chainlink');
    const ticks = /'(http[^']+)'/.exec((await code()) ?? '')?.[1] ?? '';
    expect((await api.get(ticks.slice(api.url.length), key)).status).toBe(200);
    expect(complaints).toEqual([]);
    await page.close();
  });
});
