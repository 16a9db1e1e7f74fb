import { setTimeout as sleep } from 'node:timers/promises';
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { createMarketFacts, recordTradePrice } from './market-facts.js';
import type { VenueMessage } from './messages.js';
import type { FollowedToken } from './order-books.js';
import { createSyntheticFeed, type RecordedTrade } from './synthetic-feed.js';
import { type BookOutput, createTokenBook } from './token-book.js';

const market = `0x${'a'.repeat(64)}`;
const token = (tokenId: string): FollowedToken => ({
  tokenId,
  market,
  minOrderSize: 5,
  tickSize: 0.01,
  negRisk: false,
});

/** Messages of the feed over these trades, without orders that come by time alone. */
async function play(trades: readonly RecordedTrade[]): Promise<readonly VenueMessage[]> {
  const messages: VenueMessage[] = [];
  const stop = new AbortController();
  let nowMs = 1_790_000_000_000;
  const feed = createSyntheticFeed({
    events: {
      onMessages: (some) => messages.push(...some),
      onRejected: () => undefined,
      onMissed: () => undefined,
      onChange: () => undefined,
      onSubscribed: () => undefined,
      onLost: () => undefined,
    },
    async *trades() {
      await sleep(0);
      for (const trade of trades) {
        nowMs += 100;
        yield trade;
      }
    },
    signal: stop.signal,
    nowMs: () => nowMs,
  });
  feed.follow([token('1'), token('2')]);
  await feed.closed();
  stop.abort();
  return messages;
}

it('makes books around the trades that have the hash of the venue and are never crossed', async () => {
  const trade = fc.record({
    tokenId: fc.constantFrom('1', '2', 'unknown'),
    side: fc.constantFrom('BUY' as const, 'SELL' as const),
    cents: fc.integer({ min: 0, max: 101 }),
    shares: fc.constantFrom(0n, 1_000_000n, 12_345_678n),
  });
  await fc.assert(
    fc.asyncProperty(fc.array(trade, { maxLength: 30 }), async (trades) => {
      const messages = await play(
        trades.map(({ cents, ...rest }) => ({ ...rest, usdc: (rest.shares * BigInt(cents)) / 100n })),
      );
      const facts = createMarketFacts(market, { minOrderSize: 5, tickSize: 0.01, negRisk: false });
      const outputs: BookOutput[] = [];
      const books = new Map(
        ['1', '2'].map((assetId) => [
          assetId,
          createTokenBook({ assetId, facts, emit: (output) => outputs.push(output), requestBook: () => undefined }),
        ]),
      );
      let nowMs = 0;
      for (const message of messages) {
        nowMs += 20;
        const book = books.get(message.assetId);
        if (message.type === 'book') book?.receive(message.book, nowMs);
        if (message.type === 'change') book?.receive(message.change, nowMs);
        if (message.type !== 'trade') continue;
        recordTradePrice(facts, message.price);
        for (const one of books.values()) one.tradePriceChanged(nowMs);
        nowMs += 60;
        for (const one of books.values()) one.tick(nowMs);
      }
      for (const one of books.values()) one.tick(nowMs + 1_000);
      expect(outputs.filter(({ verified }) => !verified)).toEqual([]);
      const traded = new Set<string>(trades.filter(({ shares }) => shares > 0n).map(({ tokenId }) => tokenId));
      for (const [assetId, book] of books) {
        const [bid, ask] = [book.bids()[0], book.asks()[0]];
        expect(bid !== undefined).toBe(traded.has(assetId));
        if (bid !== undefined && ask !== undefined) expect(Number(bid.price)).toBeLessThan(Number(ask.price));
      }
    }),
    { numRuns: 60 },
  );
});
