import { expect, it } from 'vitest';
import { createResponseCache } from '../cache/response-cache.js';
import type { Sql } from '../tables/port.js';
import { createMarketCard } from './market-card.js';

/** Cards over a catalogue whose markets all have the slug that is looked up, and `CONDITION` as id too. */
const cards = (rows: () => Promise<readonly { question: string; image: string | null }[]>) =>
  createMarketCard({
    tables: { rows: async () => [{ condition_id: 'c1' }] } as never,
    metadata: {
      tokensOf: async () => new Map(),
      marketsOf: async () => {
        const market = (await rows())[0] ?? null;
        return new Map([
          ['c1', market],
          [CONDITION, market],
        ]);
      },
    } as never,
    cache: createResponseCache({ nowMs: () => 0 }),
  });
const CONDITION = `0x${'c1'.repeat(32)}`;
const card = { title: 'Snow?', image: 'https://pictures.example/snow.png' };

it.each([
  ['a slug', 'will-it-snow', 'will-it-snow'],
  ['a condition id in any letter case', CONDITION, CONDITION.toUpperCase()],
])('of %s has the question and the picture of the market, read once', async (_name, first, second) => {
  let reads = 0;
  const cardOf = cards(async () => {
    reads += 1;
    return [{ question: card.title, image: card.image }];
  });
  expect([await cardOf(first), await cardOf(second)]).toEqual([card, card]);
  expect(reads).toBe(1);
});

it('of a slug in other letters, which names no market, does not change that of the slug', async () => {
  const cardOf = createMarketCard({
    tables: { rows: async ({ params }: Sql) => (params.slug === 'snow' ? [{ condition_id: 'c1' }] : []) } as never,
    metadata: {
      tokensOf: async () => new Map(),
      marketsOf: async () => new Map([['c1', { question: card.title, image: card.image }]]),
    } as never,
    cache: createResponseCache({ nowMs: () => 0 }),
  });
  expect([await cardOf('SNOW'), await cardOf('snow')]).toEqual([null, card]);
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
