import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { MAX_POSITIONS } from '../../api/positions/reader.js';
import type { ApiHarness } from '../support/api.js';
import { startPositionsApi } from '../support/positions-api.js';
import { address } from '../support/rows.js';
import { alice, hail, rain, rainYes, snow, snowYes, T } from '../support/venue.js';

/** More open positions than are read, of one share each; before them one of 5,000 snow shares, a closed one of rain and a received one of hail. */
const wallet = address(0xb16);
const hailYes = hail.tokenIds[0];

type Row = Record<string, unknown>;
let api: ApiHarness;
let key: string;

beforeAll(async () => {
  ({ api } = await startPositionsApi());
  key = await api.key('enterprise');
  const columns =
    '(wallet, token_id, size, received, total_bought, bought_usdc, fills, first_at, last_at, last_trade_at, version, _offset)';
  const row = (token: string, size: string, received: string, bought: string, at: string) =>
    `'${wallet}', toUInt256('${token}') + number, ${size}, ${received}, ${bought}, intDiv(${bought} * 4, 10), 1, ${at}, ${at}, ${at}, number + 1, number + 1`;
  for (const [values, count] of [
    [row('1000000', '1000000', '0', '1000000', `${T} - number`), MAX_POSITIONS + 1],
    [row(snowYes, '5000000000', '0', '5000000000', `${T - 200_000}`), 1],
    [row(rainYes, '0', '0', '8000000', `${T - 300_000}`), 1],
    [row(hailYes, '2000000', '2000000', '0', `${T - 400_000}`), 1],
  ] as const)
    await api.clickhouse.command(`INSERT INTO positions ${columns} SELECT ${values} FROM numbers(${count})`);
});
afterAll(() => api.stop());

const rowsOf = async (path: string, list = 'positions') => (await api.ok<Record<string, Row[]>>(path, key))[list] ?? [];

describe('a wallet with more positions than are read', () => {
  it.each([
    [`token_id=${snowYes}`, [snowYes]],
    [`condition_id=${snow.conditionId}`, [snowYes]],
    [`market_slug=${rain.slug}`, [rainYes]],
    ['status=closed', [rainYes]],
    ['min_size=4000', [snowYes]],
    ['order=asc&limit=3', [hailYes, rainYes, snowYes]],
    ['status=open&order=asc&limit=2', [hailYes, snowYes]],
    ['limit=1', ['1000000']],
  ])('/v2/onchain/positions with %s', async (filter, wanted) => {
    const rows = await rowsOf(`/v2/onchain/positions?wallet=${wallet}&${filter}`);
    expect(rows.map((row) => row.token_id)).toEqual(wanted);
  });

  it.each([
    [`token_id=${hailYes}`, [hailYes]],
    [`condition_id=${rain.conditionId}`, [rainYes]],
    ['limit=3', [snowYes, hailYes, '1000000']],
    ['status=closed', [rainYes]],
    ['min_size=2', [snowYes, hailYes]],
    ['order=asc&limit=2', [rainYes, '1000000']],
  ])('/clobv2/positions with %s', async (filter, wanted) => {
    const rows = await rowsOf(`/clobv2/positions?wallet=${wallet}&${filter}`);
    expect(rows.map((row) => row.token_id)).toEqual(wanted);
  });

  it('/v1/wallets/{addr}/positions of a market', async () => {
    for (const path of [`/v1/wallets/${wallet}/positions?`, `/v1/wallets/positions?wallets=${wallet},${alice}&`]) {
      const body = await api.ok<{ positions?: Row[]; wallets?: { positions: Row[] }[] }>(
        `${path}condition_id=${snow.conditionId}`,
        key,
      );
      const rows = body.positions ?? body.wallets?.[0]?.positions ?? [];
      expect(rows.map((row) => [row.asset, row.size])).toEqual([[snowYes, 5000]]);
    }
  });

  it('/v2/wallets/{address}/closed-positions, of all markets and of one', async () => {
    const path = `/v2/wallets/${wallet}/closed-positions`;
    expect((await rowsOf(path)).map((row) => row.asset)).toEqual([rainYes]);
    expect((await rowsOf(`${path}?market=${rain.slug}`)).map((row) => row.asset)).toEqual([rainYes]);
    expect(await rowsOf(`${path}?market=${snow.slug}`)).toEqual([]);
  });

  it('/v2/wallets/{address}/positions/onchain says that its sums are not complete', async () => {
    const all = await api.ok<Row>(`/v2/wallets/${wallet}/positions/onchain`, key);
    expect(all).toMatchObject({ count: MAX_POSITIONS, open_count: MAX_POSITIONS, complete: false });
    expect(await api.ok<Row>(`/v2/wallets/${alice}/positions/onchain`, key)).toMatchObject({ complete: true });
  });
});
