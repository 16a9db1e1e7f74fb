import { readFileSync } from 'node:fs';
import { setTimeout as pause } from 'node:timers/promises';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { silentLogger } from '../../infra/telemetry/logger.js';
import { publishViews } from '../../processors/public-views/publish.js';
import { publicViews } from '../../processors/public-views/views.js';
import { type ApiHarness, startApi } from '../support/api.js';
import { startBrowser, withoutBrowser } from '../support/browser.js';
import { axeFindings, CONTRASTS, LOOKS } from '../support/page-checks.js';
import { insertVenue } from '../support/venue.js';

const missing = withoutBrowser();
if (missing !== null) console.warn(`Not run here: ${missing}. In CI it must run.`);

const HEAVY = 'SELECT count() FROM numbers(1000000000000) WHERE sipHash64(number) = 1';
const soon = <T>(check: () => T | Promise<T>) => expect.poll(check);

describe.skipIf(missing !== null)('/sql in a browser', () => {
  let api: ApiHarness;
  let browser: Browser;
  let key: string;
  const complaints: string[] = [];

  beforeAll(async () => {
    api = await startApi({ nowMs: Date.UTC(2026, 8, 23) });
    await publishViews({
      client: api.clickhouse,
      database: 'market',
      views: publicViews,
      logger: silentLogger(),
    });
    await insertVenue(api.clickhouse);
    key = await api.key('enterprise');
    browser = await startBrowser();
  });
  afterAll(async () => {
    await browser?.close();
    await api?.stop();
  });

  const open = async (
    options: { width?: number; colorScheme?: 'light' | 'dark'; fragment?: string } = {},
  ): Promise<Page> => {
    const { width = 1440, colorScheme = 'light', fragment = `#key=${key}` } = options;
    const page = await browser.newPage({ viewport: { width, height: 900 }, colorScheme });
    page.on('pageerror', (error) => complaints.push(error.message));
    page.on('console', (message) => {
      if (message.type() === 'error') complaints.push(message.text());
    });
    await page.goto(`${api.url}/sql${fragment}`);
    return page;
  };
  const text = async (page: Page) => (await page.locator('.cm-line').allTextContents()).join('\n');
  const write = async (page: Page, sql: string) => {
    await page.locator('.cm-content').click();
    await page.keyboard.press('Control+a');
    // The editor deletes; Chromium would keep the style of replaced text as an inline style, which the policy blocks and reports.
    await page.keyboard.press('Delete');
    await page.keyboard.insertText(sql);
  };
  /** The editor ignores Enter just after the list has opened. */
  const acceptCompletion = async (page: Page) => {
    await pause(200);
    await page.keyboard.press('Enter');
  };
  const status = (page: Page) => page.locator('#run-status').textContent();
  const cells = (page: Page) => page.locator('#rows tbody tr').allTextContents();

  it('runs an example at a click, and shows its rows with types, time and what was read', async () => {
    const page = await open({ fragment: '' });
    await page.getByLabel('API key').fill(key);
    await page.getByRole('button', { name: 'Use this key' }).click();
    await page.getByRole('button', { name: 'How much was traded per day?' }).click();
    await soon(() => status(page)).toMatch(/^\d+ rows · [\d.]+ m?s · [\d,]+ rows and [\d.]+ \w+ read$/);
    expect((await cells(page)).length).toBeGreaterThan(0);
    expect(await page.locator('#rows thead th').allTextContents()).toEqual([
      'dayDate',
      'matchesUInt64',
      'match_usdDecimal(38, 6)',
      'partiesUInt64',
      'party_usdDecimal(38, 6)',
    ]);
    expect(complaints.splice(0)).toEqual([]);

    await page.getByLabel('Chart', { exact: true }).check();
    await page.locator('#chart-box canvas').first().waitFor();
    await page.getByLabel('As', { exact: true }).selectOption('bars');
    await soon(() => page.locator('#chart-box rect').count()).toBeGreaterThan(0);
    await page.getByLabel('x', { exact: true }).selectOption({ label: 'matches' });
    expect(await page.getByLabel('As', { exact: true }).isDisabled()).toBe(true);
    await page.close();
    expect(complaints.splice(0)).toEqual([]);
  });

  it('downloads all rows as CSV and Parquet, and says when the table has not all of them', async () => {
    const page = await open();
    await write(page, "SELECT number AS n, concat('row ', toString(number)) AS name FROM numbers(1500)");
    await page.keyboard.press('Control+Enter');
    await soon(() => status(page)).toMatch(/^first 1,000 rows/);
    expect(await page.locator('#result-note').textContent()).toContain('There are more rows');
    expect(await page.locator('#rows tbody tr').count()).toBe(1000);
    for (const [button, format] of [
      ['CSV', 'csv'],
      ['Parquet', 'parquet'],
    ] as const) {
      const [download] = await Promise.all([
        page.waitForEvent('download'),
        page.getByRole('button', { name: button, exact: true }).click(),
      ]);
      expect(download.suggestedFilename()).toMatch(new RegExp(`^oddstream-.*\\.${format}$`));
      const bytes = readFileSync(await download.path());
      if (format === 'csv') expect(bytes.toString('utf8').trimEnd().split('\n')).toHaveLength(1501);
      else expect(bytes.toString('latin1', 0, 4)).toBe('PAR1');
    }
    await page.close();
    expect(complaints.splice(0)).toEqual([]);
  });

  it('shares a query by its address, which another tab opens with its own key and does not run', async () => {
    const page = await open();
    const sql = "SELECT '50 % + ä' AS text,\n  2 AS b";
    await write(page, sql);
    await page.getByRole('button', { name: 'Copy link' }).click();
    await soon(() => page.url()).toContain('#sql=');
    const link = page.url();
    expect(link).not.toContain(key);
    const other = await (await browser.newContext()).newPage();
    await other.goto(link);
    await other.getByLabel('API key').fill(key);
    await other.getByRole('button', { name: 'Use this key' }).click();
    await soon(() => text(other)).toBe(sql);
    expect(await other.locator('#result').isVisible()).toBe(false);
    await other.getByRole('button', { name: 'Run', exact: true }).click();
    await soon(() => cells(other)).toEqual(['50 % + ä2']);
    await other.close();

    const both = await open({ fragment: `#key=${key}&sql=SELECT+7` });
    await soon(() => text(both)).toBe('SELECT 7');
    expect(both.url()).toBe(`${api.url}/sql#sql=SELECT+7`);
    await both.close();
    await page.close();
    expect(complaints.splice(0)).toEqual([]);
  });

  it('completes views and columns, and inserts them from the tree', async () => {
    const page = await open();
    await page.locator('#schema details').first().waitFor();
    expect(await page.locator('#schema > details').count()).toBe(publicViews.length);
    await write(page, 'SELECT * FROM ');
    await page.keyboard.type('volum');
    await page.locator('.cm-tooltip-autocomplete').getByText('volume_days', { exact: true }).waitFor();
    await acceptCompletion(page);
    await soon(() => text(page)).toBe('SELECT * FROM volume_days');
    await page.keyboard.type(' ORDER BY match_u');
    await page.locator('.cm-tooltip-autocomplete').getByText('match_usd', { exact: true }).waitFor();
    await acceptCompletion(page);
    await soon(() => text(page)).toBe('SELECT * FROM volume_days ORDER BY match_usd');

    await write(page, 'SELECT ');
    await page.getByLabel('Find a view or column').fill('longest_gap');
    const column = page.locator('#schema li', { hasText: 'longest_gap_s' });
    expect(await column.textContent()).toContain('Longest time without a record');
    await column.getByRole('button').click();
    await soon(() => text(page)).toBe('SELECT longest_gap_s');
    await page.close();
    expect(complaints.splice(0)).toEqual([]);
  });

  it("shows the engine's message and its position, cancels, and keeps queries", async () => {
    const page = await open();
    await write(page, 'SELECT day\nFRM trades oops here');
    await page.getByRole('button', { name: 'Run', exact: true }).click();
    await page.getByRole('alert').getByText('Error 62').waitFor();
    expect(await page.getByRole('alert').textContent()).toContain('Syntax error');
    await page.getByRole('button', { name: /^Go to line 2, column \d+$/ }).click();
    complaints.splice(0);

    await write(page, HEAVY);
    await page.getByRole('button', { name: 'Run', exact: true }).click();
    await soon(() => status(page)).toMatch(/^Running, /);
    expect(await page.locator('#progress').isVisible()).toBe(true);
    await page.getByRole('button', { name: 'Cancel' }).click();
    await soon(() => status(page)).toMatch(/^Cancelled after /);
    await soon(
      async () =>
        (
          await api.clickhouse.query<{ n: string }>(
            "SELECT count() AS n FROM system.processes WHERE query LIKE '%numbers(1000000000000)%' AND query NOT LIKE '%processes%'",
          )
        )[0]?.n,
    ).toBe('0');

    await write(page, 'SELECT 42 AS answer');
    await page.getByText('Saved in this browser').click();
    await page.getByLabel('Name of the query').fill('mine');
    await page.getByRole('button', { name: 'Save', exact: true }).click();
    await page.reload();
    await soon(() => text(page)).toBe('SELECT 42 AS answer');
    await write(page, 'SELECT 1');
    await page.getByText('Saved in this browser').click();
    await page.getByRole('button', { name: 'mine', exact: true }).click();
    await soon(() => text(page)).toBe('SELECT 42 AS answer');
    await page.getByRole('button', { name: 'Delete mine' }).click();
    await soon(() => page.getByRole('button', { name: 'mine', exact: true }).count()).toBe(0);
    await page.close();
    expect(complaints.splice(0)).toEqual([]);
  });

  it('says to a key of the free plan that it needs a paid one', async () => {
    const page = await open({ fragment: `#key=${await api.key('free')}` });
    await page.getByRole('button', { name: 'Run', exact: true }).click();
    await page.locator('#message').getByText('This endpoint requires a paid plan').waitFor();
    await page.close();
    complaints.splice(0);
  });

  it.each(LOOKS)('is readable at %i px, %s', async (width, colorScheme) => {
    const page = await open({ width, colorScheme });
    await page.getByRole('button', { name: 'How much was traded per day?' }).click();
    await soon(() => cells(page)).not.toEqual([]);
    await soon(() => page.locator('[aria-busy]').count()).toBe(0);
    expect(await page.evaluate('document.documentElement.scrollWidth')).toBeLessThanOrEqual(width);
    expect(await page.evaluate(CONTRASTS)).toEqual([]);
    expect(await axeFindings(page)).toEqual([]);
    await page.getByLabel('Chart', { exact: true }).check();
    await page.locator('#chart-box canvas').first().waitFor();
    expect(await page.evaluate('document.documentElement.scrollWidth')).toBeLessThanOrEqual(width);
    await page.close();
    expect(complaints.splice(0)).toEqual([]);
  });

  it('has no inline script but the import map that its policy names', async () => {
    const response = await fetch(`${api.url}/sql`);
    expect(response.headers.get('content-security-policy')).toMatch(
      /^default-src 'none'; script-src 'self' 'sha256-[\w+/=]{44}'; style-src 'self'; img-src 'self' data:; connect-src 'self'; form-action 'none'; base-uri 'none'; frame-ancestors 'none'$/,
    );
    const html = await response.text();
    expect(html.match(/<script(?![^>]*src=)[^>]*>/g)).toEqual(['<script type="importmap">']);
    expect(html).not.toMatch(/ on\w+=| style=|<style/);
  });
});
