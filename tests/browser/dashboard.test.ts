import type { Browser, BrowserContext, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startBrowser, withoutBrowser } from '../support/browser.js';
import { axeFindings, CONTRASTS, LOOKS } from '../support/page-checks.js';
import type { Product } from '../support/product.js';
import { REFERENCE_RUN_TIMEOUT_MS, startLoaded } from '../support/reference-run.js';

const missing = withoutBrowser();
if (missing !== null) console.warn(`Not run here: ${missing}. In CI it must run.`);

const EMAIL = 'desk@fund.example';
const PASSWORD = 'correct horse battery';
const soon = <T>(check: () => T | Promise<T>) => expect.poll(check);

describe.skipIf(missing !== null)('/dashboard in a browser', () => {
  let product: Product;
  let browser: Browser;
  let context: BrowserContext;
  const complaints: string[] = [];

  beforeAll(async () => {
    [product, browser] = await Promise.all([startLoaded({ BILLING_PROVIDER: 'test' }), startBrowser()]);
    context = await browser.newContext({ viewport: { width: 1440, height: 900 } });
    await context.grantPermissions(['clipboard-read', 'clipboard-write'], { origin: product.api });
  }, REFERENCE_RUN_TIMEOUT_MS);
  afterAll(async () => {
    await browser?.close();
    await product?.dispose();
  });

  const open = async (path: string): Promise<Page> => {
    const page = await context.newPage();
    page.on('pageerror', (error) => complaints.push(error.message));
    page.on('console', (message) => {
      // Chromium reports the request whose response says that no user is signed in.
      if (message.type() === 'error' && !/status of 401/.test(message.text())) complaints.push(message.text());
    });
    await page.goto(product.api + path);
    return page;
  };
  /** The newest link that the API has written to its log, as it does without a mail server. */
  const newestLink = (kind: 'link' | 'reset') =>
    [...product.output().matchAll(new RegExp(`${product.api}/dashboard/${kind}#[\\w-]{43}`, 'g'))].at(-1)?.[0] ?? '';
  const askForLink = async (page: Page): Promise<string> => {
    const before = newestLink('link');
    await page.getByLabel('Email for the link').fill(EMAIL);
    await page.getByRole('button', { name: 'Mail me a link', exact: true }).click();
    await page.getByRole('status').getByText('on its way').waitFor();
    await soon(() => newestLink('link')).not.toBe(before);
    return newestLink('link');
  };
  const keyRows = (page: Page) => page.locator('#keys tbody tr');
  const tablesAreShown = (page: Page) => page.locator('#keys:not([aria-busy])').waitFor();

  it('leads from sign-up to a key, the first request, its usage, a package and its capacity', async () => {
    const page = await open('/dashboard');
    await page.waitForURL('**/dashboard/sign-in');
    const link = await askForLink(page);
    await page.goto(link);
    // The token leaves the address. Opening the page has not used it up.
    await soon(() => page.url()).toBe(`${product.api}/dashboard/link`);
    await page.reload();
    await page.getByRole('alert').getByText('Open the link again').waitFor();
    await page.goto(link);
    await page.getByRole('button', { name: 'Continue' }).click();
    await page.waitForURL('**/dashboard');
    await page.getByText(EMAIL).first().waitFor();
    await page.locator('#tiles').getByText('Free').waitFor();
    await page.getByText('No keys yet.').waitFor();

    await page.getByLabel('Name of the new key').fill('desk bot');
    await page.keyboard.press('Enter');
    const key = (await page.locator('#raw-key').textContent()) ?? '';
    expect(key).toMatch(/^odds_live_[0-9a-f]{32}$/);
    await page.getByRole('button', { name: 'Copy key' }).click();
    await page.getByText('Copied.').waitFor();
    expect(await page.evaluate('navigator.clipboard.readText()')).toBe(key);
    await page.getByRole('button', { name: 'I have stored it' }).click();
    expect(await page.locator('#raw-key').count()).toBe(0);
    expect(await page.content()).not.toContain(key);

    await page.locator('#history-state').getByText('Nothing used in this time.').waitFor();
    expect(await page.locator('#history-canvas canvas').first().isVisible()).toBe(false);
    const utcDay = () => new Date().toISOString().slice(0, 10);
    const dayBefore = utcDay();
    const request = await fetch(`${product.api}/v1/crypto/candles?symbol=BTC`, { headers: { 'x-api-key': key } });
    expect([200, 503]).toContain(request.status);
    const usage = async () => {
      await fetch(`${product.api}/v1/crypto/markets`, { headers: { 'x-api-key': key } });
      await page.reload();
      await tablesAreShown(page);
      return page.locator('.meter').first().locator('p').textContent();
    };
    await expect.poll(usage, { interval: 2_000 }).toMatch(/^[1-9]\d* of 100,000$/);
    /** Of the requests. */
    const day = `(?:${dayBefore}|${utcDay()})`;
    const lastUse = async () => {
      await page.reload();
      await tablesAreShown(page);
      return (await keyRows(page).first().locator('td').allTextContents())[3];
    };
    await expect.poll(lastUse, { interval: 2_000 }).toMatch(new RegExp(`^${day} [0-9:]{8}$`));
    await page.getByText('History as a table').click();
    await soon(() => page.locator('#history-rows tbody tr').count()).toBe(30);
    // A day that has begun since has no requests.
    const newestDays = (await page.locator('#history-rows tbody tr').allTextContents()).slice(0, 2);
    expect(newestDays).toContainEqual(expect.stringMatching(new RegExp(`^${day}[1-9]\\d*$`)));
    await page.locator('#history-canvas canvas').first().waitFor();

    await page.getByText('Test payments.').waitFor();
    await page.getByLabel('Packages', { exact: true }).fill('2');
    await page.getByText('20,000,000 for $40.00').waitFor();
    await page.getByRole('button', { name: 'Buy' }).click();
    await page.waitForURL('**/dashboard/test-payment*');
    await page.getByText('No money').first().waitFor();
    await page.getByText('40 USD').waitFor();
    expect(await axeFindings(page)).toEqual([]);
    await page.getByRole('button', { name: 'Confirm without money' }).click();
    await page.getByText('The packages are in your account.').waitFor();
    await page.getByRole('link', { name: 'Back to the dashboard' }).click();
    await page.locator('#packages tbody tr').waitFor();
    expect(await page.locator('#packages tbody tr').textContent()).toMatch(/^API requests20,000,00020,000,0000/);
    expect(await page.locator('#receipts tbody tr').textContent()).toMatch(/2 × API requests\$40\.00test, no money/);
    expect(await page.locator('.meter').first().textContent()).toContain('Left of packages20,000,000');
    expect(complaints.splice(0)).toEqual([]);
    await page.close();
  }, 180_000);

  it('renames, replaces and revokes keys in dialogs that keyboards reach and leave', async () => {
    const page = await open('/dashboard');
    await tablesAreShown(page);
    await page.getByRole('button', { name: 'Rename desk bot' }).focus();
    await page.keyboard.press('Enter');
    const dialog = page.getByRole('dialog');
    await dialog.waitFor();
    // Opened again before the browser reports the close.
    await page.evaluate("document.getElementById('dialog').close(); document.activeElement.click()");
    await dialog.getByLabel('Name').waitFor();
    await page.keyboard.press('Escape');
    await soon(() => dialog.count()).toBe(0);
    expect(await page.evaluate('document.activeElement.textContent')).toBe('Rename');
    await page.keyboard.press('Enter');
    await dialog.getByLabel('Name').fill('the desk');
    await page.keyboard.press('Enter');
    await keyRows(page).getByText('the desk').waitFor();

    await page.getByRole('button', { name: 'Replace the desk' }).click();
    expect(await axeFindings(page)).toEqual([]);
    await dialog.getByLabel('The present key').selectOption('works for 1 hour more');
    await dialog.getByRole('button', { name: 'Replace key' }).click();
    await page.locator('#raw-key').waitFor();
    const key = (await page.locator('#raw-key').textContent()) ?? '';
    await soon(() => keyRows(page).count()).toBe(2);
    await page.getByRole('button', { name: 'Replace the desk' }).click();
    await dialog.getByLabel('The present key').selectOption('works for 1 hour more');
    await dialog.getByRole('button', { name: 'Replace key' }).click();
    await dialog.getByRole('alert').getByText('Too many replaced keys still work.').waitFor();
    await page.keyboard.press('Escape');
    await soon(() => dialog.count()).toBe(0);
    await page.getByLabel('Name of the new key').fill('one more');
    await page.keyboard.press('Enter');
    await page.getByRole('alert').getByText('The plan has no further keys.').waitFor();

    for (const left of [1, 0]) {
      await page.getByRole('button', { name: 'Revoke the desk' }).first().click();
      await dialog.getByRole('button', { name: 'Revoke key' }).click();
      await soon(() => keyRows(page).count()).toBe(left);
    }
    await soon(async () => (await fetch(`${product.api}/v1/status`, { headers: { 'x-api-key': key } })).status).toBe(
      403,
    );
    // A lost key of the free plan is replaced at once.
    await page.getByLabel('Name of the new key').fill('after the loss');
    await page.keyboard.press('Enter');
    await keyRows(page).getByText('after the loss').waitFor();
    expect(complaints.splice(0).filter((text) => !/status of 409/.test(text))).toEqual([]);
    await page.close();
  });

  it('shows a new key also when the list of keys cannot be read then', async () => {
    const page = await open('/dashboard');
    await tablesAreShown(page);
    const before = await keyRows(page).first().locator('td').nth(1).textContent();
    await page.route('**/v1/account/keys', (route) =>
      route.request().method() === 'GET' ? route.abort() : route.continue(),
    );
    await page.getByRole('button', { name: 'Replace after the loss' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByLabel('The present key').selectOption('stops at once');
    await dialog.getByRole('button', { name: 'Replace key' }).click();
    await page.locator('#raw-key').waitFor();
    const key = (await page.locator('#raw-key').textContent()) ?? '';
    await soon(() => dialog.count()).toBe(0);
    await page.getByRole('alert').getByText('The server does not respond.').waitFor();
    expect(await page.locator('#raw-key').textContent()).toBe(key);
    await soon(async () => (await fetch(`${product.api}/v1/status`, { headers: { 'x-api-key': key } })).status).toBe(
      200,
    );
    await page.unroute('**/v1/account/keys');
    await page.reload();
    await soon(() => keyRows(page).count()).toBe(1);
    expect(await keyRows(page).first().locator('td').nth(1).textContent()).not.toBe(before);
    expect(complaints.splice(0).filter((text) => !/ERR_FAILED/.test(text))).toEqual([]);
    await page.close();
  });

  it('sends nothing, and puts no password into the address, before its scripts have loaded', async () => {
    const page = await context.newPage();
    const sent: string[] = [];
    await page.route('**/dashboard/assets/*.js', (route) => route.abort());
    for (const path of ['/dashboard/sign-in', `/dashboard/reset#${'t'.repeat(43)}`, '/dashboard/link']) {
      // The mark of recorded input, on every page, has been loaded then.
      await page.goto(product.api + path, { waitUntil: 'networkidle' });
      page.on('request', (request) => sent.push(request.url()));
      await page.locator('input[type=password]').fill(PASSWORD);
      await page.keyboard.press('Enter');
      // What a form without its button disabled would do.
      await page.evaluate(
        'for (const form of document.forms) { form.noValidate = true; form.requestSubmit(); form.submit(); }',
      );
      // A navigation that had begun would show.
      await page.evaluate('new Promise((resolve) => setTimeout(resolve, 200))').catch(() => undefined);
      expect(page.url()).toBe(product.api + path);
      page.removeAllListeners('request');
    }
    expect(sent).toEqual([]);
    await page.close();
  });

  it('has no finding of axe, weak contrast or sideways scrolling, wide and narrow, light and dark', async () => {
    const pages = {
      '/dashboard': '#packages:not(:empty)',
      '/dashboard/sign-in': '#link-form',
      '/dashboard/link': '[role=alert]',
      [`/dashboard/link#${'t'.repeat(43)}`]: '#use-form',
      [`/dashboard/reset#${'t'.repeat(43)}`]: '#use-form',
    };
    for (const [path, ready] of Object.entries(pages))
      for (const width of [1440, 390])
        for (const colorScheme of ['light', 'dark'] as const) {
          const page = await open('/favicon.ico');
          await page.setViewportSize({ width, height: 900 });
          await page.emulateMedia({ colorScheme });
          await page.goto(product.api + path);
          await page.locator(ready).waitFor();
          if (path === '/dashboard') await tablesAreShown(page);
          const what = `${path} ${width} ${colorScheme}`;
          if (LOOKS.some((look) => look[0] === width && look[1] === colorScheme))
            expect([what, ...(await axeFindings(page))]).toEqual([what]);
          expect([what, ...((await page.evaluate(CONTRASTS)) as string[])]).toEqual([what]);
          expect([what, await page.evaluate('document.documentElement.scrollWidth <= innerWidth')]).toEqual([
            what,
            true,
          ]);
          await page.close();
        }
    expect(complaints.splice(0)).toEqual([]);
  });

  it('keeps the chosen kind of package and the place on the page while it waits for a payment', async () => {
    const page = await open('/favicon.ico');
    const order = {
      ...{ checkout_id: 'c1', meter: 'api_requests', count: 1, quantity: 10_000_000, amount_usd: 20, status: 'open' },
      ...{ provider: 'test', payment_ref: null, started_at: 1_790_000_000, paid_at: null },
      ...{ refunded_usd: 0, disputed_usd: 0 },
    };
    let polls = 0;
    await page.route('**/v1/account/receipts', (route) => {
      polls += 1;
      return route.fulfill({ json: { receipts: [order] } });
    });
    await page.goto(`${product.api}/dashboard?checkout=c1#packages-panel`);
    await page.getByText('as soon as the payment is confirmed').waitFor();
    await page.locator('#meter').selectOption('onchain_event_bytes');
    await page.evaluate('scrollTo(0, 0)');
    const before = polls;
    // Each poll comes after the one before it was shown.
    await soon(() => polls).toBeGreaterThan(before + 1);
    expect(await page.locator('#meter').inputValue()).toBe('onchain_event_bytes');
    expect(await page.evaluate('scrollY')).toBe(0);
    await page.close();
  });

  it('shows the history of the chosen period when the answer of an earlier choice comes later', async () => {
    const page = await open('/dashboard');
    await tablesAreShown(page);
    let release: () => void = () => undefined;
    const held = new Promise<void>((resolve) => {
      release = resolve;
    });
    await page.route(
      ({ search }) => search === '?days=7',
      async (route) => {
        await held;
        await route.continue();
      },
    );
    const days = () => page.locator('#history-rows tbody tr').count();
    await page.getByText('History as a table').click();
    await page.getByRole('radio', { name: '7 days' }).check();
    await page.getByRole('radio', { name: '90 days' }).check();
    await soon(days).toBe(90);
    const late = page.waitForResponse((response) => response.url().endsWith('?days=7'));
    release();
    await (await late).finished();
    await page.evaluate('new Promise((resolve) => setTimeout(resolve, 200))');
    expect(await days()).toBe(90);
    await page.close();
  });

  it('marks a meter as used up only when nothing of its packages is left', async () => {
    const page = await open('/dashboard');
    await page.route('**/v1/account/usage', async (route) => {
      const body = await (await route.fetch()).json();
      const [first, second] = body.meters;
      Object.assign(first, { used: 6_000_000, included: 100_000, packages_remaining: 4_100_000 });
      Object.assign(second, { used: 6_000_000, included: 100_000, packages_remaining: 0 });
      await route.fulfill({ json: body });
    });
    await page.reload();
    await tablesAreShown(page);
    const meters = page.locator('.meter');
    expect(await Promise.all([0, 1].map((n) => meters.nth(n).getAttribute('class')))).toEqual(['meter', 'meter over']);
    await page.close();
  });

  it('sets a password, signs out and in with it, resets it, and deletes the account', async () => {
    const page = await open('/dashboard');
    await tablesAreShown(page);
    await page.getByLabel('New password').fill(PASSWORD);
    await page.getByRole('button', { name: 'Set password' }).click();
    await page.getByText('The password is set.').waitFor();
    await page.getByRole('button', { name: 'Sign out', exact: true }).click();
    await page.waitForURL('**/dashboard/sign-in');

    await page.getByLabel('Email', { exact: true }).fill(EMAIL);
    await page.getByLabel('Password').fill(`${PASSWORD}, wrong`);
    await page.getByRole('button', { name: 'Sign in' }).click();
    await page.getByRole('alert').getByText('Email or password is wrong.').waitFor();
    await page.getByLabel('Password').fill(PASSWORD);
    await page.keyboard.press('Enter');
    await page.waitForURL('**/dashboard');
    await tablesAreShown(page);

    const other = await open('/dashboard/sign-in');
    await other.getByLabel('Email', { exact: true }).fill(EMAIL);
    await other.getByRole('button', { name: 'Mail me a link to choose one' }).click();
    await other.getByRole('status').getByText('on its way').waitFor();
    await soon(() => newestLink('reset')).not.toBe('');
    const fresh = await browser.newContext();
    const reset = await fresh.newPage();
    await reset.goto(newestLink('reset'));
    await reset.getByLabel('New password').fill('a brand new password');
    await reset.getByRole('button', { name: 'Set password and sign in' }).click();
    await reset.waitForURL('**/dashboard');
    await fresh.close();
    await other.close();
    // The session of the old password has ended.
    await page.reload();
    await page.waitForURL('**/dashboard/sign-in');

    await page.goto(await askForLink(page));
    await page.getByRole('button', { name: 'Continue' }).click();
    await page.waitForURL('**/dashboard');
    await tablesAreShown(page);
    await page.getByRole('button', { name: 'Delete the account…' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByLabel(`Type ${EMAIL} to confirm`).fill('another@fund.example');
    await dialog.getByRole('button', { name: 'Delete the account' }).click();
    await dialog.getByRole('alert').getByText('Invalid email.').waitFor();
    await dialog.getByLabel(`Type ${EMAIL} to confirm`).fill(EMAIL);
    await dialog.getByRole('button', { name: 'Delete the account' }).click();
    await page.waitForURL('**/dashboard/sign-in');
    await page.goto(`${product.api}/dashboard`);
    await page.waitForURL('**/dashboard/sign-in');
    expect(complaints.splice(0).filter((text) => !/status of 400/.test(text))).toEqual([]);
    await page.close();
  });
});
