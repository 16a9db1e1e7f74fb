import { afterEach, expect, it } from 'vitest';
import { createMemoryLog, createMemoryStore } from '../../infra/log/testing.js';
import { createFollowedTokens } from '../../ingest/orderbook/followed-tokens.js';
import { createCodec } from '../../schemas/codec.js';
import { allTopics, topics } from '../../schemas/topics.js';
import type { CatalogMarket } from '../../schemas/types.gen.js';
import { catalogMarket } from '../support/catalog-market.js';

const NOW = 1_800_000_000_000;
const codec = createCodec();
let stop = new AbortController();
afterEach(() => {
  stop.abort();
  stop = new AbortController();
});

/** Markets 1 to `count` with a 24 h volume of 1,000 x number, of two tokens each, and the function that changes some. */
async function followed(count: number, maxTokens: number) {
  const log = createMemoryLog({ store: createMemoryStore() });
  await log.ensureTopics(allTopics);
  const all = new Map<string, CatalogMarket>();
  const write = (n: number, over: Partial<CatalogMarket>) => {
    const market = { ...(all.get(String(n)) ?? catalogMarket(n, { volume_24h: n * 1000 })), ...over };
    all.set(String(n), market);
    const value = codec.encode('catalog_market', market);
    return log.append(topics.catalog.name, [{ key: `market:${n}`, timestampMs: NOW, value }]);
  };
  for (let n = 1; n <= count; n++) await write(n, {});
  const rows: CatalogMarket[] = [];
  const decode: typeof codec.decode = (bytes) => {
    const event = codec.decode(bytes);
    if (event.kind === 'catalog_market') rows.push(event.value);
    return event;
  };
  const tokens = createFollowedTokens({ log, codec: { ...codec, decode }, maxTokens, onUnreadable: () => undefined });
  void tokens.run(stop.signal);
  await tokens.ready();
  return {
    /** Decoded rows of markets. */
    rows,
    /** Numbers of the followed markets, ascending. */
    markets: (nowMs = NOW) => {
      const ids = tokens.current(nowMs).map(({ tokenId }) => tokenId);
      const numbers = [...new Set(ids.map((id) => Number(id.slice(0, -2))))];
      expect(ids.length).toBe(numbers.length * 2);
      return numbers.sort((a, b) => a - b);
    },
    change: async (n: number, over: Partial<CatalogMarket>) => {
      await write(n, over);
      await new Promise((resolve) => setTimeout(resolve, 20));
    },
  };
}
const range = (from: number, to: number) => Array.from({ length: to - from + 1 }, (_, at) => from + at);

it('followed tokens are whole markets of the highest volume, also if the bound is odd', async () => {
  expect((await followed(5, 5)).markets()).toEqual([4, 5]);
});

it('followed tokens at the bound stay while a market is less than a tenth of the bound out of place', async () => {
  const { markets, change } = await followed(40, 40);
  expect(markets()).toEqual(range(21, 40));
  // 20 is first behind the bound, and rises by two places: 21 and 22 stay.
  await change(20, { volume_24h: 22_500 });
  expect(markets()).toEqual(range(21, 40));
  // Above the margin it is taken up, for the lowest one.
  await change(20, { volume_24h: 25_500 });
  expect(markets()).toEqual([20, ...range(22, 40)]);
});

it('a window that runs takes the place of the lowest market, which does not exchange others when it returns', async () => {
  const { markets, change } = await followed(40, 40);
  expect(markets()).toEqual(range(21, 40));
  await change(1, { crypto_duration: '5m', event_start_ms: NOW, end_ms: NOW + 300_000 });
  expect(markets()).toEqual([1, ...range(22, 40)]);
  // Ten minutes after its end the books of a market are no longer read.
  expect(markets(NOW + 1_000_000)).toEqual(range(21, 40));
});

it('the markets of a game that runs are ranked by their volume, behind a window that runs', async () => {
  const { markets, change } = await followed(5, 4);
  await change(1, { event_start_ms: NOW - 3_600_000, end_ms: NOW + 7_200_000 });
  expect(markets()).toEqual([4, 5]);
  await change(2, { crypto_duration: '5m', event_start_ms: NOW, end_ms: NOW + 300_000 });
  expect(markets()).toEqual([2, 5]);
});

it('followed tokens keep no decoded row of the catalogue', async () => {
  const { markets, rows } = await followed(5, 4);
  expect(rows).toHaveLength(5);
  for (const row of rows) Object.assign(row, { token_ids: [], volume_24h: 0 });
  expect(markets()).toEqual([4, 5]);
});

it('followed tokens keep an open market after its end date, until the catalogue closes it', async () => {
  const { markets, change } = await followed(3, 6);
  await change(2, { event_start_ms: NOW - 3_600_000, end_ms: NOW - 68 * 86_400_000 });
  expect(markets()).toEqual([1, 2, 3]);
  await change(2, { closed: true });
  expect(markets()).toEqual([1, 3]);
});

it('followed tokens drop a short-form market ten minutes after its end, until the catalogue changes it', async () => {
  const { markets, change } = await followed(3, 6);
  await change(2, { crypto_duration: '5m', end_ms: NOW + 1 });
  expect(markets(NOW + 600_000)).toEqual([1, 2, 3]);
  expect(markets(NOW + 600_001)).toEqual([1, 3]);
  expect(markets(NOW)).toEqual([1, 3]);
  await change(2, { end_ms: NOW + 600_000 });
  expect(markets(NOW + 600_001)).toEqual([1, 2, 3]);
});
