import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type ApiHarness, startApi } from '../support/api.js';
import { startBrowser, withoutBrowser } from '../support/browser.js';
import { axeFindings, LOOKS } from '../support/page-checks.js';

const missing = withoutBrowser();
if (missing !== null) console.warn(`Not run here: ${missing}. In CI it must run.`);

describe.skipIf(missing !== null)('documents in a browser', () => {
  let api: ApiHarness;
  let browser: Browser;
  const complaints: string[] = [];

  beforeAll(async () => {
    api = await startApi({ nowMs: Date.UTC(2026, 10, 21) });
    browser = await startBrowser();
  });
  afterAll(async () => {
    await browser?.close();
    await api?.stop();
  });

  const open = async (
    path: string,
    options: { width?: number; colorScheme?: 'light' | 'dark' } = {},
  ): Promise<Page> => {
    const { width = 1440, colorScheme = 'light' } = options;
    const page = await browser.newPage({ viewport: { width, height: 900 }, colorScheme });
    page.on('pageerror', (error) => complaints.push(error.message));
    page.on('console', (message) => {
      if (message.type() === 'error') complaints.push(message.text());
    });
    await page.goto(api.url + path);
    return page;
  };

  const operationIsOpen = (page: Page) =>
    page.locator('.opblock.is-open .opblock-summary-path', { hasText: 'leaderboard' }).first().waitFor();

  it('the search finds a section and an endpoint by keyboard', async () => {
    const page = await open('/docs/socket');
    const search = page.getByLabel('Search the documents');
    await search.fill('holders view');
    await page.locator('#found a').first().waitFor();
    await search.fill('end_of_block');
    await expect.poll(() => page.locator('#found a').first().textContent()).toBeTruthy();
    await search.fill('/v3/leaderboard');
    await page.locator('#found a', { hasText: 'GET /v3/leaderboard' }).first().waitFor();
    await search.press('Enter');
    await operationIsOpen(page);
    await page.getByLabel('Search the documents').fill('no such thing anywhere');
    await page.getByText('Nothing found.').waitFor();
    await page.close();
    expect(complaints.splice(0)).toEqual([]);
  });

  it('the search opens another operation of the reference while it is open', async () => {
    const page = await open('/docs');
    await page.locator('.opblock').first().waitFor();
    await page.getByLabel('Search the documents').fill('/v3/leaderboard');
    await page.locator('#found a', { hasText: 'GET /v3/leaderboard' }).first().click();
    await operationIsOpen(page);
    await page.close();
    expect(complaints.splice(0)).toEqual([]);
  });

  it.each(['sql', 'socket', 'operations', 'limits'])(
    '/docs/%s has no finding of axe and no sideways scrolling, wide and narrow, light and dark',
    async (slug) => {
      for (const [width, colorScheme] of LOOKS) {
        const page = await open(`/docs/${slug}`, { width, colorScheme });
        const what = `${slug} ${width} ${colorScheme}`;
        expect([what, ...(await axeFindings(page))]).toEqual([what]);
        expect([what, await page.evaluate('document.documentElement.scrollWidth <= innerWidth')]).toEqual([what, true]);
        await page.close();
      }
      expect(complaints.splice(0)).toEqual([]);
    },
  );

  it('the reference has no finding of axe and no sideways scrolling, with an operation open, light and dark', async () => {
    for (const [width, colorScheme] of LOOKS) {
      const page = await open('/docs#/Markets/getV3MarketsSearch', { width, colorScheme });
      await page
        .locator('.opblock.is-open .samples')
        .first()
        .waitFor()
        .catch((error: Error) => {
          throw new Error(`${error.message}\n${complaints.join('\n')}\n${page.url()}`);
        });
      const what = `reference ${width} ${colorScheme}`;
      expect([what, ...(await axeFindings(page))]).toEqual([what]);
      expect([what, await page.evaluate('document.documentElement.scrollWidth <= innerWidth')]).toEqual([what, true]);
      await page.close();
    }
    expect(complaints.splice(0)).toEqual([]);
  });

  it('the OpenAPI document contains no references, which the reference would not resolve', () => {
    expect(JSON.stringify(api.service.openApi)).not.toContain('"$ref"');
  });

  it('serves the same text as Markdown', async () => {
    const limits = await api.get('/docs/limits.md');
    expect([limits.status, limits.headers.get('content-type')]).toEqual([200, 'text/markdown; charset=utf-8']);
    expect(limits.body).toMatch(/^# Limits\n/);
    const reference = (await api.get('/docs/reference.md')).body;
    for (const path of Object.keys((api.service.openApi as { paths: object }).paths)) expect(reference).toContain(path);
  });
});
