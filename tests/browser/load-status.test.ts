import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { LoadStatus, TableGroupState } from '../../api/readiness/load-status.js';
import type { TableGroup } from '../../api/readiness/table-groups.js';
import { type ApiHarness, allTablesLoaded, startApi } from '../support/api.js';
import { startBrowser, withoutBrowser } from '../support/browser.js';

const missing = withoutBrowser();
if (missing !== null) console.warn(`Not run here: ${missing}. In CI it must run.`);

let loading: LoadStatus;
function all(
  change: Partial<TableGroupState>,
  of: (table: TableGroup) => Partial<TableGroupState> = () => ({}),
): LoadStatus {
  const groups = Object.values(allTablesLoaded.groups).map((group) => [
    group.table,
    { ...group, ...change, ...of(group.table) },
  ]);
  return { groups: Object.fromEntries(groups) as LoadStatus['groups'], ready: false };
}

describe.skipIf(missing !== null)('/app while the history loads', () => {
  let api: ApiHarness;
  let browser: Browser;
  beforeAll(async () => {
    loading = all({ state: 'empty', percent: 0 });
    api = await startApi({ nowMs: Date.now(), progress: () => loading });
    browser = await startBrowser();
  });
  afterAll(async () => {
    await browser?.close();
    await api?.stop();
  });

  it('shows the progress, then the loaded part, then everything, automatically', async () => {
    const page = await browser.newPage();
    const errors: string[] = [];
    page.on('pageerror', (error) => errors.push(error.message));
    await page.goto(`${api.url}/app#key=${await api.key('enterprise')}`);
    const box = page.locator('#loading');
    const shows = (part: string) => expect.poll(() => box.textContent()).toContain(part);
    await shows('The history is loading: 0 %');
    expect(await page.locator('#view').isVisible()).toBe(false);
    loading = all({ state: 'loading', percent: 50, throughMs: Date.UTC(2026, 2, 12, 10) }, (table) =>
      table === 'fills' ? { state: 'loaded', percent: 100 } : table === 'catalog' ? { percent: null } : {},
    );
    // (100 + 6 * 50 + 0) / 8
    await shows('The history is loading: 50 %');
    await shows('complete through 2026-03-12 10:00 UTC');
    await expect.poll(() => page.locator('#view').isVisible()).toBe(true);
    const drawnAgain = page.waitForEvent('load', { timeout: 10_000 });
    loading = allTablesLoaded;
    await drawnAgain;
    await expect.poll(() => page.locator('#view').isVisible()).toBe(true);
    expect(await box.isVisible()).toBe(false);
    expect(errors).toEqual([]);
    await page.close();
  });
});
