import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { ApiHarness } from '../support/api.js';
import { startBrowser, withoutBrowser } from '../support/browser.js';
import { startPositionsApi } from '../support/positions-api.js';
import { address, hex32 } from '../support/rows.js';
import { hail, T } from '../support/venue.js';

const missing = withoutBrowser();
if (missing !== null) console.warn(`Not run here: ${missing}. In CI it must run.`);

const soon = <T>(check: () => T | Promise<T>) => expect.poll(check);

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
    browser = await startBrowser();
  });
  afterAll(async () => {
    await browser?.close();
    await api?.stop();
  });

  async function open(path: string): Promise<Page> {
    const page = await browser.newPage({ viewport: { width: 1280, height: 900 } });
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
});
