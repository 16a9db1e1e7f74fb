import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { tokenPair } from '../../schemas/primitives/ids.js';
import { addresses } from '../../schemas/primitives/venue.js';
import type { ApiHarness } from '../support/api.js';
import { startBrowser, withoutBrowser } from '../support/browser.js';
import { cellsOf } from '../support/page-checks.js';
import { insertAccounts, tradeOf } from '../support/positions.js';
import { startPositionsApi } from '../support/positions-api.js';
import { address, fillRow, hex32, insertFills } from '../support/rows.js';
import { T } from '../support/venue.js';

const missing = withoutBrowser();
if (missing !== null) console.warn(`Not run here: ${missing}. In CI it must run.`);

const soon = <T>(check: () => T | Promise<T>) => expect.poll(check);
const short = (id: string) => `${id.slice(0, 6)}…${id.slice(-4)}`;

/** The catalogue lacks it; other markets of the venue have trades, too. */
const condition = hex32(0xfee1);
const [yes, no] = tokenPair(addresses.wrappedCollateral, condition);
const wallet = address(0xfee1);

describe.skipIf(missing !== null)('page of a market that is on the chain but not in the catalogue', () => {
  let api: ApiHarness;
  let browser: Browser;
  let key: string;

  beforeAll(async () => {
    ({ api } = await startPositionsApi());
    key = await api.key('growth');
    const fill = {
      side: 'BUY' as const,
      tokenId: yes,
      usdc: 40_000_000n,
      shares: 100_000_000n,
      maker: wallet,
      taker: address(0xfee2),
      block: 3_000,
      logIndex: 0,
      timestampS: T + 30,
      orderHash: hex32(1),
      txHash: hex32(2),
    };
    await insertFills(api.clickhouse, [fillRow(fill)]);
    await insertAccounts(api.clickhouse, [tradeOf(wallet, 3_000, 'BUY', yes, 100, 40)]);
    browser = await startBrowser();
  });
  afterAll(async () => {
    await browser?.close();
    await api?.stop();
  });

  async function open(id: string): Promise<{ page: Page; requested: string[] }> {
    const page = await browser.newPage({ viewport: { width: 1280, height: 900 } });
    const requested: string[] = [];
    page.on('request', (request) => requested.push(request.url()));
    await page.goto(`${api.url}/app/market/${id}#key=${key}`);
    await soon(() => page.locator('[aria-busy]').count()).toBe(0);
    return { page, requested };
  }
  const rows = async (page: Page, list: string) => (await page.evaluate(cellsOf(list))) as string[][];

  it('shows outcomes, trades and holders of a condition, and of no other market', async () => {
    const { page, requested } = await open(condition);
    expect(await page.locator('#title').textContent()).toBe(`Market ${short(condition)}`);
    expect(await page.locator('#facts').textContent()).toBe('Not in the catalogue.');
    const outcomes = `[...document.querySelectorAll('#outcome input')].map((field) => field.value)`;
    expect(await page.evaluate(outcomes)).toEqual([yes, no]);
    expect(await page.locator('#tiles dt').allTextContents()).toEqual([short(yes), short(no), 'Volume']);
    expect(await page.locator('#tiles > div').nth(2).textContent()).toContain('$40.00');
    const trades = await rows(page, 'trades');
    expect(trades).toHaveLength(1);
    expect(trades[0]).toContain('$40.00');
    const holders = await rows(page, 'holders');
    expect(holders.map(([holder, outcome, shares]) => [holder, outcome, shares])).toEqual([
      [short(wallet), short(yes), '100'],
    ]);
    // The catalogue's rules and oracle are unknown; the resolution of the chart is another thing.
    expect(await page.locator('#resolution-panel').count()).toBe(0);
    expect(await page.locator('#resolution input').count()).toBe(6);
    expect(requested.filter((url) => url.includes('undefined'))).toEqual([]);
    await page.close();
  });

  it('shows the trades of a token alone', async () => {
    const { page } = await open(yes);
    expect(await page.locator('#title').textContent()).toBe(`Token ${short(yes)}`);
    expect(await page.locator('#facts').textContent()).toBe('Not in the catalogue.');
    expect(await rows(page, 'trades')).toHaveLength(1);
    await page.close();
  });
});
