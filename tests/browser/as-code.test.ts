import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import WebSocket from 'ws';
import { startBrowser, withoutBrowser } from '../support/browser.js';
import { whyNoCurl } from '../support/curl.js';
import type { Product } from '../support/product.js';
import { REFERENCE_RUN_TIMEOUT_MS, startLoaded } from '../support/reference-run.js';

const missing = withoutBrowser() ?? whyNoCurl();
if (missing !== null) console.warn(`Not run here: ${missing}. In CI it must run.`);

const run = promisify(execFile);
const soon = <T>(check: () => T | Promise<T>) => expect.poll(check);

const SLUG = 'btc-updown-5m-1774233600';
const WALLET = '0xf539c942036cc7633a1e0015209a1343e9b2dda9';

type Row = Record<string, string | number | boolean | null>;
interface Shown {
  readonly kind: string;
  readonly title: string;
  readonly text: string;
}

const dollars = (value: number) =>
  `$${value.toLocaleString('en-US', { minimumFractionDigits: 2, maximumFractionDigits: 2 })}`;

describe.skipIf(missing !== null)('"This view as REST, WebSocket and SQL"', () => {
  let product: Product;
  let browser: Browser;

  beforeAll(async () => {
    [product, browser] = await Promise.all([startLoaded(), startBrowser()]);
  }, REFERENCE_RUN_TIMEOUT_MS);
  afterAll(async () => {
    await browser?.close();
    await product?.dispose();
  });

  /** Opens a view and its panel. */
  async function open(path: string): Promise<{ page: Page; code: Map<string, Shown> }> {
    const page = await browser.newPage({ viewport: { width: 1440, height: 900 } });
    await page.goto(`${product.api}${path}#key=${product.key()}`);
    await soon(() => page.locator('[aria-busy]').count()).toBe(0);
    await page.getByText('This view as REST, WebSocket and SQL').click();
    await page.locator('#as-code-body pre').first().waitFor();
    return { page, code: await shown(page) };
  }
  const shown = async (page: Page) => {
    const entries = (await page.evaluate(
      `[...document.querySelectorAll('#as-code-body pre')].map((box) => ({ ...box.dataset, text: box.textContent }))`,
    )) as Shown[];
    return new Map(entries.map((one) => [`${one.kind} ${one.title.replace(/^\w+: /, '')}`, one]));
  };
  const textOf = (code: Map<string, Shown>, name: string): string => {
    const found = code.get(name);
    if (found === undefined) throw new Error(`${name} is not among ${[...code.keys()].join(', ')}`);
    return found.text;
  };

  /** Result of the command in a shell, as a user runs it. */
  async function rest<T>(code: Map<string, Shown>, name: string): Promise<T> {
    const { stdout } = await run('sh', ['-c', textOf(code, `rest ${name}`)], {
      env: { ...process.env, KEY: product.key() },
      maxBuffer: 64 << 20,
    });
    const body = JSON.parse(stdout) as T & { error?: string };
    expect(body.error).toBeUndefined();
    return body;
  }
  /** Rows of the statement for an analyst without a password. */
  async function sql(code: Map<string, Shown>, name: string): Promise<Row[]> {
    const response = await fetch(`${product.clickhouse}/?database=market&default_format=JSONEachRow`, {
      method: 'POST',
      body: textOf(code, `sql ${name}`),
    });
    const text = await response.text();
    expect([response.status, response.status === 200 ? '' : text]).toEqual([200, '']);
    return text
      .trim()
      .split('\n')
      .filter((line) => line !== '')
      .map((line) => JSON.parse(line) as Row);
  }
  /** The first frames after the message: its acknowledgement and the snapshot. */
  const frames = (message: string, count: number) =>
    new Promise<{ type: string; warnings?: unknown[]; events?: unknown[] }[]>((resolve, reject) => {
      const socket = new WebSocket(`${product.socket}?key=${product.key()}`);
      const received: { type: string }[] = [];
      socket.on('open', () => socket.send(message));
      socket.on('error', reject);
      socket.on('message', (data) => {
        received.push(JSON.parse(data.toString()));
        if (received.length < count) return;
        socket.close();
        resolve(received.slice(0, count));
      });
    });
  /** A list may begin to load after the others. */
  const filled = (page: Page, list: string) =>
    soon(() =>
      page.evaluate(
        `document.querySelector('#${list} tbody tr') !== null && document.querySelector('#${list}[aria-busy], #${list} [aria-busy]') === null`,
      ),
    ).toBe(true);
  /** Hashes of the transactions of a list. */
  const hashes = async (page: Page, list: string) => {
    await filled(page, list);
    return (await page.evaluate(
      `[...document.querySelectorAll('#${list} tbody tr')].map((row) => row.querySelector('a[href*="/tx/"]')?.title.split(' ')[0] ?? null)`,
    )) as (string | null)[];
  };
  /** Texts of a column of a list. */
  const cells = async (page: Page, list: string, column: number) => {
    await filled(page, list);
    return (await page.evaluate(
      `[...document.querySelectorAll('#${list} tbody tr')].map((row) => row.children[${column}].textContent)`,
    )) as string[];
  };
  const subscribes = async (code: Map<string, Shown>) => {
    const [ack, snapshot] = await frames(textOf(code, 'socket new trades'), 2);
    expect(ack).toMatchObject({ type: 'subscribed', warnings: [] });
    // The recorded history was not sent on the socket.
    expect(snapshot).toMatchObject({ type: 'snapshot', events: [] });
  };

  it('of the newest trades returns the rows of the list', async () => {
    const { page, code } = await open('/app');
    const { trades } = await rest<{ trades: { transaction_hash: string; maker: string }[] }>(code, 'newest trades');
    const makers = (await page.evaluate(
      `[...document.querySelectorAll('#results tbody a.mono')].map((link) => link.title)`,
    )) as string[];
    const rows = await sql(code, 'newest trades');
    expect(trades.flatMap(({ maker, ...row }) => [maker, (row as unknown as { taker: string }).taker])).toEqual(makers);
    expect(rows.map((row) => row.tx_hash)).toEqual(trades.map((row) => row.transaction_hash));
    await subscribes(code);

    const amounts = await cells(page, 'large', 5);
    const large = await rest<{ trades: { transaction_hash: string; amount_usd: number }[] }>(code, 'large trades');
    expect(large.trades.map((row) => dollars(row.amount_usd))).toEqual(amounts);
    expect((await sql(code, 'large trades')).map((row) => row.tx_hash)).toEqual(
      large.trades.map((row) => row.transaction_hash),
    );
    const totals = await rest<{ total_volume: string; total_fills: number }>(code, 'totals');
    const tile = await page.locator('#tiles dd').first().textContent();
    expect(tile).toContain(dollars(Number(totals.total_volume) / 1e6));
    expect((await sql(code, 'totals')).map((row) => [Number(row.volume_usd), Number(row.fills)])).toEqual([
      [Number(totals.total_volume) / 1e6, totals.total_fills],
    ]);
    // The recorded history is older than a day; its windows are over.
    for (const name of ['top wallets', 'trending', 'ending soon', 'current windows']) {
      expect(await sql(code, name), name).toEqual([]);
    }
    expect((await rest<{ leaderboard: unknown[] }>(code, 'top wallets')).leaderboard).toEqual([]);
    for (const name of ['trending', 'ending soon'])
      expect((await rest<{ data: unknown[] }>(code, name)).data, name).toEqual([]);
    expect((await rest<{ count: number }>(code, 'current windows')).count).toBeDefined();
    expect(await frames(textOf(code, 'socket large trades'), 1)).toMatchObject([{ type: 'subscribed', warnings: [] }]);
    expect(await frames(textOf(code, 'socket prices of the coins'), 1)).toMatchObject([{ type: 'subscribed' }]);
    await page.close();
  });

  it('of search results returns the markets of the list', async () => {
    const { page, code } = await open('/app?q=bitcoin+up');
    const titles = await cells(page, 'results', 0);
    expect(titles.length).toBe(50);
    const { data } = await rest<{ data: { question: string; condition_id: string }[] }>(code, 'markets');
    expect(data.map((row) => row.question)).toEqual(titles);
    expect((await sql(code, 'markets')).map((row) => row.condition_id)).toEqual(data.map((row) => row.condition_id));
    await page.close();
  });

  it('of a market returns its prices, candles, trades and holders', async () => {
    const { page, code } = await open(`/app/market/${SLUG}`);
    const title = await page.locator('#title').textContent();
    const { data } = await rest<{ data: { question: string }[] }>(code, 'market');
    expect(data.map((row) => row.question)).toEqual([title]);
    expect(await sql(code, 'market')).toMatchObject([{ question: title, status: 'resolved' }]);

    const tile = await page.locator('#tiles dd').first().textContent();
    const price = await rest<{ price: number; source: string }>(code, 'price');
    expect(tile).toContain(`$${price.price.toFixed(2)}`);
    const prices = await sql(code, 'prices');
    expect(Number(prices.find((row) => row.outcome === 'Up')?.price)).toBe(price.price);

    await page.getByText('Candles as a table').click();
    await page.locator('#candles-rows tr').first().waitFor();
    const starts = await cells(page, 'candles-rows', 0);
    const candles = await rest<{ candles: { time: number; close: number; trades: number }[] }>(code, 'candles');
    const inTable = candles.candles.map(({ time }) =>
      new Date(time * 1000).toISOString().slice(0, 19).replace('T', ' '),
    );
    expect(inTable.sort()).toEqual([...starts].sort());
    const bySql = await sql(code, 'candles');
    expect(bySql.map((row) => Number(row.matches)).sort()).toEqual(candles.candles.map((row) => row.trades).sort());

    const tx = await hashes(page, 'trades');
    expect(tx.length).toBe(50);
    const { trades } = await rest<{ trades: { transaction_hash: string }[] }>(code, 'trades');
    expect(trades.map((row) => row.transaction_hash)).toEqual(tx);
    expect((await sql(code, 'trades')).map((row) => row.tx_hash)).toEqual(tx);

    const holders = await rest<{ data: { user: string; amount: string | null }[] }>(code, 'holders');
    const wallets = (await page.evaluate(
      `[...document.querySelectorAll('#holders tbody a')].map((link) => link.title)`,
    )) as string[];
    expect(holders.data.map((row) => row.user)).toEqual(wallets);
    // Amounts that partial history cannot tell are null.
    const known = holders.data.flatMap(({ user, amount }) =>
      amount === null || amount === '0' ? [] : [[user, Number(amount) / 1e6]],
    );
    const held = await sql(code, 'holders with shares');
    expect(known.length).toBeGreaterThan(0);
    expect(held.map((row) => [row.wallet, Number(row.shares)]).sort()).toEqual(known.sort());
    await subscribes(code);

    // The code follows the selections.
    await page.getByRole('radio', { name: '15m' }).check();
    await soon(async () => textOf(await shown(page), 'rest candles')).toContain('resolution=15m');
    const quarter = await rest<{ candles: { close: number; trades: number }[] }>(await shown(page), 'candles');
    const grouped = await sql(await shown(page), 'candles');
    expect(grouped.map((row) => [Number(row.close), Number(row.matches)]).sort()).toEqual(
      quarter.candles.map((row) => [Number(row.close.toFixed(6)), row.trades]).sort(),
    );
    await page.close();
  });

  it('of a wallet returns its totals, profit, positions and trades', async () => {
    const { page, code } = await open(`/app/wallet/${WALLET}`);
    const totals = await rest<{ position_count: number }>(code, 'totals');
    const { net_pnl: net } = await rest<{ net_pnl: number }>(code, 'profit after fees');
    await page
      .getByText(dollars(Math.abs(net)), { exact: false })
      .first()
      .waitFor();
    await page
      .locator('#tiles')
      .getByText(totals.position_count.toLocaleString('en-US'), { exact: false })
      .first()
      .waitFor();
    const { series } = await rest<{ series: unknown[] }>(code, 'profit');
    expect(series.length).toBeGreaterThan(1);
    const days = await sql(code, 'profit by day');
    expect(days.map((row) => row.day)).toEqual(['2026-03-19', '2026-03-20']);

    const { positions } = await rest<{ positions: { token_id: string; market: string }[] }>(code, 'positions');
    expect(positions.map((row) => row.market)).toEqual(await cells(page, 'positions', 0));
    const stored = await sql(code, 'positions');
    expect(stored.map((row) => String(row.token_id)).sort()).toEqual(positions.map((row) => row.token_id).sort());

    const tx = await hashes(page, 'trades');
    const { trades } = await rest<{ trades: { transaction_hash: string }[] }>(code, 'trades');
    expect(trades.map((row) => row.transaction_hash)).toEqual(tx);
    expect((await sql(code, 'trades')).map((row) => row.tx_hash)).toEqual(tx);
    await subscribes(code);

    await page.getByRole('radio', { name: 'Redeemable' }).check();
    await soon(async () => textOf(await shown(page), 'sql positions')).toContain('n.is_resolved');
    const redeemable = await rest<{ positions: { token_id: string }[] }>(await shown(page), 'positions');
    const resolved = await sql(await shown(page), 'positions');
    expect(resolved.map((row) => String(row.token_id)).sort()).toEqual(
      redeemable.positions.map((row) => row.token_id).sort(),
    );
    await page.close();
  });

  it('copies the text, and says so', async () => {
    const context = await browser.newContext();
    await context.grantPermissions(['clipboard-read', 'clipboard-write'], { origin: product.api });
    const page = await context.newPage();
    await page.goto(`${product.api}/app#key=${product.key()}`);
    await page.getByText('This view as REST, WebSocket and SQL').click();
    const button = page.getByRole('button', { name: 'Copy: SQL: newest trades' });
    await button.click();
    await soon(() => button.textContent()).toBe('Copied');
    const text = await page.locator('pre[data-title="SQL: newest trades"]').textContent();
    expect(await page.evaluate('navigator.clipboard.readText()')).toBe(text);
    await context.close();
  });
});
