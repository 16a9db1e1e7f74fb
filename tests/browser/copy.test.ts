import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startBrowser, withoutBrowser } from '../support/browser.js';
import { CONTRASTS, cellsOf, responseOf } from '../support/page-checks.js';
import type { Product } from '../support/product.js';
import { REFERENCE_RUN_TIMEOUT_MS, startLoaded } from '../support/reference-run.js';

const missing = withoutBrowser();
if (missing !== null) console.warn(`Not run here: ${missing}. In CI it must run.`);

/** The API accepts one request per 5 s, and the pages wait for it. */
const soon = <T>(check: () => T | Promise<T>) => expect.poll(check, { interval: 500 });

interface Sums {
  readonly wallet: string;
  readonly cash: string;
  readonly fills: string;
}

describe.skipIf(missing !== null)('/app/copy in a browser', () => {
  let product: Product;
  let browser: Browser;
  let wallets: readonly Sums[];

  beforeAll(async () => {
    [product, browser] = await Promise.all([startLoaded(), startBrowser()]);
    // Cash flow of fills and settlements, from the tables that the scores are not computed from.
    wallets =
      await product.sql<Sums>(`SELECT wallet, toString(sum(moved)) AS cash, toString(sum(traded)) AS fills FROM (
        SELECT maker AS wallet, if(side = 'BUY', -toInt64(usdc), toInt64(usdc)) AS moved, 1 AS traded FROM fills FINAL WHERE NOT is_taker_order
        UNION ALL SELECT wallet, multiIf(kind = 'split', -toInt64(amount), kind = 'conversion', 0, toInt64(amount)), 0 FROM wallet_events FINAL)
      WHERE wallet NOT IN (SELECT maker FROM fills WHERE is_taker_order OR exchange_version = 3) AND wallet NOT IN (SELECT wallet FROM wallet_events WHERE kind = 'conversion')
      GROUP BY wallet ORDER BY sum(traded) DESC LIMIT 3`);
    expect(wallets).toHaveLength(3);
    // The recording is older than the longest period: what the wallets did is moved to yesterday.
    const listed = wallets.map(({ wallet }) => `'${wallet}'`).join(', ');
    await product.sql(`INSERT INTO wallet_activity SELECT * REPLACE (timestamp + toIntervalDay(dateDiff('day', (SELECT max(timestamp) FROM wallet_activity), now()) - 1) AS timestamp)
      FROM wallet_activity FINAL WHERE wallet IN (${listed})`);
  }, REFERENCE_RUN_TIMEOUT_MS);
  afterAll(async () => {
    await browser?.close();
    await product?.dispose();
  });

  const usd = (baseUnits: string): number => Math.round(Number(baseUnits) / 10_000) / 100;
  /** `+$1,234.50` or `−$0.25` as a number. */
  const numberOf = (text: string | undefined): number =>
    text === undefined || text === '–' ? Number.NaN : Number(text.replace('−', '-').replace(/[+$,]/g, ''));
  const poolCells = (page: Page): Promise<string[][]> => page.evaluate(cellsOf('pool'));

  it('adds wallets, shows their scores by themselves, sorts, redraws the backtest under conditions, and removes', async () => {
    const page = await browser.newPage({ viewport: { width: 1280, height: 1500 } });
    const complaints: string[] = [];
    page.on('pageerror', (error) => complaints.push(error.message));
    page.on('console', (message) => {
      if (message.type() === 'error') complaints.push(message.text());
    });
    await page.goto(`${product.api}/app/copy#key=${product.key()}`);
    await page.getByText('The pool is empty.').waitFor();

    await page.getByLabel('Add wallets to the pool').fill('0x12');
    await page.getByRole('button', { name: 'Add', exact: true }).click();
    expect(await page.locator('#add-status').textContent()).toContain('0x12 is not a wallet address');

    await page.getByLabel('Add wallets to the pool').fill(wallets.map(({ wallet }) => wallet).join(', '));
    await page.getByRole('button', { name: 'Add', exact: true }).click();
    await soon(() => page.locator('#add-status').textContent()).toBe('3 added.');
    // No reload by hand: pending rows become scores.
    await page.getByRole('radio', { name: '180d' }).check({ force: true });
    await soon(async () => (await poolCells(page)).filter((cells) => !Number.isNaN(numberOf(cells[2]))).length).toBe(3);
    for (const { wallet, cash, fills } of wallets) {
      const cells = (await poolCells(page)).find(([shown]) => shown === `${wallet.slice(0, 6)}…${wallet.slice(-4)}`);
      expect(numberOf(cells?.[2]), wallet).toBeCloseTo(usd(cash), 2);
      expect(Number(cells?.[6]?.replaceAll(',', ''))).toBe(Number(fills));
    }
    expect(await page.locator('#pool svg.spark').count()).toBe(3);

    const backtests = async () => (await poolCells(page)).map((cells) => numberOf(cells[3]));
    expect(await backtests()).toEqual((await backtests()).toSorted((a, b) => b - a));
    await page.getByRole('button', { name: 'Backtest', exact: true }).click();
    expect(await backtests()).toEqual((await backtests()).toSorted((a, b) => a - b));
    expect(await page.locator('#pool th[aria-sort=ascending]').textContent()).toBe('Backtest');

    const chosen = wallets[0] as Sums;
    const first = responseOf<{ curve: { t: number; actual: number; backtest: number }[] }>(page, `${chosen.wallet}?`);
    await page.getByRole('button', { name: `Backtest ${chosen.wallet}` }).click();
    // The table was drawn again; keyboard users stay where they were.
    expect(await page.evaluate(`document.activeElement.getAttribute('aria-label')`)).toBe(`Backtest ${chosen.wallet}`);
    const { curve } = await first;
    expect(curve.at(-1)?.actual).toBeCloseTo(usd(chosen.cash), 2);
    await soon(() => page.locator('#score-canvas canvas').count()).toBeGreaterThan(0);
    await page.locator('#score-details summary').click();
    await soon(() => page.locator('#score-rows tbody tr').count()).toBe(curve.length);

    const redrawn = responseOf<{ copier: object; backtest_copy_pnl_usdc: number }>(page, 'slippage_pct=0&');
    await page.locator('#slippage').fill('0');
    const { copier, backtest_copy_pnl_usdc: backtest } = await redrawn;
    expect(copier).toMatchObject({ slippage_pct: 0, delay_seconds: 0, min_liquidity_usd: 0 });
    // Without slippage, delay and liquidity a copier has what the wallet has.
    expect(backtest).toBeCloseTo(usd(chosen.cash), 2);
    await soon(() => page.locator('#score-box').getAttribute('aria-busy')).toBeNull();
    await page.screenshot({ path: process.env.ODDSTREAM_TEST_SCREENSHOT ?? '/dev/null', fullPage: true, type: 'png' });
    expect(await page.evaluate(CONTRASTS)).toEqual([]);

    await page.getByRole('button', { name: `Remove ${chosen.wallet}` }).click();
    await soon(() => page.locator('#pool tbody tr').count()).toBe(2);
    expect(await page.locator('#pool-status').textContent()).toMatch(/^2 wallets/);
    expect(await page.locator('#score-panel').isHidden()).toBe(true);
    expect(complaints).toEqual([]);

    // The numbers of one wallet are not shown under the title of another one whose backtest fails.
    const other = wallets[1] as Sums;
    await page.route(`**${other.wallet}?*`, (route) => route.fulfill({ status: 503, json: { error: 'not now' } }));
    await page.getByRole('button', { name: `Backtest ${other.wallet}` }).click();
    await page.getByRole('alert').getByText('503not now').waitFor();
    expect(await page.locator('#score-title').textContent()).toContain(other.wallet.slice(0, 6));
    expect(await page.locator('#score-tiles > *').count()).toBe(0);
    expect(await page.locator('#score-rows tbody tr').count()).toBe(0);

    // An allowance that is used up until the next month is shown, not waited for.
    const usedUp = 'The requests of your plan and all packages are used up for this service month.';
    await page.route('**/v2/copy-pnl/**', (route) =>
      route.fulfill({ status: 429, headers: { 'retry-after': '2592000' }, json: { error: usedUp } }),
    );
    await page.getByRole('button', { name: `Backtest ${other.wallet}` }).click();
    await page.locator('#score-state').getByText(usedUp).waitFor();
    await page.getByLabel('Add wallets to the pool').fill(chosen.wallet);
    await page.getByRole('button', { name: 'Add', exact: true }).click();
    await page.locator('#add-status').getByText(usedUp).waitFor();
    await page.close();
  }, 240_000);

  it('fits a telephone and the dark scheme', async () => {
    const page = await browser.newPage({ viewport: { width: 390, height: 844 }, colorScheme: 'dark' });
    await page.goto(`${product.api}/app/copy#key=${product.key()}`);
    await soon(() => page.locator('#pool tbody tr').count()).toBe(2);
    expect(await page.evaluate('document.documentElement.scrollWidth <= innerWidth')).toBe(true);
    expect(await page.evaluate(CONTRASTS)).toEqual([]);
    await page.close();
  });
});
