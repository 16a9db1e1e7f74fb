import type { Browser, Page, WebSocketRoute } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { ApiHarness } from '../support/api.js';
import { startBrowser, withoutBrowser } from '../support/browser.js';
import { startPositionsApi } from '../support/positions-api.js';
import { alice, bob, fills, snow, snowYes, T, tx } from '../support/venue.js';

const missing = withoutBrowser();
if (missing !== null) console.warn(`Not run here: ${missing}. In CI it must run.`);

const soon = <T>(check: () => T | Promise<T>) => expect.poll(check);

interface Subscription {
  readonly type: string;
  readonly filters: Record<string, unknown>;
}

describe.skipIf(missing !== null)('lists of trades that follow the event socket', () => {
  let api: ApiHarness;
  let browser: Browser;
  let key: string;

  beforeAll(async () => {
    ({ api } = await startPositionsApi());
    key = await api.key('growth');
    browser = await startBrowser();
  });
  afterAll(async () => {
    await browser?.close();
    await api?.stop();
  });

  /** A page, the subscriptions of its sockets, and the way to send frames over all of them. */
  async function open(path: string) {
    const page = await browser.newPage({ viewport: { width: 1280, height: 900 } });
    const subscribed: Subscription[] = [];
    const sockets: WebSocketRoute[] = [];
    await page.routeWebSocket(/\/ws\?/, (socket) => {
      sockets.push(socket);
      socket.onMessage((text) => {
        const message = JSON.parse(text.toString());
        if (message.action === 'subscribe') subscribed.push(message);
      });
    });
    // The quotes of the venue are newer than any trade.
    await page.route('**/v3/markets/*/price', (route) =>
      route.fulfill({ json: { price: 0.4, resolved: false, source: 'last_fill', updated_at: '2026-09-21 14:13:24' } }),
    );
    await page.goto(`${api.url}${path}#key=${key}`);
    await soon(() => page.locator('[aria-busy]').count()).toBe(0);
    const send = (...frames: object[]) => {
      for (const frame of frames) for (const socket of sockets) socket.send(JSON.stringify(frame));
    };
    return { page, subscribed, send };
  }
  /** A purchase of 2,000 shares by Alice's order, two seconds per block. */
  const trade = (block: number, logIndex: number, price: number) => ({
    type: 'trade',
    seq: block * 100 + logIndex,
    data: {
      tx_hash: tx(9),
      block_number: block,
      log_index: logIndex,
      timestamp: (T + (block - 100) * 2) * 1000,
      maker: alice,
      taker: bob,
      token_id: snowYes,
      outcome: 'Yes',
      side: 'BUY',
      price,
      maker_amount: String(Math.round(2e9 * price)),
      taker_amount: '2000000000',
      fee: 0,
    },
  });
  const retract = (from: number, to: number) => ({
    type: 'retract',
    seq: to * 100 + 99,
    data: { from_block: from, to_block: to, block_hashes: [] },
  });
  const fresh = (page: Page, list: string) =>
    page.locator(`#${list} tr.fresh`).evaluateAll((rows) => rows.map((row) => row.children[4]?.textContent ?? ''));

  it('of a market drop the trades of replaced blocks, with their price, and show a trade in its new block once', async () => {
    const { page, subscribed, send } = await open(`/app/market/${snow.slug}`);
    await soon(() => subscribed.length).toBe(1);
    expect(subscribed[0]?.filters.event_types).toEqual(['trade', 'retract']);
    const settled = await page.locator('#trades tbody tr').count();
    expect(settled).toBeGreaterThan(0);
    const tile = page.locator('#tiles dd').first();
    const before = (await tile.textContent()) ?? '';
    expect(before).toContain('$0.40');
    const prices = (...texts: string[]) =>
      soon(() => page.locator('#trades tr.fresh td:nth-child(4)').allTextContents()).toEqual(texts);

    send(trade(200, 3, 0.5), trade(201, 4, 0.9), trade(202, 1, 0.95));
    await prices('$0.95', '$0.90', '$0.50');
    await soon(() => tile.textContent()).toContain('$0.95');
    send(retract(201, 202));
    await prices('$0.50');
    await soon(() => tile.textContent()).toBe(before);
    send(trade(201, 7, 0.9));
    await prices('$0.90', '$0.50');
    expect(await page.locator('#trades tbody tr').count()).toBe(settled + 2);
    await soon(() => tile.textContent()).toContain('$0.90');
    await page.close();
  });

  it('of the home page drop the trades of replaced blocks', async () => {
    const { page, subscribed, send } = await open('/app');
    await page.getByRole('button', { name: 'Live' }).click();
    await soon(() => subscribed.map(({ type }) => type)).toEqual(['trades', 'chainlink', 'trades']);
    for (const { type, filters } of subscribed)
      if (type === 'trades') expect(filters.event_types).toEqual(['trade', 'retract']);
    const both = (...texts: string[]) =>
      soon(async () => [await fresh(page, 'results'), await fresh(page, 'large')]).toEqual([texts, texts]);
    send(trade(200, 3, 0.5), trade(201, 4, 0.9));
    await both('$0.90', '$0.50');
    send(retract(201, 201));
    await both('$0.50');
    await page.close();
  });

  it('of the home page request every trade since their newest one, and show none that is older than it', async () => {
    const { page, subscribed, send } = await open('/app');
    // Until the list is there, its newest trade is unknown.
    let answer: (() => void) | undefined;
    await page.route('**/v3/trades?matches_only=true&limit=*', async (route) => {
      await new Promise<void>((resolve) => {
        answer = resolve;
      });
      await route.continue();
    });
    await page.getByRole('button', { name: 'Live' }).click();
    await soon(() => answer).toBeDefined();
    expect(subscribed.map(({ type }) => type)).toEqual(['trades', 'chainlink']);
    answer?.();
    await soon(() => subscribed.length).toBe(3);
    const newest = Math.max(...fills.map(({ timestampS }) => timestampS));
    expect(subscribed[2]?.filters).toEqual({ event_types: ['trade', 'retract'], since: newest * 1000 - 1 });

    const rows = page.locator('#results tbody tr');
    const loaded = await rows.count();
    // A trade before the list, the match of tx 3 again, one of the newest block and a later one.
    const known = trade(102, 0, 0.4);
    send({
      type: 'snapshot',
      count: 4,
      events: [
        trade(90, 1, 0.1),
        { ...known, data: { ...known.data, tx_hash: tx(3) } },
        trade(104, 50, 0.45),
        trade(105, 3, 0.5),
      ],
    });
    await soon(() => fresh(page, 'results')).toEqual(['$0.50', '$0.45']);
    expect(await rows.count()).toBe(loaded + 2);
    await page.close();
  });

  it('of a market request every trade since their newest one', async () => {
    const { page, subscribed } = await open(`/app/market/${snow.slug}`);
    await soon(() => subscribed.length).toBe(1);
    const newest = Math.max(...fills.flatMap((fill) => (snow.tokenIds?.includes(fill.tokenId) ? fill.timestampS : [])));
    expect(subscribed[0]?.filters.since).toBe(newest * 1000 - 1);
    expect(subscribed[0]?.filters.snapshot_count).toBeUndefined();
    await page.close();
  });
});
