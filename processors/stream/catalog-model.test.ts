import { describe, expect, it } from 'vitest';
import type { AnyEvent } from '../../schemas/codec.js';
import type { CatalogMarket } from '../../schemas/types.gen.js';
import { plainMarket } from './catalog-market.fixture.js';
import { createCatalogModel } from './catalog-model.js';

const GROUP = `0x${'77'.repeat(31)}00`;

const market = (n: number, over: Partial<CatalogMarket> = {}): AnyEvent => ({
  kind: 'catalog_market',
  value: {
    ...plainMarket,
    id: String(n),
    condition_id: `c${n}`,
    question_id: `q${n}`,
    slug: `slug-${n}`,
    question: `Question ${n}`,
    event_id: 'e',
    event_slug: 'event',
    event_title: 'Event',
    outcomes: ['Yes', 'No'],
    token_ids: [`${n}1`, `${n}2`],
    ...over,
  },
});

describe('createCatalogModel', () => {
  it('returns the newest version of a market by token, condition and either question id', () => {
    const model = createCatalogModel();
    model.apply(market(1, { neg_risk_request_id: 'request' }));
    model.apply(market(1, { slug: 'renamed', token_ids: ['11', '99'] }));
    expect(model.marketOfToken('11')?.slug).toBe('renamed');
    expect(model.marketOfToken('12')).toBeUndefined();
    expect(model.marketOfToken('99')?.conditionId).toBe('c1');
    expect(model.marketOfQuestion('q1')?.slug).toBe('renamed');
    expect(model.marketOfQuestion('request')).toBeUndefined();
    expect(model.size).toBe(1);
  });

  it('returns the markets of a neg-risk group by question index', () => {
    const model = createCatalogModel();
    const question = (index: string) => `${GROUP.slice(0, -2)}${index}`;
    model.apply(market(1, { neg_risk_market_id: GROUP, question_id: question('00') }));
    model.apply(market(2, { neg_risk_market_id: GROUP, question_id: question('0a') }));
    model.apply(market(3, { neg_risk_market_id: GROUP, question_id: `0x${'55'.repeat(32)}` }));
    expect([...(model.negRiskGroup(GROUP) ?? [])].map(([index, { slug }]) => [index, slug])).toEqual([
      [0, 'slug-1'],
      [10, 'slug-2'],
    ]);
  });

  it('evicts closed markets first, then the one whose last change is oldest', () => {
    const model = createCatalogModel({ maxMarkets: 3 });
    for (const n of [1, 2, 3]) model.apply(market(n, { closed: n === 3 }));
    model.apply(market(4));
    expect([1, 2, 3, 4].map((n) => model.marketOfCondition(`c${n}`) !== undefined)).toEqual([true, true, false, true]);
    expect(model.marketOfToken('31')).toBeUndefined();
    model.apply(market(1));
    model.apply(market(5));
    expect([1, 2, 4, 5].map((n) => model.marketOfCondition(`c${n}`) !== undefined)).toEqual([true, false, true, true]);
    expect(model.size).toBe(3);
  });
});
