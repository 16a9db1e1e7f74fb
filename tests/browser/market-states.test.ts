import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { ApiHarness } from '../support/api.js';
import { startBrowser, withoutBrowser } from '../support/browser.js';
import { startPositionsApi } from '../support/positions-api.js';
import { address, hex32, type MarketInput, marketRow } from '../support/rows.js';
import { hail, T } from '../support/venue.js';

const missing = withoutBrowser();
if (missing !== null) console.warn(`Not run here: ${missing}. In CI it must run.`);

const soon = <T>(check: () => T | Promise<T>) => expect.poll(check);

/** A market that the catalogue lists without tokens, which the chain has not prepared either. */
const young: MarketInput = {
  ...hail,
  conditionId: hex32(0xfeea),
  slug: 'thaw-oslo',
  question: 'Thaw in Oslo?',
  eventId: null,
  eventSlug: null,
};

describe.skipIf(missing !== null)('page of a market in the catalogue', () => {
  let api: ApiHarness;
  let browser: Browser;
  let key: string;

  beforeAll(async () => {
    ({ api } = await startPositionsApi());
    key = await api.key('growth');
    // Half of the collateral to each outcome.
    await api.clickhouse.insertRows('resolutions', [
      {
        condition_id: hail.conditionId,
        oracle: address(1),
        question_id: hex32(1),
        outcome_slot_count: 2,
        payout_numerators: ['1', '1'],
        block_number: 3_001,
        log_index: 0,
        timestamp: T + 60,
        tx_hash: hex32(3),
        _offset: 20,
      },
    ]);
    await api.clickhouse.insertRows('markets', [{ ...marketRow(young), token_ids: [] }]);
    browser = await startBrowser();
  });
  afterAll(async () => {
    await browser?.close();
    await api?.stop();
  });

  async function open(path: string, onPage: (page: Page) => void = () => undefined): Promise<Page> {
    const page = await browser.newPage({ viewport: { width: 1280, height: 900 } });
    await page.routeWebSocket(/\/ws\?/, () => undefined);
    onPage(page);
    await page.goto(`${api.url}${path}#key=${key}`);
    await soon(() => page.locator('[aria-busy]').count()).toBe(0);
    return page;
  }

  it('says that a market whose payout was split is resolved, and lists it as resolved', async () => {
    const page = await open(`/app/market/${hail.slug}`);
    const facts = (await page.locator('#facts > span').allTextContents())[0];
    expect(facts).toBe('resolved: several outcomes were paid');
    await page.locator('#resolution-panel').getByText('Yes 50 %, No 50 %').waitFor();
    // It has no new trades to follow.
    expect(await page.getByRole('button', { name: 'Live' }).getAttribute('aria-pressed')).not.toBe('true');
    await page.close();
    const found = await open(`/app?q=${hail.slug}`);
    expect(await found.locator('#results tbody td').nth(1).textContent()).toBe('resolved');
    await found.close();
  });

  it('of which no tokens are known shows and requests nothing by token', async () => {
    const requested: string[] = [];
    const failed: string[] = [];
    const page = await open(`/app/market/${young.slug}`, (page) => {
      page.on('request', (request) => requested.push(request.url()));
      page.on('response', (response) => {
        if (response.status() >= 400 && !response.url().endsWith('/readyz')) failed.push(response.url());
      });
      page.on('pageerror', (error) => failed.push(error.message));
    });
    expect(await page.locator('#title').textContent()).toBe('Thaw in Oslo?');
    await page.getByText('This market has no trades yet.').waitFor();
    expect(await page.locator('#candles-panel, #book').count()).toBe(0);
    await page.getByText('This view as REST, WebSocket and SQL').click();
    const code = page.locator('#as-code-body pre');
    const titles = await code.evaluateAll((boxes) => boxes.map((box) => box.getAttribute('data-title')));
    expect(titles).toEqual(['REST: market', 'REST: trades', 'REST: holders', 'WebSocket: new trades', 'SQL: market']);
    expect([...requested, ...(await code.allTextContents())].filter((text) => /undefined|IN \(\)/.test(text))).toEqual(
      [],
    );
    expect(failed).toEqual([]);
    await page.close();
  });
});
