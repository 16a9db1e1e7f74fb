import { expect, it } from 'vitest';
import { createResponseCache } from '../cache/response-cache.js';
import { createMarketCard } from './market-card.js';

/** Cards over a catalogue whose markets all have the slug that is looked up. */
const cards = (rows: () => Promise<readonly { question: string; image: string | null }[]>) =>
  createMarketCard({
    tables: { rows: async () => [{ condition_id: 'c1' }] } as never,
    metadata: {
      tokensOf: async () => new Map(),
      marketsOf: async () => new Map([['c1', (await rows())[0] ?? null]]),
    } as never,
    cache: createResponseCache({ nowMs: () => 0 }),
  });

it('has the question and the picture of the market, read once', async () => {
  let reads = 0;
  const cardOf = cards(async () => {
    reads += 1;
    return [{ question: 'Snow?', image: 'https://pictures.example/snow.png' }];
  });
  const card = { title: 'Snow?', image: 'https://pictures.example/snow.png' };
  expect([await cardOf('will-it-snow'), await cardOf('WILL-IT-SNOW')]).toEqual([card, card]);
  expect(reads).toBe(1);
});

it.each([null, '', 'javascript:alert(1)', 'http://plain.example/a.png', '/relative.png'])(
  'has no picture when the catalogue has %j',
  async (image) => {
    const cardOf = cards(async () => [{ question: 'Snow?', image }]);
    expect(await cardOf('snow')).toEqual({ title: 'Snow?', image: null });
  },
);

it('is null for other texts, unknown markets and failures, without a read or an error', async () => {
  const cardOf = cards(async () => []);
  expect([await cardOf('a b'), await cardOf('unknown')]).toEqual([null, null]);
  expect(await cards(() => Promise.reject(new Error('down')))('slug')).toBeNull();
});

it('does not keep the page waiting for tables that do not respond', async () => {
  expect(await cards(() => new Promise(() => undefined))('slug')).toBeNull();
});
