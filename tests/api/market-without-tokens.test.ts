import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { tokenPair } from '../../schemas/primitives/ids.js';
import { addresses } from '../../schemas/primitives/venue.js';
import type { ApiHarness } from '../support/api.js';
import { insertAccounts, tradeOf } from '../support/positions.js';
import { startPositionsApi } from '../support/positions-api.js';
import { address, fillRow, hex32, insertFills, type MarketInput, marketRow } from '../support/rows.js';
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
};
const wallet = address(0xfee5);

type Row = Record<string, unknown>;
let api: ApiHarness;
let key: string;

beforeAll(async () => {
  ({ api } = await startPositionsApi());
  key = await api.key('enterprise');
  await api.clickhouse.insertRows('markets', [{ ...marketRow(market), token_ids: [] }]);
  await api.clickhouse.insertRows(
    'chain_tokens',
    tokens.map((token_id, outcome_index) => ({
      token_id,
      other_token_id: tokens[1 - outcome_index],
      condition_id: condition,
      outcome_index,
      neg_risk: false,
      _offset: 1,
    })),
  );
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
});
