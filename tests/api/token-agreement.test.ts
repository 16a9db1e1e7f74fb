import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  type AgreementWorld,
  agreementSeeds,
  type Expectation,
  startAgreementWorld,
} from '../support/agreement-world.js';
import { activityOf, insertAccounts } from '../support/positions.js';
import { comboYes } from '../support/venue.js';

type Row = Record<string, unknown>;

const other = ({ market, index }: Expectation) => market.tokens[1 - index] as string;
const near = (shown: unknown, wanted: number, what: string) =>
  expect(Math.abs(Number(shown) - wanted), `${what}: ${shown}, not ${wanted}`).toBeLessThan(1.1e-6);

/** Number of tokens per kind over all worlds. */
const countByKind = new Map<string, number>();
const count = (kind: string, isOne: boolean) => countByKind.set(kind, (countByKind.get(kind) ?? 0) + Number(isOne));

describe.each(agreementSeeds)('endpoints agree on a token, world %i', (seed) => {
  let world: AgreementWorld;
  let api: AgreementWorld['api'];
  let key: string;
  let expectations: AgreementWorld['expectations'];
  let tradesOfWorld: AgreementWorld['trades'];

  beforeAll(async () => {
    world = await startAgreementWorld(seed);
    ({ api, key, expectations, trades: tradesOfWorld } = world);
  });
  afterAll(() => api.stop());

  it('counts the kinds of tokens', () => {
    for (const truth of expectations.values()) {
      const { isCatalogued, isPrepared } = world.traitsOf(truth.market);
      count(String(truth.source), true);
      count('unnamed', !truth.isNamed);
      if (truth.source !== 'settlement') continue;
      count('settled, not in the catalogue', !isCatalogued);
      count('settled neg-risk', truth.market.negRisk);
      count('settled, prepared before the history', !isPrepared);
    }
    expect(tradesOfWorld.length).toBeGreaterThan(20);
  });

  it('current price, its source, condition and opposite outcome', async () => {
    for (const [token, truth] of expectations) {
      const price = await api.ok<Row>(`/v3/markets/${token}/price`, key);
      expect([price.source, price.resolved], token).toEqual([truth.source, truth.source === 'settlement']);
      const updatedAtS = price.updated_at === null ? null : Date.parse(`${price.updated_at}Z`) / 1000;
      expect(updatedAtS, token).toBe(truth.updatedAtS);
      near(price.price, truth.price ?? 0, `price of ${token}`);
      if (!truth.isNamed) continue;
      const [row] = (await api.ok<{ data: Row[] }>(`/v3/tokens/${token}`, key)).data;
      expect(row).toMatchObject({
        condition_id: truth.market.condition,
        outcome_index: truth.index,
        opposite_asset: other(truth),
        neg_risk: truth.market.negRisk,
        source: truth.source,
      });
      near(row?.price, truth.price ?? 0, `token ${token}`);
    }
  });

  it('conditions, from the chain alone if the catalogue lacks them', async () => {
    for (const [token, truth] of expectations) {
      if (!truth.isNamed) continue;
      const { payouts, condition, tokens } = truth.market;
      const shown = await api.ok<Row>(`/v3/conditions/${condition}`, key);
      expect(shown.position_ids, token).toEqual([...tokens]);
      const numerators = truth.source === 'settlement' ? payouts?.map(Number) : [];
      expect(shown.payout_numerators, token).toEqual(numerators);
    }
  });

  it('price of a combo, which has no market, is its last fill', async () => {
    expect(await api.ok<Row>(`/v3/markets/${comboYes}/price`, key)).toMatchObject({
      price: 0.25,
      source: 'last_fill',
      resolved: false,
    });
  });

  it('positions of every wallet on v1, v2 and v3', async () => {
    let compared = 0;
    for (const wallet of world.venue.wallets) {
      const v3 = (await api.ok<{ positions: Row[] }>(`/v3/wallets/${wallet}/positions?limit=100`, key)).positions;
      for (const row of v3) {
        const truth = expectations.get(String(row.token_id)) as Expectation;
        const what = `${wallet} ${row.token_id}`;
        expect([row.price_source, row.resolved], what).toEqual([truth.source, truth.source === 'settlement']);
        near(row.current_price, truth.price ?? 0, what);
        // A token that only transfers name has no known market.
        const isTraded = tradesOfWorld.some(({ token_id }) => token_id === row.token_id);
        expect(row.neg_risk, what).toBe(truth.isNamed || isTraded ? truth.market.negRisk : null);
        if (truth.isNamed)
          expect(row, what).toMatchObject({
            condition_id: truth.market.condition,
            outcome_index: truth.index,
            opposite_asset: other(truth),
            neg_risk: truth.market.negRisk,
          });
        near(Number(row.realized_pnl) + Number(row.unrealized_pnl), Number(row.total_pnl), `${what} total`);
        compared += 1;
      }
      const byToken = new Map(v3.map((row) => [row.token_id, row]));
      const v1 = (await api.ok<{ positions: Row[] }>(`/v1/wallets/${wallet}/positions?limit=100`, key)).positions;
      for (const row of v1) {
        const same = byToken.get(row.asset) as Row;
        expect([row.priceSource, row.size], `v1 ${wallet} ${row.asset}`).toEqual([same.price_source, same.size]);
        near(row.curPrice, Number(same.current_price), `v1 ${wallet} ${row.asset}`);
        near(row.realizedPnl, Number(same.realized_pnl), `v1 realized ${wallet} ${row.asset}`);
      }
      const v2 = (await api.ok<{ positions: Row[] }>(`/v2/wallets/${wallet}/positions/onchain`, key)).positions;
      for (const row of v2) {
        const same = byToken.get(row.token_id) as Row;
        if (row.current_price !== null) near(row.current_price, Number(same.current_price), `v2 ${row.token_id}`);
        near(row.realized_pnl, Number(same.realized_pnl), `v2 realized ${wallet} ${row.token_id}`);
        expect(row.condition_id ?? null, `v2 ${row.token_id}`).toBe(same.condition_id);
      }
      const onchain = await api.ok<{ positions: Row[] }>(`/v2/onchain/positions?wallet=${wallet}&limit=500`, key);
      expect(onchain.positions.map((row) => row.token_id).sort()).toEqual([...byToken.keys()].sort());
    }
    count('positions', compared > 0);
  });

  it('fills and PnL of a condition', async () => {
    let found = 0;
    const positionsOf = new Map<string, Row[]>();
    for (const wallet of world.venue.wallets) {
      const { positions } = await api.ok<{ positions: Row[] }>(`/v3/wallets/${wallet}/positions?limit=100`, key);
      positionsOf.set(wallet, positions);
    }
    for (const market of world.venue.markets) {
      const truth = expectations.get(market.tokens[0]) as Expectation;
      if (!truth.isNamed) continue;
      const wanted = tradesOfWorld.filter(({ token_id }) => market.tokens.includes(token_id)).length;
      const page = await api.ok<{ trades: Row[] }>(`/v3/trades?condition_id=${market.condition}&limit=1000`, key);
      expect(page.trades.length, market.condition).toBe(Math.min(wanted, 1000));
      found += page.trades.length;
      for (const row of page.trades) {
        const own = expectations.get(String(row.token_id)) as Expectation;
        expect(row, `${market.condition} ${row.id}`).toMatchObject({
          condition_id: market.condition,
          outcome_index: own.index,
          opposite_asset: other(own),
          neg_risk: market.negRisk,
        });
      }
      for (const wallet of world.venue.wallets) {
        const positions = positionsOf.get(wallet) ?? [];
        const own = positions.filter((row) => row.condition_id === market.condition);
        const pnl = await api.ok<Row>(`/v3/wallets/${wallet}/pnl?condition_id=${market.condition}`, key);
        const sum = own.reduce((total, row) => total + Number(row.realized_pnl), 0);
        expect(Math.abs(Number(pnl.net_realized_pnl) - sum), `${wallet} ${market.condition}`).toBeLessThan(3e-6);
      }
    }
    expect(found).toBeGreaterThan(20);
  });

  it('past and current PnL of a wallet in settled markets that the catalogue lacks', async () => {
    const wallet = `0x${'5e'.repeat(20)}`;
    const settledTokens = [...expectations].flatMap(([token, truth]) => {
      const { isCatalogued } = world.traitsOf(truth.market);
      return truth.source === 'settlement' && !isCatalogued ? [{ token, truth }] : [];
    });
    count(
      'past PnL of settled neg-risk',
      settledTokens.some(({ truth }) => truth.market.negRisk),
    );
    // 10 shares of each for 4 USD, one second before the history begins.
    await insertAccounts(
      api.clickhouse,
      settledTokens.map(({ token }, index) =>
        activityOf({
          wallet,
          block_number: 1,
          log_index: index,
          timestamp_ms: 1_699_999_999_000,
          action: 'BUY',
          tokens: [token],
          amounts: [10_000_000n],
          usdc: 4_000_000n,
        }),
      ),
    );
    const expected = settledTokens.reduce((sum, { truth }) => sum + (truth.price ?? 0) * 10 - 4, 0);
    for (const period of ['1D', '1W', 'ALL']) {
      const { series } = await api.ok<{ series: { pnl: number }[] }>(`/v1/trader/${wallet}/pnl?period=${period}`, key);
      // The positions settled within minutes; the clock is a day later.
      for (const { pnl } of series.slice(-3)) near(pnl, expected, period);
    }
  });
});

it('the worlds contain tokens of every kind', () => {
  for (const [kind, found] of countByKind) expect(found, kind).toBeGreaterThan(0);
  for (const source of ['settlement', 'clob_mid', 'v1_condition', 'last_fill'])
    expect(countByKind.has(source), source).toBe(true);
});
