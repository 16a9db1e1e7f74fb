import { readFileSync } from 'node:fs';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startBrowser, withoutBrowser } from '../support/browser.js';
import { axeFindings, CONTRASTS, cellsOf, responseOf } from '../support/page-checks.js';
import type { Product } from '../support/product.js';
import { REFERENCE_RUN_TIMEOUT_MS, startLoaded } from '../support/reference-run.js';

const missing = withoutBrowser();
if (missing !== null) console.warn(`Not run here: ${missing}. In CI it must run.`);

const soon = <T>(check: () => T | Promise<T>) => expect.poll(check);

interface Market {
  condition: string;
  slug: string;
  question: string;
  tokens: string[];
  outcomes: string[];
  payouts: number[];
  fills: number;
}
interface Fill {
  at: number;
  maker: string;
  side: string;
  outcome: string;
  usdc: string;
  shares: string;
  taker_order: boolean;
}

interface Holder {
  user: string;
  token_id: string;
  amount: string | null;
  avg_price: string | null;
  realized_pnl: string | null;
  total_bought: string | null;
}
interface ApiPosition {
  market: string;
  status: string;
  price_source: string | null;
  total_pnl: number | null;
}

/** Shares of base units with at most two decimals, rounded half up; below 0.01 unrounded; a dash for null. */
function shown(units: string | null): RegExp {
  if (units === null) return /^–$/;
  const value = BigInt(units);
  if (value > 0n && value < 10_000n) return /^0\.00\d+$/;
  const hundredths = (value + 5_000n) / 10_000n;
  const fraction = String(hundredths % 100n)
    .padStart(2, '0')
    .replace(/0+$/, '');
  const whole = String(hundredths / 100n).replace(/\B(?=(\d{3})+$)/g, ',');
  return new RegExp(`^${whole}${fraction === '' ? '' : `\\.${fraction}`}$`);
}

/** Early in the recording; 35 matches of Up, 33 of Down. */
const SLUG = 'btc-updown-5m-1773957000';
const FILLS = 136;
const MATCHES = 68;
/** The market, if all its fills and its settlement are in the tables. */
const settledSql = `SELECT m.condition_id AS condition, any(m.slug) AS slug, any(m.question) AS question,
    any(arrayMap(token -> toString(token), m.token_ids)) AS tokens, any(m.outcomes) AS outcomes,
    any(arrayMap(payout -> toUInt8(payout), r.payout_numerators)) AS payouts, toUInt32(count()) AS fills
  FROM fills AS f INNER JOIN tokens AS t ON t.token_id = f.token_id INNER JOIN markets AS m ON m.condition_id = t.condition_id
  INNER JOIN resolutions AS r ON r.condition_id = m.condition_id
  WHERE m.slug = '${SLUG}' GROUP BY condition HAVING fills = ${FILLS}`;
describe.skipIf(missing !== null)('/app in a browser', () => {
  let product: Product;
  let browser: Browser;
  let market: Market;

  beforeAll(async () => {
    [product, browser] = await Promise.all([startLoaded(), startBrowser()]);
    const [settled] = await product.sql<Market>(settledSql);
    if (settled === undefined) throw new Error(`${SLUG} is not complete in the tables`);
    market = settled;
  }, REFERENCE_RUN_TIMEOUT_MS);
  afterAll(async () => {
    await browser?.close();
    await product?.dispose();
  });

  /** A page opened with the ready key, like the link of the start-up text. `complaints`: the browser's errors about scripts, styles and policy. */
  async function open(
    path: string,
    options: { dark?: boolean; width?: number; key?: string; before?: (page: Page) => Promise<unknown> } = {},
  ): Promise<{ page: Page; complaints: string[] }> {
    const viewport = { width: options.width ?? 1280, height: 900 };
    const page = await browser.newPage({ viewport, colorScheme: options.dark ? 'dark' : 'light' });
    const complaints: string[] = [];
    page.on('pageerror', (error) => complaints.push(error.message));
    page.on('console', (message) => {
      // The API answers 404 for an outcome without an order book, which Chromium reports as an error.
      const isMissingBook = message.location().url.includes('/v1/orderbook/');
      if (message.type() === 'error' && !isMissingBook) complaints.push(message.text());
    });
    await options.before?.(page);
    await page.goto(`${product.api}${path}#key=${options.key ?? product.key()}`);
    return { page, complaints };
  }
  const rows = (page: Page, list: string) => page.locator(`#${list} tbody tr:not([aria-hidden])`);
  /** As if the user had changed to another tab, or back. */
  const hide = (page: Page, hidden: boolean) =>
    page.evaluate(`Object.defineProperty(document, 'hidden', { configurable: true, value: ${hidden} });
      document.dispatchEvent(new Event('visibilitychange'))`);
  const marketPage = () => `/app/market/${market.slug}`;
  const sample = (path: string, answer: object, times = 1) => {
    let left = times;
    return (page: Page) =>
      page.route(path, async (route) => {
        left -= 1;
        if (left < 0) await route.fallback();
        else await route.fulfill(answer);
      });
  };

  it('opens from the start-up text, finds a market by keyboard alone, and keeps the key out of the address', async () => {
    const link = /Markets and wallets +(\S+)/.exec(product.output())?.[1] ?? '';
    expect(link).toBe(`${product.api}/app`);
    const { page, complaints } = await open('/app');
    await soon(() => rows(page, 'results').count()).toBe(50);
    expect(page.url()).toBe(`${product.api}/app`);

    await page.keyboard.press('/');
    await page.keyboard.type(market.slug);
    const option = page.getByRole('option', { name: market.question });
    await option.waitFor();
    expect(await option.getAttribute('aria-selected')).toBe('false');
    await page.keyboard.press('ArrowDown');
    expect(await option.getAttribute('aria-selected')).toBe('true');
    expect(await page.locator('#q').getAttribute('aria-activedescendant')).toBe(await option.getAttribute('id'));
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { level: 1, name: market.question }).waitFor();
    expect(page.url()).toBe(`${product.api}/app/market/${market.condition}`);

    // Parts of words, and a token id.
    await page.keyboard.press('/');
    await page.keyboard.type('bitc dow');
    await page
      .getByRole('option', { name: /bitcoin up or down/i })
      .first()
      .waitFor();
    // Enter means the text once it was changed, also while suggestions of the earlier one are shown.
    await page.keyboard.press('ArrowDown');
    await page.route(
      ({ searchParams }) => searchParams.get('q') === 'bitc down',
      (route) => (route.request().url().includes('limit=8') ? undefined : route.continue()),
    );
    await page.keyboard.type('n');
    await page.keyboard.press('Enter');
    await page.waitForURL(`${product.api}/app?q=bitc+down`);
    await page.locator('#q').fill(market.tokens[1] ?? '');
    await page.getByRole('option', { name: market.question }).waitFor();
    await page.keyboard.press('Escape');

    // Enter on plain words lists all markets that match.
    await page.locator('#q').fill('bitcoin up');
    await page.keyboard.press('Enter');
    await page.waitForURL(`${product.api}/app?q=bitcoin+up`);
    await soon(() => rows(page, 'results').count()).toBe(50);
    await page.getByRole('button', { name: 'Load more: Search results' }).press('Enter');
    await soon(() => rows(page, 'results').count()).toBe(100);
    const names = (await page.evaluate(cellsOf('results'))) as string[][];
    expect(names.every(([name]) => /bitcoin up/i.test(name ?? ''))).toBe(true);
    // The table head stays visible while rows scroll.
    await page.locator('#results .scroll').evaluate((box) => Object.assign(box, { scrollTop: 900 }));
    const tops = (await page.evaluate(
      `['.scroll', 'th', 'tbody tr'].map((name) => document.querySelector('#results ' + name).getBoundingClientRect().top)`,
    )) as number[];
    expect(Math.abs((tops[1] ?? 0) - (tops[0] ?? 0))).toBeLessThan(3);
    expect(tops[2]).toBeLessThan((tops[0] ?? 0) - 800);

    // The console in this tab uses the same key.
    await page.getByRole('link', { name: 'Console', exact: true }).click();
    await soon(() => page.getByLabel('Key').inputValue()).toBe(product.key());
    expect(complaints).toEqual([]);
    await page.close();
  });

  it('shows a market: settled prices with their source, candles in the chart and the table, every trade once', async () => {
    const { page, complaints } = await open(marketPage());
    const tiles = page.locator('#tiles > div');
    await page.locator('#tiles:not([aria-busy])').waitFor();
    // Two outcomes and the volume, each match once.
    expect(await tiles.count()).toBe(3);
    const [volume] = await product.sql<{ usdc: string }>(
      `SELECT toString(sum(usdc)) AS usdc FROM fills WHERE NOT is_taker_order
        AND token_id IN (${market.tokens.map((token) => `toUInt256('${token}')`).join(', ')})`,
    );
    const dollars = (Number(volume?.usdc) / 1e6).toLocaleString('en-US', {
      minimumFractionDigits: 2,
      maximumFractionDigits: 2,
    });
    expect(await tiles.nth(2).textContent()).toBe(`Volume$${dollars}${MATCHES} matches on the exchange`);
    for (const [index, outcome] of market.outcomes.entries()) {
      const text = await tiles.nth(index).textContent();
      expect(text).toMatch(new RegExp(`^${outcome}\\$${market.payouts[index]}\\.00settled on chain, 2026-`));
    }
    // The settlement with the contract that reported it, and ids to check it with.
    const resolution = page.locator('#resolution-panel');
    await resolution.getByText(/^StateSettled on the chain 2026-/).waitFor();
    await resolution.getByText(market.payouts[0] === 1 ? 'Up 100 %, Down 0 %' : 'Up 0 %, Down 100 %').waitFor();
    const outside = await resolution
      .getByRole('link')
      .evaluateAll((links) => links.map((link) => (link as unknown as { href: string }).href));
    expect(outside).toContainEqual(expect.stringMatching(/^https:\/\/polygonscan\.com\/tx\/0x[0-9a-f]{64}$/));
    expect(outside).toContainEqual(expect.stringMatching(/^https:\/\/polygonscan\.com\/address\/0x[0-9a-f]{40}$/));
    expect(outside).toContain(`https://polymarket.com/event/${market.slug}/${market.slug}`);
    for (const token of market.tokens) expect(outside.some((href) => href.endsWith(`?a=${token}`))).toBe(true);

    // Colours of rising and falling candles in the style sheet; nothing else on the canvas has them.
    const isCandle = [
      [0x1f, 0x8a, 0x5b],
      [0xc8, 0x45, 0x2f],
    ]
      .map((colour) => colour.map((value, index) => `data[at + ${index}] === ${value}`).join(' && '))
      .join(' || ');
    const painted = () =>
      page.evaluate(`[...document.querySelectorAll('#candles-canvas canvas')].some((canvas) => {
        const { data } = canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height);
        for (let at = 0; at < data.length; at += 4)
          if (${isCandle}) return true;
        return false;
      })`);
    await soon(painted).toBe(true);

    // One or two candles by day; volumes are those of the fills, each match once.
    await page.getByRole('radio', { name: '4h' }).focus();
    await page.keyboard.press('ArrowRight');
    await page.getByText('Candles as a table').click();
    const [sum] = await product.sql<{ matches: number; usdc: string }>(
      `SELECT toUInt32(count()) AS matches, toString(sum(usdc)) AS usdc FROM fills
        WHERE token_id = toUInt256('${market.tokens[0]}') AND NOT is_taker_order`,
    );
    const chartSums = () =>
      page.evaluate(`[...document.querySelectorAll('#candles-rows tbody tr')].map((row) => [...row.children].map((cell) => cell.textContent))
        .reduce(([trades, cents], row) => [trades + Number(row[7]), cents + Math.round(Number(row[5].replace(/[$,]/g, '')) * 100)], [0, 0])`);
    await soon(async () => ((await chartSums()) as number[])[0]).toBe(sum?.matches);
    const cents = Number(BigInt(sum?.usdc ?? '0') / 10_000n);
    expect(Math.abs(((await chartSums()) as number[])[1] ?? 0) - cents).toBeLessThanOrEqual(2);
    expect(page.url()).toBe(`${product.api}${marketPage()}?resolution=1d`);

    const fills = await product.sql<Fill>(
      `SELECT toUnixTimestamp(f.timestamp) AS at, lower(maker) AS maker, side, t.outcome AS outcome, toString(usdc) AS usdc, toString(shares) AS shares, is_taker_order AS taker_order
        FROM fills AS f INNER JOIN tokens AS t ON t.token_id = f.token_id WHERE t.condition_id = '${market.condition}'
        ORDER BY f.block_number DESC, f.log_index DESC`,
    );
    expect(fills).toHaveLength(market.fills);
    // A match is one row: the takers' own orders are left out.
    const matches = fills.filter(({ taker_order: isTaker }) => !isTaker);
    expect(matches).toHaveLength(MATCHES);
    for (let shown = 50; shown < matches.length; shown += 50) {
      await soon(() => rows(page, 'trades').count()).toBe(shown);
      await page.getByRole('button', { name: 'Load more: Trades' }).click();
    }
    await page.getByText(`${matches.length} shown, that is all`).waitFor();
    const listed = (await page.evaluate(`[...document.querySelectorAll('#trades tbody tr')].map((row) =>
      [row.querySelector('time').textContent, row.children[1].textContent, row.children[2].textContent, row.querySelector('a.row').title])`)) as string[][];
    expect(listed).toEqual(
      matches.map(({ at, maker, side, outcome }) => [
        new Date(at * 1000).toISOString().slice(0, 19).replace('T', ' '),
        side,
        outcome,
        maker,
      ]),
    );
    // Holders: amounts in base units, rounded half up here with integers.
    const [holders] = await Promise.all([
      responseOf<{ data: Holder[] }>(page, '/positions?sort=volume'),
      page.getByRole('radio', { name: 'Most bought' }).check(),
    ]);
    expect(holders.data.length).toBeGreaterThan(5);
    await soon(() => rows(page, 'holders').count()).toBe(holders.data.length);
    expect(await page.evaluate(cellsOf('holders'))).toEqual(
      holders.data.map((row) => [
        `${row.user.slice(0, 6)}…${row.user.slice(-4)}`,
        market.outcomes[market.tokens.indexOf(row.token_id)],
        expect.stringMatching(shown(row.amount)),
        row.avg_price === null ? '–' : expect.stringMatching(/^\$0\.\d{2,4}$/),
        expect.stringMatching(shown(row.total_bought)),
        row.realized_pnl === null ? '–' : expect.stringMatching(/^([+−]?\$[\d,]+\.\d\d|[+−]\$0\.00\d+)$/),
      ]),
    );

    const first = matches[0] as Fill;
    const hover = await page.locator('#trades time').first().getAttribute('title');
    expect(hover).toMatch(/here$/);
    await page.locator('#trades tbody tr a.row').first().focus();
    await page.keyboard.press('Enter');
    await page.waitForURL(`${product.api}/app/wallet/${first.maker}`);
    await soon(() => rows(page, 'trades').count()).toBeGreaterThan(0);
    expect(complaints).toEqual([]);
    await page.close();
  });

  it('shows a wallet: totals, two PnL curves, positions with the source of each price', async () => {
    const [trader] = await product.sql<{ wallet: string }>(
      `SELECT maker AS wallet FROM fills WHERE token_id = toUInt256('${market.tokens[0]}') GROUP BY maker ORDER BY count() DESC LIMIT 1`,
    );
    const path = `/app/wallet/${trader?.wallet}`;
    const responses: { book?: Promise<{ positions: ApiPosition[] }>; curve?: Promise<{ series: { pnl: number }[] }> } =
      {};
    const { page, complaints } = await open(path, {
      before: async (page) => {
        // The panel of exposure requests other positions.
        responses.book = responseOf(page, 'sort=recent');
        responses.curve = responseOf(page, '/pnl?period=ALL');
      },
    });
    const positions = (await responses.book)?.positions ?? [];
    expect(positions.length).toBeGreaterThan(0);
    await soon(() => rows(page, 'positions').count()).toBe(positions.length);
    const cells = (await page.evaluate(cellsOf('positions'))) as string[][];
    const sources: Record<string, string> = {
      settlement: 'settled on chain',
      clob_mid: 'middle of the order book',
      v1_condition: 'price of the catalogue',
      last_fill: 'newest fill',
    };
    for (const [index, { market: name, status, price_source: source, total_pnl: profit }] of positions.entries()) {
      const [title, , state, , , price, , , total] = cells[index] as string[];
      expect([title, state]).toEqual([name, status]);
      expect(price).toContain(source === null ? 'no price yet' : sources[source]);
      expect(total?.[0]).toBe(profit === null ? '–' : profit > 0 ? '+' : profit < 0 ? '−' : '$');
    }

    const points = (await responses.curve)?.series ?? [];
    expect(points.length).toBeGreaterThan(1);
    const newest = points.at(-1)?.pnl ?? 0;
    await page.getByText('Profit as a table').click();
    // The curve begins at zero before the first trade.
    await soon(() => rows(page, 'equity-rows').count()).toBe(points.length + (points[0]?.pnl === 0 ? 0 : 1));
    const sign = newest > 0 ? '+' : newest < 0 ? '−' : '';
    const text = Math.abs(newest).toLocaleString('en-US', { minimumFractionDigits: 2, maximumFractionDigits: 2 });
    await page.locator('#equity-legend').getByText(`${sign}$${text}`, { exact: true }).waitFor();
    await page.locator('#equity-canvas canvas').first().waitFor();
    const tiles = await page.locator('#tiles > div').allTextContents();
    const usdOf = (name: string) => {
      const found = tiles.find((tile) => tile.startsWith(name))?.slice(name.length) ?? '';
      const [, minus, amount = ''] = /^([+−]?)\$([\d,]+\.\d\d)/.exec(found) ?? [];
      return (minus === '−' ? -1 : 1) * Number(amount.replaceAll(',', ''));
    };
    expect(usdOf('Profit after fees')).toBeCloseTo(usdOf('Profit before fees') - usdOf('Fees'), 1);
    expect(usdOf('Profit after fees')).toBeCloseTo(newest, 1);

    const [realized] = await Promise.all([
      responseOf<{ raw: { points: number } }>(page, '/equity?period=all'),
      page.getByRole('radio', { name: 'Realized, by position' }).check(),
    ]);
    expect(realized.raw.points).toBeGreaterThan(0);
    await page.getByText('Before fees; positions in the order of their first activity.').waitFor();
    expect(complaints).toEqual([]);
    // One request per 10 s: the page shows the error and the remaining wait.
    await page.getByRole('radio', { name: '1Y' }).check();
    await page.getByRole('alert').getByText('429Rate limited. 1 request per 10 s per key.').waitFor();
    expect(await page.getByRole('button', { name: /^Try again in \d+ s$/ }).isDisabled()).toBe(true);
    // The curve of the period before is gone, and that of the chosen one comes by itself.
    expect(await rows(page, 'equity-rows').count()).toBe(0);
    await soon(() => rows(page, 'equity-rows').count()).toBeGreaterThan(0);
    expect(await page.getByRole('alert').count()).toBe(0);
    // An allowance that is used up until the next month: a timer of more than 24.8 days would run at once.
    let requests = 0;
    const usedUp = 'The requests of your plan and all packages are used up for this service month.';
    await page.route('**/equity?*', (route) => {
      requests += 1;
      return route.fulfill({ status: 429, headers: { 'retry-after': '2592000' }, json: { error: usedUp } });
    });
    await page.getByRole('radio', { name: '90D' }).check();
    await page.getByRole('alert').getByText(usedUp).waitFor();
    await page.evaluate('new Promise((resolve) => setTimeout(resolve, 300))');
    expect(requests).toBe(1);
    await page.close();
  });

  it('shows the /v1 data of a wallet to a free key, and notes what requires a paid plan', async () => {
    const created = await fetch(`${product.api}/v1/keys`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ name: 'free' }),
    });
    const { api_key: key } = (await created.json()) as { api_key: string };
    const [trader] = await product.sql<{ wallet: string }>(
      `SELECT maker AS wallet FROM fills WHERE maker IN (SELECT wallet FROM positions FINAL WHERE size > 0)
        GROUP BY maker ORDER BY count() DESC, maker LIMIT 1`,
    );
    const path = `/app/wallet/${trader?.wallet}`;
    for (const dark of [false, true]) {
      const responses: {
        book?: Promise<{ positions: Record<string, unknown>[] }>;
        trades?: Promise<{ count: number }>;
      } = {};
      const { page, complaints } = await open(path, {
        key,
        dark,
        before: async (page) => {
          responses.book = responseOf(page, `/v1/wallets/${trader?.wallet}/positions?`);
          responses.trades = responseOf(page, `/v1/wallets/${trader?.wallet}/trades?`);
        },
      });
      const positions = (await responses.book)?.positions ?? [];
      expect(positions.length).toBeGreaterThan(0);
      await soon(() => rows(page, 'positions').count()).toBe(positions.length);
      const cells = (await page.evaluate(cellsOf('positions'))) as string[][];
      expect(cells.map(([title, outcome, state]) => [title, outcome, state])).toEqual(
        positions.map((row) => [row.title, row.outcome, row.redeemable ? 'resolved' : 'open']),
      );
      expect(await page.locator('#status, #position-sort').count()).toBe(0);
      await page.getByText('Open positions, largest first. Closed positions are part of the paid plans.').waitFor();
      await page.getByText('The totals of a wallet are part of the paid plans.').waitFor();
      const first = (await responses.trades)?.count ?? 0;
      expect(first).toBe(50);
      await soon(() => rows(page, 'trades').count()).toBe(first);
      await page.getByRole('button', { name: 'Load more: Trades' }).click();
      await soon(() => rows(page, 'trades').count()).toBe(2 * first);
      await page.locator('#equity-canvas canvas').first().waitFor();
      await page.getByRole('radio', { name: 'Realized, by position' }).check();
      await page.getByText('This curve is part of the paid plans.').waitFor();
      expect((await page.locator('#equity-legend').textContent())?.trim()).toBe('');
      expect(await page.getByRole('alert').count()).toBe(0);
      expect(complaints.filter((text) => !/status of 40[23]/.test(text))).toEqual([]);
      expect(await page.evaluate(CONTRASTS)).toEqual([]);
      await page.close();
    }
    const { page } = await open('/app/wallet/0x12', { key });
    await page.getByRole('alert').getByText('400Invalid wallet: 0x12').waitFor();
    await page.close();
  });

  it('inserts trades of the event socket at the top, once, and loads the list again when some did not come', async () => {
    const frame = {
      type: 'trade',
      seq: 9,
      timestamp: 1_790_000_000_000,
      data: {
        event_type: 'trade',
        tx_hash: `0x${'ab'.repeat(32)}`,
        block_number: 99,
        log_index: 7,
        timestamp: 1_790_000_000_000,
        maker: `0x${'0'.repeat(38)}a1`,
        taker: `0x${'0'.repeat(38)}b2`,
        token_id: market.tokens[0],
        outcome: market.outcomes[0],
        side: 'SELL',
        price: 0.415,
        size: 1200.5,
        maker_amount: '1200500000',
        taker_amount: '498207500',
        fee: 0.25,
      },
    };
    const requested: { filters: { since_seq?: number } }[] = [];
    let responses: object[] = [frame, frame];
    let endConnection: (() => Promise<void>) | undefined;
    const { page } = await open(marketPage(), {
      before: (page) =>
        page.routeWebSocket(/\/ws\?/, (socket) => {
          endConnection = () => socket.close({ code: 1012, reason: 'server restart' });
          socket.onMessage((text) => {
            const message = JSON.parse(text.toString());
            if (message.action !== 'subscribe') return;
            requested.push(message);
            for (const response of responses.splice(0)) socket.send(JSON.stringify(response));
          });
        }),
    });
    await soon(() => rows(page, 'trades').count()).toBe(50);
    await page.getByRole('button', { name: 'Live' }).click();
    const fresh = page.locator('#trades tr.fresh');
    await fresh.waitFor();
    expect(requested[0]?.filters).toMatchObject({
      condition_ids: [market.condition],
      event_types: ['trade', 'retract'],
    });
    expect(await fresh.locator('td').allTextContents()).toEqual([
      // Narrow screens show the maker below the time.
      '2026-09-21 14:13:200x0000…00a1',
      'SELL',
      market.outcomes[0],
      '$0.415',
      '1,200.5',
      '$498.21',
      '0x0000…00a1',
      '0x0000…00b2',
      '0xabab…abab',
    ]);
    expect(await rows(page, 'trades').count()).toBe(51);

    for (const response of [
      {
        type: 'subscribed',
        warnings: ['since_seq clamped to the last 30 s of your plan: the replay begins at seq 90'],
      },
      { type: 'error', code: 'since_seq_unavailable', message: 'since_seq 9 is no longer retained' },
    ]) {
      responses = [response];
      const reloaded = responseOf(page, '/v3/trades?');
      await endConnection?.();
      await reloaded;
      await soon(() => rows(page, 'trades').count()).toBe(50);
      await soon(() => page.locator('#live-status').textContent()).toBe(
        'New trades appear on top, before they are final.',
      );
    }
    await soon(() => requested.map(({ filters }) => filters.since_seq)).toEqual([undefined, 9, 9, undefined]);
    await page.close();
  });

  it("shows the API's error text: unknown market, rejected key, malformed address, too many requests", async () => {
    const unknown = await open('/app/market/no-such-market', { dark: true });
    await unknown.page.getByRole('alert').getByText('404market not found').waitFor();
    expect(await unknown.page.evaluate(CONTRASTS)).toEqual([]);
    await unknown.page.keyboard.press('/');
    await unknown.page.keyboard.type('no-such-name');
    // No suggestion leads nowhere: neither this name nor this token is known.
    await unknown.page.getByText('Neither a market nor a wallet has “no-such-name”.').waitFor();
    await unknown.page.locator('#q').fill('123456789');
    await unknown.page.getByText('Neither a market nor a wallet has “123456789”.').waitFor();
    await unknown.page.locator('#q').fill(`0x${'9'.repeat(40)}`);
    await unknown.page.getByText('0x9999…9999 has not traded. Enter opens its page.').waitFor();
    expect(await unknown.page.getByRole('option').count()).toBe(0);
    const [fill] = await product.sql<{ maker: string }>('SELECT maker FROM fills ORDER BY timestamp LIMIT 1');
    await unknown.page.locator('#q').fill(fill?.maker ?? '');
    await unknown.page.getByRole('option', { name: 'wallet' }).waitFor();
    const [eoa, safe] = ['1', '2'].map((digit) => `0x${digit.repeat(40)}`);
    await unknown.page.route('**/v1/resolve/some-trader', (route) =>
      route.fulfill({ json: { safe, eoa, username: 'some-trader', wallet_details: [] } }),
    );
    await unknown.page.locator('#q').fill('some-trader');
    await unknown.page.getByRole('option', { name: 'Wallet of “some-trader”' }).waitFor();
    await unknown.page.keyboard.press('ArrowDown');
    await unknown.page.keyboard.press('Enter');
    await unknown.page.waitForURL(`${product.api}/app/wallet/${safe}`);
    await unknown.page.close();

    const badAddress = await open('/app/wallet/0x12');
    await badAddress.page.getByRole('alert').getByText('invalid address: use 0x and 40 hex digits').waitFor();
    await badAddress.page.close();

    const invalidKey = await open('/app', { key: `odds_live_${'0'.repeat(32)}` });
    await invalidKey.page.getByRole('alert').getByText('403invalid or inactive API key').waitFor();
    await invalidKey.page.getByRole('button', { name: 'Use another key' }).click();
    await invalidKey.page.getByLabel('API key').fill(product.key());
    await invalidKey.page.keyboard.press('Enter');
    await soon(() => rows(invalidKey.page, 'results').count()).toBe(50);
    await invalidKey.page.close();

    const limited = await open('/app', {
      before: sample('**/v3/trades*', {
        status: 429,
        headers: { 'retry-after': '1' },
        json: { error: 'rate limit exceeded' },
      }),
    });
    await limited.page.getByRole('alert').getByText('429rate limit exceeded').waitFor();
    await limited.page.getByRole('button', { name: 'Try again', exact: true }).click();
    await soon(() => rows(limited.page, 'results').count()).toBe(50);
    await limited.page.close();

    const empty = await open(`/app/wallet/0x${'0'.repeat(38)}aa`);
    await empty.page.getByText('This wallet has not traded.').waitFor();
    await empty.page.getByText('This wallet never had a position.').waitFor();
    // A trial click finds elements that are covered by the chart's canvas.
    await empty.page.getByText('No profit or loss in this period.').click({ trial: true });
    await empty.page.getByText('Address not found.').waitFor();
    await empty.page.close();
  });

  it('shows the price of the coin with the price to beat, and the chart in percent or as a line', async () => {
    const { page, complaints } = await open(marketPage());
    await soon(() => page.locator('[aria-busy]').count()).toBe(0);
    const pair = (await product.get('/v1/crypto/price?symbol=BTC&window=1773957000')).body as {
      openPrice: number | null;
    };
    const legend = page.locator('#coin-legend');
    expect(await legend.textContent()).toContain(
      pair.openPrice === null ? 'not recorded' : pair.openPrice.toLocaleString('en-US', { maximumFractionDigits: 2 }),
    );
    expect(await page.locator('#candles-legend').textContent()).toMatch(/Close [\d.]+ ¢/);
    await page.getByRole('radio', { name: '%', exact: true }).check();
    await soon(() => page.locator('#candles-legend').textContent()).toMatch(/Close [\d.]+ %/);
    await page.getByRole('radio', { name: 'Line' }).check();
    expect(await page.getByRole('link', { name: 'next window' }).getAttribute('href')).toBe(
      '/app/market/btc-updown-5m-1773957300',
    );
    expect(complaints).toEqual([]);
    await page.close();
  });

  it('shows the final price and the settlement of a window that ended while the page was hidden', async () => {
    const startS = Number(SLUG.split('-').at(-1));
    let isOver = false;
    const { page, complaints } = await open(marketPage(), {
      before: async (page) => {
        await page.clock.install({ time: (startS + 240) * 1000 });
        await page.routeWebSocket(/\/ws\?/, () => undefined);
        await page.route('**/v1/crypto/price*', (route) =>
          route.fulfill({ json: { openPrice: 64_000, closePrice: 64_050, completed: isOver } }),
        );
        await page.route('**/v1/crypto/ticks*', (route) =>
          route.fulfill({ json: { ticks: [{ timestamp: startS + 200, data: { price: 64_050 } }] } }),
        );
        // As the API describes the market before its settlement.
        await page.route('**/v3/markets/slug/*', async (route) => {
          const { data } = await (await route.fetch()).json();
          const open = { closed: false, active: true, resolved: false, winning_outcome_index: null };
          await route.fulfill({ json: { data: [{ ...data[0], ...open }] } });
        });
        await page.route('**/v3/conditions/*', async (route) => {
          const condition = await (await route.fetch()).json();
          await route.fulfill({ json: isOver ? condition : { ...condition, resolved_at: null } });
        });
      },
    });
    const legend = page.locator('#coin-legend');
    await soon(() => legend.textContent()).toContain('Price $64,050.00');
    const resolution = page.locator('#resolution-panel');
    await resolution.getByText('Open, as the catalogue says; the chain has not settled it.').waitFor();
    await hide(page, true);
    isOver = true;
    await page.clock.fastForward(900_000);
    await hide(page, false);
    await page.clock.fastForward(10_000);
    await soon(() => legend.textContent()).toContain('Final price $64,050.00');
    await page.clock.fastForward(60_000);
    const winner = market.outcomes[market.payouts.indexOf(1)];
    await page.locator('#facts').getByText(`resolved: ${winner}, as the chain paid`).waitFor();
    await resolution.getByText(/^StateSettled on the chain 2026-/).waitFor();
    expect(complaints).toEqual([]);
    await page.close();
  });

  it('downloads positions and trades of a wallet as CSV, and sums open positions up by category', async () => {
    const [trader] = await product.sql<{ wallet: string; orders: number }>(
      `SELECT maker AS wallet, toUInt32(count()) AS orders FROM fills GROUP BY maker HAVING orders BETWEEN 320 AND 900 ORDER BY orders DESC, maker LIMIT 1`,
    );
    const { page, complaints } = await open(`/app/wallet/${trader?.wallet}`);
    await soon(() => page.locator('[aria-busy]').count()).toBe(0);
    const download = async (name: string) => {
      const [file] = await Promise.all([
        page.waitForEvent('download'),
        page.getByRole('button', { name: `Download ${name} as CSV` }).click(),
      ]);
      expect(file.suggestedFilename()).toBe(`oddstream-${name}-${trader?.wallet}.csv`);
      const text = readFileSync(await file.path(), 'utf8');
      return text.trimEnd().split('\r\n');
    };
    const [head, ...trades] = await download('trades');
    expect(head).toBe(
      'time,market,slug,outcome,direction,price,size,amount_usd,fee,maker,taker,condition_id,token_id,transaction_hash,order_hash',
    );
    expect(trades).toHaveLength(trader?.orders ?? 0);
    const [positions] = await product.sql<{ count: number }>(
      `SELECT toUInt32(count()) AS count FROM positions FINAL WHERE wallet = '${trader?.wallet}'`,
    );
    expect((await download('positions')).slice(1)).toHaveLength(positions?.count ?? 0);
    // All pages of a file are of one status, also if another one is chosen meanwhile.
    const statuses: (string | null)[] = [];
    const isPage = ({ pathname, searchParams }: URL) =>
      pathname.endsWith('/positions') && searchParams.get('limit') === '300';
    await page.route(isPage, async (route) => {
      statuses.push(new URL(route.request().url()).searchParams.get('status'));
      await page.getByRole('radio', { name: 'Closed' }).check();
      await route.fulfill({ json: { positions: [{}], next_cursor: statuses.length === 1 ? 'second' : null } });
    });
    await page.getByRole('radio', { name: 'Redeemed' }).check();
    expect(await download('positions')).toHaveLength(3);
    expect(statuses).toEqual(['redeemed', 'redeemed']);
    await page.unroute(isPage);

    const open_ = (
      (await product.get(`/v3/wallets/${trader?.wallet}/positions?status=open&limit=300`)).body as {
        positions: { size: number | null }[];
      }
    ).positions.length;
    const listed = ((await page.evaluate(cellsOf('exposure'))) as string[][]).map((row) =>
      Number.parseInt(row[1] ?? '', 10),
    );
    expect(listed.reduce((sum, one) => sum + one, 0)).toBe(open_);
    // The recording has whole days without data.
    await page.getByText('Profit as a table').click();
    await soon(() => page.locator('#equity-rows').textContent()).toContain('incomplete day');
    await page.getByText('Shaded: days without complete data.').waitFor();
    expect(complaints).toEqual([]);
    await page.close();
  });

  it('leads from an owner key that has not traded to its trading wallet, and lists the wallets of the person', async () => {
    const [trader] = await product.sql<{ wallet: string }>('SELECT maker AS wallet FROM fills ORDER BY maker LIMIT 1');
    const wallet = trader?.wallet ?? '';
    const eoa = `0x${'0'.repeat(38)}e1`;
    const other = `0x${'0'.repeat(38)}f1`;
    const detail = (address: string, type: string) => ({
      address,
      wallet_type: type,
      deployed: true,
      current: address === wallet,
    });
    const before = (page: Page) =>
      page.route('**/v1/resolve/*', (route) =>
        route.fulfill({
          json: {
            safe: wallet,
            eoa,
            username: 'quietfox',
            type: 'deposit_wallet',
            wallets: { deposit_wallet: wallet, safe: other, proxy_wallet: null },
            wallet_details: [detail(wallet, 'deposit_wallet'), detail(other, 'safe')],
          },
        }),
      );
    const { page } = await open(`/app/wallet/${eoa}`, { before });
    await page.waitForURL(`${product.api}/app/wallet/${wallet}?from=${eoa}`);
    await page.getByRole('heading', { level: 1, name: 'quietfox' }).waitFor();
    expect(await page.locator('#facts').textContent()).toContain('deposit wallet');
    expect(await page.locator('#facts').textContent()).toContain('owner key 0x0000…00e1');
    expect(await page.locator('#facts a[href^="/app/wallet/"]').getAttribute('href')).toBe(`/app/wallet/${other}`);
    await page.close();

    // Addresses with a checksum have capitals; the API and the tables have none.
    const capitals = await open(`/app/wallet/0x${wallet.slice(2).toUpperCase()}`, { before });
    await capitals.page.getByRole('heading', { level: 1, name: 'quietfox' }).waitFor();
    const links = capitals.page.locator('#facts a[href^="/app/wallet/"]');
    expect(await links.count()).toBe(1);
    expect(await links.getAttribute('href')).toBe(`/app/wallet/${other}`);
    await capitals.page.getByText('This view as REST, WebSocket and SQL').click();
    expect(await capitals.page.locator('#as-code-body pre[data-kind=sql]').first().textContent()).toContain(
      `WHERE wallet = '${wallet}'`,
    );
    await capitals.page.close();
  });

  it('the home page shows current windows with live prices, totals, top wallets and large trades as they come', async () => {
    const start = Math.floor(Date.now() / 300_000) * 300;
    const slug = `btc-updown-5m-${start}`;
    const frames = [
      { type: 'price_feed', feed: 'BTC/USD', timestamp: start, data: { price: 64_100.5 } },
      ...['b2', '4bfb41d5b3570defd03c39a9a4d8de6bd8b8982e'].map((taker, index) => ({
        type: 'trade',
        seq: 5 + index,
        data: {
          tx_hash: `0x${'cd'.repeat(32)}`,
          log_index: index,
          timestamp: Date.now(),
          maker: `0x${'0'.repeat(38)}a1`,
          taker: `0x${taker.padStart(40, '0')}`,
          token_id: market.tokens[0],
          side: 'BUY',
          price: 0.5,
          maker_amount: '750000000',
          taker_amount: '1500000000',
          fee: 0,
        },
      })),
    ];
    const requested: { type: string; filters?: object }[] = [];
    let endConnection: (() => Promise<void>) | undefined;
    const { page, complaints } = await open('/app', {
      before: async (page) => {
        await page.route('**/v1/crypto/active', (route) =>
          route.fulfill({
            json: { windowStart: start, count: 1, markets: [{ slug, markets: [{ outcomePrices: [0.62, 0.38] }] }] },
          }),
        );
        await page.route('**/v1/crypto/price*', (route) =>
          route.fulfill({ json: { openPrice: 64_000, closePrice: 64_050, completed: false } }),
        );
        await page.routeWebSocket(/\/ws\?/, (socket) => {
          endConnection = () => socket.close({ code: 4429, reason: 'the free hour is used up' });
          socket.onMessage((text) => {
            const message = JSON.parse(text.toString());
            if (message.action !== 'subscribe') return;
            requested.push(message);
            if (requested.length === 2) for (const frame of frames) socket.send(JSON.stringify(frame));
          });
        });
      },
    });
    await soon(() => page.locator('[aria-busy]').count()).toBe(0);
    const cells = page.locator('#windows tbody td');
    await soon(() => cells.nth(3).textContent()).toBe('$64,100.50');
    expect((await cells.allTextContents()).slice(0, 5)).toEqual([
      'BTC',
      '62 %',
      '$64,000.00',
      '$64,100.50',
      '+$100.50',
    ]);
    expect(await cells.nth(5).textContent()).toMatch(/^(\d:\d\d|ended)$/);
    expect(requested.map(({ type }) => type)).toEqual(['trades', 'chainlink']);
    // The taker's own order, whose counterparty is the exchange, is no further row.
    const fresh = page.locator('#large tr.fresh');
    await soon(() => fresh.count()).toBe(1);
    expect(await fresh.textContent()).toContain('$750.00');
    // Trades that came while the page was hidden are in the list, which is loaded again.
    await hide(page, true);
    const reloaded = responseOf(page, 'min_amount_usd=500');
    await hide(page, false);
    await reloaded;
    await soon(() => requested.map(({ type }) => type)).toEqual(['trades', 'chainlink', 'trades', 'chainlink']);
    await soon(() => fresh.count()).toBe(0);

    const stats = (await product.get('/v3/stats')).body as { total_wallets: number };
    await soon(() => page.locator('#tiles dd').nth(2).textContent()).toContain(
      stats.total_wallets.toLocaleString('en-US'),
    );
    // The recorded history is older than a day; its markets have ended.
    for (const id of ['top-wallets', 'trending'])
      expect(await page.locator(`#${id}`).textContent()).toBe('Waiting for trades: none in the last 24 hours.');
    await page.getByText('Recorded data, not live.').waitFor();
    expect(complaints).toEqual([]);
    // Without the socket the price is the one that the API has.
    expect(await page.getByText('The prices are not live').isVisible()).toBe(false);
    await endConnection?.();
    await page.getByText('The prices are not live').waitFor();
    await soon(() => cells.nth(3).textContent()).toBe('$64,050.00');
    expect(await cells.nth(4).textContent()).toBe('+$50.00');
    await page.close();
  });

  it('asks before the key of a link replaces another stored one', async () => {
    const { page } = await open('/app');
    await soon(() => rows(page, 'results').count()).toBe(50);
    const other = `odds_live_${'0'.repeat(32)}`;
    const follow = async (agrees: boolean) => {
      page.once('dialog', (dialog) => (agrees ? dialog.accept() : dialog.dismiss()));
      // Another path, so that the page is loaded again.
      await page.goto(`${product.api}/app?q=${agrees}#key=${other}`);
      return page.evaluate('[location.hash, Object.values(localStorage)]');
    };
    expect(await follow(false)).toEqual(['', [product.key()]]);
    expect(await follow(true)).toEqual(['', [other]]);
    await page.close();
  });

  it('is readable in both themes and on a phone, and shows placeholders while loading', async () => {
    const [holder] = await product.sql<{ maker: string }>(
      `SELECT maker FROM fills WHERE token_id = toUInt256('${market.tokens[0]}') ORDER BY maker LIMIT 1`,
    );
    for (const [dark, path, list] of [false, true].flatMap((dark) =>
      [
        [marketPage(), 'trades'],
        [`/app/wallet/${holder?.maker}`, 'trades'],
        ['/app', 'results'],
        ['/app?q=bitc', 'results'],
      ].map(([path = '', list = '']) => [dark, path, list] as const),
    )) {
      const { page } = await open(path, { dark, width: 375 });
      await soon(() => rows(page, list).count()).toBeGreaterThan(0);
      await soon(() => page.locator('[aria-busy]').count()).toBe(0);
      expect(await page.evaluate('document.documentElement.scrollWidth')).toBeLessThanOrEqual(375);
      // Side, price and amount of a trade need no sideways scrolling.
      if (!path.includes('?'))
        expect(
          await page.evaluate(
            `(({ scrollWidth, clientWidth }) => scrollWidth - clientWidth)(document.querySelector('#${list} .scroll'))`,
          ),
        ).toBe(0);
      if (list === 'trades') expect(await page.locator('#trades td time .wide').first().isVisible()).toBe(false);
      expect(await page.evaluate(CONTRASTS)).toEqual([]);
      expect([path, ...(await axeFindings(page))]).toEqual([path]);
      await page.close();
    }
    const { page } = await open(marketPage(), { before: (page) => page.route('**/v3/**', () => undefined) });
    expect(await page.locator('#view .bone').count()).toBeGreaterThan(3);
    expect(await page.locator('#candles-box').getAttribute('aria-busy')).toBe('true');
    const moves = () => page.evaluate(`getComputedStyle(document.querySelector('#view .bone')).animationName`);
    expect(await moves()).toBe('breathe');
    await page.emulateMedia({ reducedMotion: 'reduce' });
    expect(await moves()).toBe('none');
    await page.close();
  });

  it('is served compressed and with a strict content security policy', async () => {
    const response = await fetch(`${product.api}${marketPage()}`);
    const text = await response.text();
    expect(response.headers.get('content-security-policy')).toMatch(
      /^default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self' ws:\/\/127\.0\.0\.1:\d+; form-action 'self'; base-uri 'none'; frame-ancestors 'none'$/,
    );
    expect(text).not.toMatch(/ on\w+=| style=|<style|<script>/);
    expect(text.length).toBeLessThan(12_000);
  });
});
