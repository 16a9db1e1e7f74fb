import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { ApiHarness } from '../support/api.js';
import { startBrowser, withoutBrowser } from '../support/browser.js';
import { cellsOf } from '../support/page-checks.js';
import { insertAccounts, tradeOf } from '../support/positions.js';
import { startPositionsApi } from '../support/positions-api.js';
import { address, fillRow, hex32, insertFills } from '../support/rows.js';
import { bob, T } from '../support/venue.js';

const missing = withoutBrowser();
if (missing !== null) console.warn(`Not run here: ${missing}. In CI it must run.`);

const soon = <T>(check: () => T | Promise<T>) => expect.poll(check);

const wallet = address(0xfa0);
/** More than a page, fewer than two. */
const ROWS = 60;
const tokenOf = (index: number) => String(90_001 + index);

describe.skipIf(missing !== null)('page of a wallet on the free plan', () => {
  let api: ApiHarness;
  let browser: Browser;
  let key: string;

  const insertTrades = (from: number, to: number) =>
    insertFills(
      api.clickhouse,
      Array.from({ length: to - from }, (_, index) =>
        fillRow({
          block: 5_000 + from + index,
          logIndex: 0,
          timestampS: T + from + index,
          orderHash: hex32(0x7000 + from + index),
          txHash: hex32(0x8000 + from + index),
          side: 'BUY',
          tokenId: tokenOf(0),
          usdc: 1_000_000n,
          shares: 2_000_000n,
          maker: wallet,
          taker: bob,
        }),
      ),
    );
  /** Purchases of 1,000 shares, 999 and so on, and the last ones. */
  const purchases = Array.from({ length: ROWS }, (_, index) =>
    tradeOf(wallet, 5_000 + index, 'BUY', tokenOf(index), 1_000 - index, 100),
  );

  beforeAll(async () => {
    ({ api, key } = await startPositionsApi());
    await insertTrades(0, ROWS);
    await insertAccounts(api.clickhouse, purchases);
    browser = await startBrowser();
  });
  afterAll(async () => {
    await browser?.close();
    await api?.stop();
  });

  async function open(): Promise<Page> {
    const page = await browser.newPage({ viewport: { width: 1280, height: 900 } });
    await page.goto(`${api.url}/app/wallet/${wallet}#key=${key}`);
    await soon(() => page.locator('[aria-busy]').count()).toBe(0);
    return page;
  }

  it('lists every trade once although new trades come between the pages', async () => {
    const page = await open();
    const rows = page.locator('#trades tbody tr:not([aria-hidden])');
    expect(await rows.count()).toBe(50);
    await insertTrades(ROWS, ROWS + 3);
    await page.getByRole('button', { name: 'Load more: Trades' }).click();
    await page
      .locator('#trades')
      .getByText(/shown, that is all/)
      .waitFor();
    const hashes = (await page.evaluate(
      `[...document.querySelectorAll('#trades tbody a[href*="/tx/"]')].map((link) => link.title.split(' ')[0])`,
    )) as string[];
    expect(hashes).toEqual(Array.from({ length: ROWS }, (_, index) => hex32(0x8000 + ROWS - 1 - index)));
  });

  it('lists every position although the largest one is sold between the pages', async () => {
    const page = await open();
    const outcomes = async () =>
      ((await page.evaluate(cellsOf('positions'))) as string[][]).map(([, outcome]) => outcome);
    const expected = purchases.map((_, index) => tokenOf(index));
    expect(await outcomes()).toEqual(expected.slice(0, 50));
    const [first, ...others] = purchases;
    const sale = tradeOf(wallet, 5_100, 'SELL', tokenOf(0), 999, 100);
    await insertAccounts(api.clickhouse, [...others, ...(first === undefined ? [] : [first]), sale]);
    api.clock.nowMs += 60_000;
    await page.getByRole('button', { name: 'Load more: Positions' }).click();
    await page
      .locator('#positions')
      .getByText(/shown, that is all/)
      .waitFor();
    expect(await outcomes()).toEqual(expected);
  });
});
