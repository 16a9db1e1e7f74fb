import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { type ApiHarness, startApi } from '../support/api.js';
import { startBrowser, withoutBrowser } from '../support/browser.js';
import { CONTRASTS } from '../support/page-checks.js';
import { insertVenue, snow, snowNo, snowYes } from '../support/venue.js';

const missing = withoutBrowser();
if (missing !== null) console.warn(`Not run here: ${missing}. In CI it must run.`);

const soon = <T>(check: () => T | Promise<T>) => expect.poll(check);
/** There is no event socket, and no book of one outcome. */
const NETWORK = /^(Failed to load resource|WebSocket connection)/;
const nowMs = Date.now();
const cents = (value: number) => (value / 100).toFixed(2);

describe.skipIf(missing !== null)('order book of the market page', () => {
  let api: ApiHarness;
  let browser: Browser;
  let key: string;
  let version = 0;

  /** Bids from 0.41 and asks from 0.43, twelve levels each; level n has 100 n shares. */
  const insertBook = (token: string, over: Record<string, unknown> = {}) => {
    const levels = Array.from({ length: 12 }, (_, n) => n);
    return api.clickhouse.insertRows('order_books', [
      {
        token_id: token,
        condition_id: snow.conditionId,
        bid_prices: levels.map((n) => cents(41 - n)),
        bid_sizes: levels.map((n) => String(100 * (n + 1))),
        ask_prices: levels.map((n) => cents(43 + n)),
        ask_sizes: levels.map((n) => String(100 * (n + 1))),
        best_bid: '0.41',
        best_ask: '0.43',
        mid: '0.42',
        verified: true,
        verified_since: Date.UTC(2026, 8, 21, 14, 2, 11),
        synthetic: false,
        updated_at: nowMs,
        received_at: nowMs,
        _offset: ++version,
        _version: version,
        ...over,
      },
    ]);
  };
  const open = async (width: number): Promise<{ page: Page; complaints: string[] }> => {
    const page = await browser.newPage({ viewport: { width, height: 1_000 } });
    const complaints: string[] = [];
    page.on('pageerror', (error) => complaints.push(error.message));
    page.on('console', (message) => {
      if (message.type() === 'error' && !NETWORK.test(message.text())) complaints.push(message.text());
    });
    await page.goto(`${api.url}/app/market/${snow.conditionId}#key=${key}`);
    return { page, complaints };
  };
  const rows = (page: Page) => page.locator('#book-ladder tbody tr').allInnerTexts();
  const state = (page: Page) => page.locator('#book-state').textContent();

  beforeAll(async () => {
    api = await startApi({ nowMs });
    key = await api.key('growth');
    await insertVenue(api.clickhouse);
    browser = await startBrowser();
  });
  afterAll(async () => {
    await browser?.close();
    await api?.stop();
  });
  beforeEach(async () => {
    await api.reportSource({ source: 'orderbook', mode: 'live', connected: true, updated_at_ms: nowMs });
    await insertBook(snowYes);
  });

  it.each([1440, 390])('shows depth, ladder and since when the book is verified, %i pixels wide', async (width) => {
    const { page, complaints } = await open(width);
    await soon(() => rows(page)).toHaveLength(17);
    const shown = (await rows(page)).map((row) => row.split(/\s+/).join(' '));
    // Eight asks, the worst of them first, the middle, and eight bids; totals are sums of 100 n.
    expect(shown[0]).toBe('Ask $0.50 800 3,600');
    expect(shown[7]).toBe('Ask $0.43 100 100');
    expect(shown[8]).toBe('Mid $0.42, spread $0.02');
    expect(shown[9]).toBe('Bid $0.41 100 100');
    expect(shown[16]).toBe('Bid $0.34 800 3,600');
    expect(await state(page)).toMatch(/^Verified since (2026-)?09-21 14:02:11, changed /);
    const depth = page.locator('#book-depth svg');
    expect(await depth.getAttribute('aria-label')).toBe(
      'Depth: bids of 7,800 shares down to $0.30, asks of 7,800 shares up to $0.54',
    );
    expect((await depth.boundingBox())?.width).toBeGreaterThan(width === 390 ? 300 : 500);
    // The page does not scroll sideways.
    expect(await page.evaluate<number>('document.documentElement.scrollWidth')).toBeLessThanOrEqual(width);
    expect(await page.evaluate(CONTRASTS)).toEqual([]);
    if (process.env.SCREENSHOTS !== undefined)
      await page.locator('#book').screenshot({ path: `${process.env.SCREENSHOTS}/order-book-${width}.png` });
    expect(complaints).toEqual([]);
    await page.close();
  });

  it('follows the book, and says when it is unverified, synthetic or stale', async () => {
    const { page, complaints } = await open(1440);
    await soon(() => state(page)).toContain('Verified since');
    await insertBook(snowYes, { verified: false, reason: 'hash_mismatch', mid: '0.425', best_ask: '0.44' });
    await soon(() => state(page)).toMatch(/^Not verified since .*: hash mismatch/);
    await insertBook(snowYes, { synthetic: true });
    await soon(() => state(page)).toMatch(/^Synthetic made around recorded trades, not of the venue\. Changed /);
    await api.reportSource({ source: 'orderbook', mode: 'live', connected: false, updated_at_ms: nowMs });
    await soon(() => state(page)).toContain('Stale the connection to the venue is closed.');
    if (process.env.SCREENSHOTS !== undefined)
      await page.locator('#book').screenshot({ path: `${process.env.SCREENSHOTS}/order-book-stale.png` });
    expect(complaints).toEqual([]);
    await page.close();
  });

  it('shows the book of the chosen outcome, and that an outcome has none', async () => {
    const { page } = await open(1440);
    await soon(() => state(page)).toContain('Verified since');
    await page.locator(`#outcome label:has(input[value="${snowNo}"])`).click();
    await soon(() => state(page)).toBe('The order book of this outcome is not read.');
    expect(await rows(page)).toEqual([]);
    await page.close();
  });
});
