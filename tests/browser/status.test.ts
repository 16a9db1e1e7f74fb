import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { LoadStatus } from '../../api/readiness/load-status.js';
import { type ApiHarness, allTablesLoaded, startApi } from '../support/api.js';
import { startBrowser, withoutBrowser } from '../support/browser.js';
import { axeFindings, CONTRASTS } from '../support/page-checks.js';

const missing = withoutBrowser();
if (missing !== null) console.warn(`Not run here: ${missing}. In CI it must run.`);

const soon = <T>(check: () => T | Promise<T>) => expect.poll(check);

describe.skipIf(missing !== null)('/status in a browser', () => {
  let api: ApiHarness;
  let browser: Browser;
  let loading: LoadStatus = allTablesLoaded;
  const complaints: string[] = [];

  beforeAll(async () => {
    api = await startApi({ nowMs: Date.UTC(2026, 2, 4, 12), progress: () => loading });
    await api.clickhouse.command(
      `INSERT INTO blocks (block_number, timestamp, _offset) SELECT 100 + number, toDateTime('2026-03-01 00:00:00', 'UTC') + number * 60, number FROM numbers(2880) WHERE number < 1440 OR number >= 1500`,
    );
    browser = await startBrowser();
  });
  afterAll(async () => {
    await browser?.close();
    await api?.stop();
  });

  const open = async (options: { width?: number; colorScheme?: 'light' | 'dark' } = {}): Promise<Page> => {
    const { width = 1440, colorScheme = 'light' } = options;
    const page = await browser.newPage({ viewport: { width, height: 900 }, colorScheme });
    page.on('pageerror', (error) => complaints.push(error.message));
    page.on('console', (message) => {
      if (message.type() === 'error') complaints.push(message.text());
    });
    await page.goto(`${api.url}/status`);
    return page;
  };

  it('loads its scripts and style sheets once, also when it is opened again', async () => {
    const page = await open();
    const loaded = () =>
      page.evaluate(() =>
        performance.getEntriesByType('resource').map((entry) => {
          const { name, transferSize } = entry.toJSON();
          return { path: new URL(name).pathname, bytes: transferSize };
        }),
      );
    const isAsset = ({ path }: { path: string }) => /^\/v\/[\w-]+\/.*\.(?:js|css)$/.test(path);
    await soon(async () => (await loaded()).filter(isAsset).length).toBeGreaterThan(5);
    const first = (await loaded()).filter(isAsset);
    expect(first.every(({ bytes }) => bytes > 0)).toBe(true);
    await page.goto(`${api.url}/status`);
    await soon(async () => (await loaded()).filter(isAsset).length).toBe(first.length);
    expect(new Map((await loaded()).filter(isAsset).map(({ path, bytes }) => [path, bytes]))).toEqual(
      new Map(first.map(({ path }) => [path, 0])),
    );
    await page.close();
  });

  it('says what it waits for, then shows sources, problems and days by itself, without a key', async () => {
    const page = await open();
    await page.getByText('Waiting for the ingest process: no source has reported yet.').waitFor();
    await api.reportSource({ recorded_from_ms: Date.UTC(2026, 2, 1) });
    await api.reportSource({ source: 'oracle', connected: false, head: null, finalized: null });
    const rows = page.locator('#sources tbody tr');
    await soon(() => rows.count()).toBe(2);
    expect(await rows.nth(0).textContent()).toMatch(/^chaincurrent2 s.*10recordedday 2026-03-01, shown 40 days later$/);
    expect(await rows.nth(1).textContent()).toContain('disconnected');
    await soon(() => page.locator('#overall').textContent()).toBe('1 problem.');
    await page.getByText(/^Source oracle is disconnected/).waitFor();
    expect(await page.locator('#notice').textContent()).toContain('Recorded data, not live (chain, oracle).');

    // 1 March is complete; 2 March begins an hour late.
    expect(await page.getByRole('button', { name: '1 March 2026, available' }).count()).toBe(1);
    await page.getByRole('button', { name: /^2 March 2026/ }).click();
    await page
      .locator('#day')
      .getByText(/No block with a log of a watched contract|The day is indexed/)
      .first()
      .waitFor();
    expect(await page.locator('#versions').textContent()).toMatch(/Oddstream \d+\.\d+\.\d+.*API 1\.0\.0/);

    await api.reportSource({ source: 'oracle', connected: true, head: null, finalized: null });
    loading = {
      ...allTablesLoaded,
      groups: { ...allTablesLoaded.groups, fills: { ...allTablesLoaded.groups.fills, lagS: 185 } },
    };
    await soon(() => page.locator('#notices').textContent()).toBe('Table group fills is 3 min behind the log.');
    loading = allTablesLoaded;
    await soon(() => page.locator('#overall').textContent()).toBe('All sources are current.');
    await page.close();
    expect(complaints.splice(0)).toEqual([]);
  });

  it('says that the API does not respond, and recovers', async () => {
    const page = await open();
    await soon(() => page.locator('#sources tbody tr').count()).toBe(2);
    await page.route('**/v1/status/public', (route) => route.abort());
    await soon(() => page.locator('#overall').textContent()).toContain('The API does not respond');
    await page.unroute('**/v1/status/public');
    await soon(() => page.locator('#overall').textContent()).toBe('All sources are current.');
    await page.close();
    complaints.splice(0);
  });

  it.each([
    [1440, 'light'],
    [390, 'light'],
    [390, 'dark'],
  ] as const)('is readable at %i px, %s', async (width, colorScheme) => {
    const page = await open({ width, colorScheme });
    await soon(() => page.locator('button.day').count()).toBeGreaterThan(1);
    expect(await page.evaluate('document.documentElement.scrollWidth')).toBeLessThanOrEqual(width);
    expect(await page.evaluate(CONTRASTS)).toEqual([]);
    expect(await axeFindings(page)).toEqual([]);
    await page.close();
    expect(complaints.splice(0)).toEqual([]);
  });
});
