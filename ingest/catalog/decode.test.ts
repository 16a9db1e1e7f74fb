import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createCodec } from '../../schemas/codec.js';
import type { CatalogMarket } from '../../schemas/types.gen.js';
import { decodeEvent } from './decode.js';
import { type CatalogRow, rowKey } from './source.js';
import { closedMarket, negRiskEvent, twapMarket, windowEvent } from './testing/gamma-rows.js';

const marketsOf = (rows: readonly CatalogRow[]): CatalogMarket[] =>
  rows.flatMap((row) => (row.kind === 'catalog_market' ? [row.value] : []));

describe('decodeEvent', () => {
  it('decodes a neg-risk event with its markets and tags', () => {
    const { rows, invalid, withoutCondition } = decodeEvent(negRiskEvent);
    expect(invalid).toEqual([]);
    expect(withoutCondition).toBe(0);
    expect(rows.map(rowKey)).toEqual([
      'tag:2',
      'tag:264',
      'event:30829',
      'market:0xc8f1cf5d4f26e0fd9c8fe89f2a7b3263b902cf14fde7bfccef525753bb492e47',
      'market:0xe39adea057926dc197fe30a441f57a340b2a232d5a687010f78bba9b6e02620f',
    ]);
    const event = rows[2];
    expect(event?.value).toMatchObject({
      slug: 'democratic-presidential-nominee-2028',
      description: '',
      image: null,
      neg_risk: true,
      neg_risk_market_id: '0x2c3d7e0eee6f058be3006baabf0d54a07da254ba47fe6e3e095e7990c7814700',
      volume: 799823812.487094,
      volume_24h: 5669354.219446001,
      created_ms: Date.UTC(2025, 6, 11, 18, 41, 17, 827),
      end_ms: Date.UTC(2028, 10, 7),
      series_id: null,
      tag_slugs: ['politics', 'primaries'],
      market_condition_ids: [
        '0xc8f1cf5d4f26e0fd9c8fe89f2a7b3263b902cf14fde7bfccef525753bb492e47',
        '0xe39adea057926dc197fe30a441f57a340b2a232d5a687010f78bba9b6e02620f',
      ],
      raw: '{"negRiskAugmented":true,"updatedAt":"2026-03-11T15:13:38.097738Z"}',
    });
    expect(marketsOf(rows)[0]).toMatchObject({
      id: '559657',
      question_id: '0x2c3d7e0eee6f058be3006baabf0d54a07da254ba47fe6e3e095e7990c7814705',
      event_id: '30829',
      event_slug: 'democratic-presidential-nominee-2028',
      event_title: 'Democratic Presidential Nominee 2028',
      outcomes: ['Yes', 'No'],
      outcome_prices: ['0.0105', '0.9895'],
      token_ids: [
        '60590045489347122735554346200880179420435533609307820342798544098823516727807',
        '76005700027045000587004110133818166617024719626220722682005164003117993034812',
      ],
      group_item_title: 'Stephen A. Smith',
      tick_size: 0.001,
      volume: 12232699.615479222,
      resolution_source: null,
      crypto_asset: null,
      tag_slugs: ['politics', 'primaries'],
      raw: '{"feeType":null}',
    });
  });

  it('decodes the TWAP configuration of a window', () => {
    const { rows, invalid } = decodeEvent(windowEvent(twapMarket));
    expect(invalid).toEqual([]);
    expect(rows.map(rowKey).slice(0, 3)).toEqual(['tag:21', 'series:10684', 'event:93763487']);
    expect(rows[2]?.value).toMatchObject({ series_id: '10684', series_slug: 'btc-up-or-down-5m' });
    expect(marketsOf(rows)[0]).toMatchObject({
      event_start_ms: 1787414400_000,
      end_ms: 1787414700_000,
      crypto_asset: 'btc',
      crypto_duration: '5m',
      twap_enabled: true,
      twap_lookback_s: 60,
      fee_rate: 0.07,
      taker_base_fee: 1000,
    });
  });

  it('decodes a resolved window: unusual dates, empty texts, asset and duration from the slug', () => {
    const [market] = marketsOf(decodeEvent(windowEvent(closedMarket)).rows);
    expect(market).toMatchObject({
      closed: true,
      outcome_prices: ['0', '1'],
      closed_ms: Date.UTC(2026, 6, 24, 0, 5, 18),
      neg_risk_market_id: null,
      neg_risk_request_id: null,
      volume: 87923.5842799998,
      liquidity: 0,
      crypto_asset: 'btc',
      crypto_duration: '5m',
      twap_enabled: false,
      twap_lookback_s: null,
      event_start_ms: 1784851200_000,
    });
  });

  it('drops only the invalid market, tag or series', () => {
    const { rows, invalid, withoutCondition } = decodeEvent(
      windowEvent(closedMarket, {
        tags: [null, { id: 21, slug: 'crypto', label: 'Crypto' }, { slug: 'x' }],
        series: [{ slug: 'no id' }],
        markets: [
          { ...closedMarket, outcomes: '["Up"' },
          { ...closedMarket, clobTokenIds: '["1"]' },
          { ...closedMarket, clobTokenIds: '["one","two"]' },
          { ...closedMarket, outcomePrices: '["up","down"]' },
          { ...closedMarket, outcomePrices: '["1.0001","0"]' },
          { ...closedMarket, outcomePrices: `["0.${'1'.repeat(10_000)}","0"]` },
          { ...closedMarket, conditionId: '0x12' },
          { ...closedMarket, conditionId: '' },
          'not a market',
          closedMarket,
        ],
      }),
    );
    expect(rows.map(rowKey)).toEqual(['tag:21', 'event:93047973', `market:${closedMarket.conditionId}`]);
    expect(withoutCondition).toBe(1);
    expect(invalid.map(({ reason }) => reason)).toEqual([
      'tag: not an object',
      'tag: id is missing',
      'series: id is missing',
      'market of event 93047973: outcomes is not JSON',
      'market of event 93047973: clobTokenIds and outcomes differ in length',
      'market of event 93047973: clobTokenIds contains values that are not token ids',
      'market of event 93047973: outcomePrices contains values that are not prices',
      'market of event 93047973: outcomePrices contains values that are not prices',
      'market of event 93047973: outcomePrices contains values that are not prices',
      'market of event 93047973: conditionId is not 32 bytes of hex',
      'market of event 93047973: not an object',
    ]);
  });

  it.each([null, [], 5, 'x', {}, { id: 1 }, { slug: 'x' }])('reports %j as one invalid row', (input) => {
    const { rows, invalid } = decodeEvent(input);
    expect(rows).toEqual([]);
    expect(invalid).toHaveLength(1);
  });

  it('never throws, and its rows fit the schema', () => {
    const codec = createCodec();
    const names = [...Object.keys(twapMarket), ...Object.keys(closedMarket)];
    const broken = fc.record({ name: fc.constantFrom(...names), value: fc.jsonValue() });
    fc.assert(
      fc.property(broken, broken, fc.jsonValue(), (one, two, whole) => {
        const market = { ...closedMarket, [one.name]: one.value, [two.name]: two.value };
        const event = { ...windowEvent(closedMarket), [two.name]: two.value, markets: [market] };
        for (const input of [event, whole]) {
          for (const row of decodeEvent(input).rows) codec.encode(row.kind, row.value);
        }
      }),
      { numRuns: 1000 },
    );
  });
});
