import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { tokenPair } from '../../schemas/primitives/ids.js';
import { addresses } from '../../schemas/primitives/venue.js';
import type { ApiHarness } from '../support/api.js';
import { insertAccounts, tradeOf } from '../support/positions.js';
import { startPositionsApi } from '../support/positions-api.js';
import { address, fillRow, hex32, insertFills } from '../support/rows.js';
import { T } from '../support/venue.js';

/** A condition that was prepared before history begins, and that the catalogue lacks: only fills of its tokens are known. */
const condition = hex32(0xfee1);
const [yes, no] = tokenPair(addresses.wrappedCollateral, condition);
const wallet = address(0xfee1);
const other = address(0xfee2);
const unknown = hex32(0xfee3);

type Row = Record<string, unknown>;
let api: ApiHarness;
let key: string;

beforeAll(async () => {
  ({ api } = await startPositionsApi());
  key = await api.key('enterprise');
  await insertFills(api.clickhouse, [
    fillRow({
      side: 'BUY',
      tokenId: yes,
      usdc: 40_000_000n,
      shares: 100_000_000n,
      maker: wallet,
      taker: other,
      block: 3_000,
      logIndex: 0,
      timestampS: T + 30,
      orderHash: hex32(1),
      txHash: hex32(2),
    }),
  ]);
  await insertAccounts(api.clickhouse, [tradeOf(wallet, 3_000, 'BUY', yes, 100, 40)]);
});
afterAll(() => api.stop());

describe('a market known by fills of its tokens only', () => {
  const path = `/v3/markets/condition/${condition}/candles`;

  it('/v3/markets/condition/{condition_id}/candles has a series per outcome', async () => {
    const { series, ...market } = await api.ok<Row & { series: Row[] }>(path, key);
    expect(market).toMatchObject({ condition_id: condition, slug: null, series_count: 2 });
    expect(series.map(({ token_id, count }) => [token_id, count])).toEqual([
      [yes, 1],
      [no, 0],
    ]);
  });

  it('/v3/markets/{token_id}/candles of a range without trades is an empty list', async () => {
    const candles = `/v3/markets/${yes}/candles?end=${T - 86_400}`;
    expect(await api.ok<Row>(candles, key)).toMatchObject({ token_id: yes, count: 0 });
  });

  it('/v1/markets/{id}/positions lists its holders', async () => {
    const { outcomes } = await api.ok<{ outcomes: { token: string; positions: Row[] }[] }>(
      `/v1/markets/${condition}/positions`,
      key,
    );
    expect(outcomes.map(({ token, positions }) => [token, positions.map(({ proxyWallet }) => proxyWallet)])).toEqual([
      [yes, [wallet]],
      [no, []],
    ]);
  });

  it('/v1/markets/{id}/trades has its condition and trades', async () => {
    const page = await api.ok<Row & { trades: Row[] }>(`/v1/markets/${condition}/trades`, key);
    expect(page).toMatchObject({ condition_id: condition, count: 1, trades: [{ proxyWallet: wallet, price: 0.4 }] });
  });

  it('/v1/wallets/{addr}/positions finds the position by its condition', async () => {
    const listed = async (id: string) =>
      (await api.ok<{ positions: Row[] }>(`/v1/wallets/${wallet}/positions?condition_id=${id}`, key)).positions;
    expect((await listed(condition)).map(({ asset }) => asset)).toEqual([yes]);
    expect(await listed(unknown)).toEqual([]);
  });

  it('a condition and a token without fills stay unknown', async () => {
    const statuses = await Promise.all(
      [
        `/v3/markets/condition/${unknown}/candles`,
        `/v3/markets/${tokenPair(addresses.usdcE, unknown)[0]}/candles`,
        `/v1/markets/${unknown}/positions`,
      ].map(async (one) => (await api.get(one, key)).status),
    );
    expect(statuses).toEqual([404, 404, 404]);
  });
});
