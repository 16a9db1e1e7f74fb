import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { tokenPair } from '../../schemas/primitives/ids.js';
import { addresses } from '../../schemas/primitives/venue.js';
import type { ApiHarness } from '../support/api.js';
import { insertAccounts, tradeOf } from '../support/positions.js';
import { NOW_S, startPositionsApi } from '../support/positions-api.js';
import { address, eventRow, fillRow, hex32, insertFills, type MarketInput, marketRow } from '../support/rows.js';
import { T } from '../support/venue.js';

const condition = hex32(0xfee5);
const tokens = tokenPair(addresses.usdcE, condition);
const [, no] = tokens;
const market: MarketInput = {
  conditionId: condition,
  id: 'm9',
  slug: 'frost-oslo',
  question: 'Frost in Oslo?',
  outcomes: ['Frost', 'None'],
  tokenIds: tokens,
  eventId: '88',
  eventSlug: 'bitcoin-frost',
};
/** Of the current window: one that is settled, and one of which the chain has only the resolution. */
const windowMarket = {
  ...market,
  question: 'Up or down?',
  outcomes: ['Up', 'Down'],
  eventId: null,
  eventSlug: null,
} as const;
const settled = { ...windowMarket, conditionId: hex32(0xfee8), slug: `btc-updown-5m-${NOW_S}` };
const resolved = { ...windowMarket, conditionId: hex32(0xfee9), slug: `eth-updown-5m-${NOW_S}` };
const settledTokens = tokenPair(addresses.usdcE, settled.conditionId);
const wallet = address(0xfee5);
/** A market whose tokens the chain lacks too. */
const bare = { ...windowMarket, conditionId: hex32(0xfeea), slug: 'thaw-oslo', question: 'Thaw?' };

type Row = Record<string, unknown>;
let api: ApiHarness;
let key: string;

beforeAll(async () => {
  ({ api } = await startPositionsApi());
  key = await api.key('enterprise');
  await api.clickhouse.insertRows(
    'markets',
    [market, settled, resolved, bare].map((row) => ({ ...marketRow(row), token_ids: [] })),
  );
  await api.clickhouse.insertRows('events', [
    eventRow({ id: '88', slug: 'bitcoin-frost', title: 'Frost', conditionIds: [condition] }),
  ]);
  for (const [condition_id, pair] of [[condition, tokens] as const, [settled.conditionId, settledTokens] as const])
    await api.clickhouse.insertRows(
      'chain_tokens',
      pair.map((token_id, outcome_index) => ({
        token_id,
        other_token_id: pair[1 - outcome_index],
        condition_id,
        outcome_index,
        neg_risk: false,
        _offset: 1,
      })),
    );
  await resolve(settled.conditionId, settledTokens, ['1', '0']);
  await resolve(resolved.conditionId, [], ['1', '0']);
  const fill = {
    side: 'BUY' as const,
    tokenId: no,
    usdc: 40_000_000n,
    shares: 100_000_000n,
    maker: wallet,
    taker: address(0xfee6),
    block: 3_000,
    logIndex: 0,
    timestampS: T + 30,
    orderHash: hex32(1),
    txHash: hex32(2),
  };
  await insertFills(api.clickhouse, [fillRow(fill)]);
  await insertAccounts(api.clickhouse, [tradeOf(wallet, 3_000, 'BUY', no, 100, 40)]);
});
afterAll(() => api.stop());

const ok = <T>(path: string) => api.ok<T>(path, key);
let newestOffset = 10;
/** Inserts the payouts of a condition's outcomes. */
async function resolve(conditionId: string, tokenIds: readonly string[], payouts: readonly string[]) {
  newestOffset += 1;
  await api.clickhouse.insertRows('resolutions', [
    {
      condition_id: conditionId,
      oracle: address(1),
      question_id: hex32(1),
      outcome_slot_count: 2,
      payout_numerators: payouts,
      block_number: 3_001,
      log_index: 0,
      timestamp: T + 60,
      tx_hash: hex32(3),
      _offset: newestOffset,
    },
  ]);
  await api.clickhouse.insertRows(
    'token_settlements',
    tokenIds.map((token_id, outcome_index) => ({
      token_id,
      condition_id: conditionId,
      outcome_index,
      numerator: payouts[outcome_index],
      denominator: '1',
      timestamp: T + 60,
      _offset: newestOffset,
    })),
  );
}

/** The second outcome, named by the catalogue and found by the chain. */
const names = { outcome: 'None', outcome_index: 1, opposite_asset: tokens[0], condition_id: condition };

describe('a market that the catalogue lists without tokens, whose tokens the chain has', () => {
  it.each([`condition/${condition}`, 'slug/frost-oslo', no])('/v3/markets/%s has them', async (path) => {
    const { data } = await ok<{ data: Row[] }>(`/v3/markets/${path}`);
    expect(data).toMatchObject([{ condition_id: condition, token_ids: tokens, token_outcomes: ['Frost', 'None'] }]);
  });

  it('/v3/conditions and the candles of the market have them', async () => {
    expect(await ok<Row>(`/v3/conditions/${condition}`)).toMatchObject({ position_ids: tokens });
    for (const path of [`condition/${condition}`, 'slug/frost-oslo']) {
      const { series } = await ok<{ series: Row[] }>(`/v3/markets/${path}/candles`);
      expect(series.map(({ token_id, outcome, count }) => [token_id, outcome, count])).toEqual([
        [tokens[0], 'Frost', 0],
        [no, 'None', 1],
      ]);
    }
  });

  it.each(['volume', 'current'])('/v3/markets/search?sort=%s finds it', async (sort) => {
    const { data } = await ok<{ data: Row[] }>(`/v3/markets/search?q=frost&sort=${sort}`);
    expect(data.map((row) => row.slug)).toEqual(['frost-oslo']);
  });

  it.each([`token_id=${no}`, `condition_id=${condition}`, 'market_slug=frost-oslo'])(
    'trades and positions by %s name the outcome',
    async (filter) => {
      const { trades } = await ok<{ trades: Row[] }>(`/v3/trades?${filter}`);
      expect(trades).toMatchObject([{ token_id: no, market: 'Frost in Oslo?', ...names }]);
      const { positions } = await ok<{ positions: Row[] }>(`/v3/positions?${filter}`);
      expect(positions).toMatchObject([{ wallet, token_id: no, market: 'Frost in Oslo?', outcome: 'None' }]);
    },
  );

  it('/v3/trades of its slug and of another condition or token is empty', async () => {
    for (const other of [`condition_id=${hex32(0xfee7)}`, 'token_id=601']) {
      const { trades } = await ok<{ trades: Row[] }>(`/v3/trades?market_slug=frost-oslo&${other}`);
      expect(trades).toEqual([]);
    }
  });

  it('/v3/wallets/{address}/positions names the outcome', async () => {
    const { positions } = await ok<{ positions: Row[] }>(`/v3/wallets/${wallet}/positions`);
    expect(positions).toMatchObject([{ token_id: no, market: 'Frost in Oslo?', ...names }]);
  });

  it.each([condition, 'frost-oslo'])('/v1/markets/%s lists its traders and trades', async (id) => {
    const traders = await ok<{ outcomes: { token: string; positions: Row[] }[] }>(`/v1/markets/${id}/positions`);
    expect(traders).toMatchObject({ condition_id: condition, slug: 'frost-oslo', outcome_names: ['Frost', 'None'] });
    expect(traders.outcomes.map(({ token, positions }) => [token, positions.map((row) => row.proxyWallet)])).toEqual([
      [tokens[0], []],
      [no, [wallet]],
    ]);
    expect(await ok<Row>(`/v1/markets/${id}/trades`)).toMatchObject({
      condition_id: condition,
      trades: [{ proxyWallet: wallet, outcome: 'None', outcomeIndex: 1 }],
    });
  });

  it('/v1/crypto/active has its first token and prices, and closes it once its condition is resolved', async () => {
    const { markets } = await ok<{ markets: { closed: boolean; markets: Row[] }[] }>('/v1/crypto/active');
    expect(
      markets.map(({ closed, markets: [inner] }) => [closed, inner?.closed, inner?.tokenId, inner?.outcomePrices]),
    ).toEqual([
      [true, true, settledTokens[0], [1, 0]],
      [true, true, '', [0.5, 0.5]],
    ]);
  });

  /** The fields of the event's market in the event endpoints that depend on its tokens. */
  async function eventViews() {
    const event = await ok<{ closed: boolean; markets: Row[] }>('/v1/event/bitcoin-frost');
    const found = await ok<{ events: { markets: Row[] }[] }>('/v1/events/search?q=frost');
    const crypto = await ok<{ events: { slug: string; markets: Row[] }[] }>('/v1/crypto/markets');
    const [detail] = event.markets;
    const [searched] = found.events.flatMap(({ markets }) => markets);
    const [listed] = crypto.events.flatMap(({ slug, markets }) => (slug === 'bitcoin-frost' ? markets : []));
    return {
      event: [event.closed, detail?.closed, detail?.tokenId, detail?.outcomePrices, detail?.priceSources],
      search: [searched?.active, searched?.tokenId, searched?.price, searched?.priceSource],
      crypto: [listed?.closed, listed?.outcomePrices, listed?.priceSources],
    };
  }

  it('/v1/event, /v1/events/search and /v1/crypto/markets have its first token, prices and settlement', async () => {
    // The second outcome by its fill; the first as the catalogue states it.
    expect(await eventViews()).toEqual({
      event: [false, false, tokens[0], ['0.5', '0.4'], [null, 'last_fill']],
      search: [true, tokens[0], 0.5, null],
      crypto: [false, [0.5, 0.4], [null, 'last_fill']],
    });
    await resolve(condition, tokens, ['0', '1']);
    api.clock.nowMs += 200_000;
    expect(await eventViews()).toEqual({
      event: [true, true, tokens[0], ['0', '1'], ['settlement', 'settlement']],
      search: [false, tokens[0], 0, 'settlement'],
      crypto: [true, [0, 1], ['settlement', 'settlement']],
    });
  });
});

it('/v1/event reads no conditions of markets that the catalogue lists with tokens', async () => {
  api.statements.length = 0;
  expect(await ok<Row>('/v1/event/sky')).toMatchObject({
    closed: false,
    markets: [{ tokenId: '601' }, { tokenId: '701' }],
  });
  expect(api.statements.filter(({ params }) => 'conditions' in params)).toEqual([]);
});

describe('a market that the catalogue lists without tokens, whose tokens the chain lacks', () => {
  it.each([bare.conditionId, bare.slug])('/v1/markets/%s/trades is an empty list', async (id) => {
    const page = await ok<Row>(`/v1/markets/${id}/trades`);
    expect(page).toEqual({ condition_id: bare.conditionId, count: 0, next_cursor: null, trades: [] });
  });

  it.each([`market_slug=${bare.slug}`, `condition_id=${bare.conditionId}`])(
    '/v2/onchain/trades and positions by %s are empty lists',
    async (filter) => {
      for (const list of ['trades', 'positions'])
        for (const more of ['', `&wallet=${wallet}`])
          expect(await ok<Row>(`/v2/onchain/${list}?${filter}${more}`)).toMatchObject({ count: 0, [list]: [] });
    },
  );

  it.each(['market_slug', 'condition_id'])('/v2/onchain/candles by %s is rejected', async (by) => {
    const value = by === 'market_slug' ? bare.slug : bare.conditionId;
    for (const path of ['candles?', `candles/${no}?`])
      expect(await api.get(`/v2/onchain/${path}${by}=${value}`, key)).toMatchObject({
        status: 400,
        body: { error: `${by} has no known outcome tokens` },
      });
  });
});
