import { expect, it } from 'vitest';
import { createConditionLookup } from './conditions.js';
import type { MarketMetadata, MetadataLookups, TokenMetadata } from './metadata.js';

const market = (tokenIds: readonly string[]): MarketMetadata => ({
  question: 'Q',
  slug: 'q',
  image: null,
  icon: null,
  eventId: null,
  eventSlug: null,
  eventTitle: null,
  outcomes: ['Yes', 'No'],
  tokenIds,
  negRisk: false,
  active: true,
  closed: false,
  volume: 0,
  liquidity: 0,
  endMs: null,
  tagSlugs: [],
});
const token = (conditionId: string, negRisk: boolean | null): TokenMetadata => ({
  conditionId,
  outcomeIndex: 0,
  outcome: 'Yes',
  negRisk,
  otherTokenId: null,
});

/** The lookup over given rows, and the conditions whose pair was read from the chain by their id. */
function setUp(rows: { markets: Record<string, MarketMetadata>; tokens: Record<string, TokenMetadata> }) {
  const read: string[] = [];
  const from =
    <T>(values: Record<string, T>) =>
    async (ids: readonly string[]) =>
      new Map(ids.map((id) => [id, values[id] ?? null] as const));
  const metadata: MetadataLookups = {
    tokensOf: from(rows.tokens),
    marketsOf: from(rows.markets),
    async conditionTokensOf(ids) {
      read.push(...ids);
      return new Map(ids.map((id) => [id, { tokenIds: ['8', '9'], negRisk: true }]));
    },
    resolutionsOf: from({}),
    tagLabelsOf: async () => new Map(),
    exchangeNegRiskOf: from({}),
  };
  const tables = { reachable: async () => true, rows: async () => [] };
  return { conditions: createConditionLookup({ tables, metadata }), read };
}

it('createConditionLookup takes the tokens of the catalogue that the chain names, without reading the pairs of the condition', async () => {
  const { conditions, read } = setUp({ markets: { c1: market(['1', '2']) }, tokens: { '1': token('c1', true) } });
  expect((await conditions(['c1'])).get('c1')).toMatchObject({ tokenIds: ['1', '2'], negRisk: true, onChain: true });
  expect(read).toEqual([]);
});

it('createConditionLookup reads the pair of a condition from the chain only where the catalogue lists no tokens', async () => {
  const { conditions, read } = setUp({
    markets: { none: market([]), unnamed: market(['1', '2']), other: market(['3', '4']) },
    tokens: { '1': token('unnamed', null), '3': token('c9', false) },
  });
  const found = await conditions(['none', 'unnamed', 'other', 'uncatalogued']);
  expect(read).toEqual(['none', 'uncatalogued']);
  expect([...found].map(([id, { tokenIds, negRisk }]) => [id, tokenIds, negRisk])).toEqual([
    ['none', ['8', '9'], true],
    ['unnamed', ['1', '2'], false],
    ['other', ['3', '4'], false],
    ['uncatalogued', ['8', '9'], true],
  ]);
});
