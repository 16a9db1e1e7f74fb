import { expect, it } from 'vitest';
import type { MarketMetadata, MetadataLookups, TokenMetadata } from '../catalog/metadata.js';
import { createTitles, untitled } from './titles.js';

const market: MarketMetadata = {
  question: 'Snow?',
  slug: 'snow',
  image: null,
  icon: null,
  eventId: '42',
  eventSlug: 'sky',
  eventTitle: 'Sky',
  outcomes: ['Yes', 'No'],
  tokenIds: ['1', '2'],
  negRisk: false,
  active: true,
  closed: false,
  volume: 0,
  liquidity: 0,
  endMs: null,
  tagSlugs: [],
};

function titles(tokens: Readonly<Record<string, TokenMetadata>>) {
  const requested: string[][] = [];
  const metadata: MetadataLookups = {
    tokensOf: async (ids) => new Map(ids.map((id) => [id, tokens[id] ?? null])),
    marketsOf: async (ids) => {
      requested.push([...ids]);
      const byId: Readonly<Record<string, MarketMetadata>> = { '0xc': market, '0xe': { ...market, tokenIds: [] } };
      return new Map(ids.map((id) => [id, byId[id] ?? null]));
    },
    conditionTokensOf: async () => new Map(),
    resolutionsOf: async () => new Map(),
    tagLabelsOf: async () => new Map(),
    exchangeNegRiskOf: async () => new Map(),
  };
  return { requested, titlesOf: createTitles(metadata).titlesOf };
}

it('titlesOf returns catalogue names and an entry for every requested token', async () => {
  const { requested, titlesOf } = titles({
    '2': { conditionId: '0xc', outcomeIndex: 1, outcome: 'No', negRisk: null, otherTokenId: null },
    '3': { conditionId: '0xd', outcomeIndex: 0, outcome: 'Yes', negRisk: null, otherTokenId: null },
    // Known from the chain only.
    '4': { conditionId: '0xc', outcomeIndex: 0, outcome: null, negRisk: true, otherTokenId: '5' },
  });
  const found = await titlesOf(['2', '3', '4', '9']);
  expect(found.get('2')).toEqual({
    market: 'Snow?',
    slug: 'snow',
    outcome: 'No',
    outcomeIndex: 1,
    image: null,
    icon: null,
    conditionId: '0xc',
    oppositeAsset: '1',
    negRisk: false,
    eventSlug: 'sky',
    eventTitle: 'Sky',
    eventId: 42,
  });
  expect(found.get('3')).toEqual({ ...untitled, outcome: 'Yes', outcomeIndex: 0, conditionId: '0xd' });
  // The chain has no name for the outcome; its facts precede those of the catalogue.
  expect(found.get('4')).toEqual({
    ...found.get('2'),
    outcome: null,
    outcomeIndex: 0,
    oppositeAsset: '5',
    negRisk: true,
  });
  expect(found.get('9')).toEqual(untitled);
  expect(requested).toEqual([['0xc', '0xd', '0xc']]);
});

it('titlesOf names the outcome of a token by its index in a market that the catalogue lists without tokens', async () => {
  const token = { conditionId: '0xe', outcome: null, negRisk: false, otherTokenId: '7' };
  const { titlesOf } = titles({ '6': { ...token, outcomeIndex: 1 }, '8': { ...token, outcomeIndex: 2 } });
  const found = await titlesOf(['6', '8']);
  expect(found.get('6')).toMatchObject({ market: 'Snow?', outcome: 'No', outcomeIndex: 1, oppositeAsset: '7' });
  expect(found.get('8')).toMatchObject({ market: 'Snow?', outcome: null });
});
