import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { computeBlockActivity } from '../../processors/activity/block-activity.js';
import { createTokens } from '../../processors/activity/tokens.js';
import { chainSink } from '../../processors/chain/sink.js';
import { fillsSink } from '../../processors/fills/sink.js';
import type { AnyEvent } from '../../schemas/codec.js';
import type { ActivityState, Trade } from '../../schemas/types.gen.js';
import { history, play } from '../accounting/steps.js';
import { type Market, ScriptedVenue } from '../accounting/world.js';
import { type ApiHarness, startApi } from '../support/api.js';
import { ALWAYS_FRESH_S, activityOf, insertAccounts, insertRecords } from '../support/positions.js';
import { marketRow, tokenRows } from '../support/rows.js';
import { comboYes } from '../support/venue.js';

type Row = Record<string, unknown>;
interface Expectation {
  readonly market: Market;
  readonly index: 0 | 1;
  /** USD per share, or null where nothing prices it. */
  readonly price: number | null;
  readonly source: string | null;
  /** Some log other than fills names its condition, or the catalogue lists it. */
  readonly isNamed: boolean;
}

/** After the last block of the world. */
const NOW_MS = 1_700_000_000_000 + 86_400_000;
/** Markets by their place: every third is catalogued, the preparation of every second was before the history. The first open one is quoted. */
const isCatalogued = (n: number) => n % 3 === 0;
const isPrepared = (n: number) => n % 2 === 0;

let api: ApiHarness;
let key: string;
let world: ScriptedVenue;
let quoted: Market;
let events: readonly AnyEvent[];
const expectations = new Map<string, Expectation>();
const tradesOfWorld: Trade[] = [];

beforeAll(async () => {
  api = await startApi({ nowMs: NOW_MS });
  key = await api.key('enterprise');
  const steps = fc.sample(history(true), { numRuns: 30, seed: 77 }).flat();
  world = play(new ScriptedVenue(true, { wallets: 6, plain: 5, questions: 4 }), steps);
  const late = new Set(world.markets.filter((_, n) => !isPrepared(n)).map(({ condition }) => condition));
  const blocks = world.blocks.map((facts) =>
    facts.filter((fact) => fact.kind !== 'condition_prepared' || !late.has(fact.value.condition_id)),
  );
  events = blocks.flat();
  const memory = new Map<string, ActivityState>();
  const state = {
    get: (id: string) => memory.get(id),
    set: (id: string, value: ActivityState) => void memory.set(id, value),
  };
  const tokens = createTokens();
  await insertAccounts(
    api.clickhouse,
    blocks.flatMap((facts) => computeBlockActivity(facts, tokens, state).activity),
  );
  for (const event of events) if (event.kind === 'trade') tradesOfWorld.push(event.value);
  const first = tradesOfWorld[0] as Trade;
  const combo: Trade = {
    ...first,
    id: `${first.tx_hash}-9000`,
    log_index: 9000,
    token_id: comboYes,
    exchange_version: 3,
    usdc: 3_000_000n,
    shares: 12_000_000n,
    is_taker_order: false,
  };
  await insertRecords(api.clickhouse, fillsSink, [...events, { kind: 'trade', value: combo }]);
  await insertRecords(api.clickhouse, chainSink, events);
  const listed = world.markets.flatMap((market, n) =>
    isCatalogued(n)
      ? [
          {
            conditionId: market.condition,
            id: `m${n}`,
            slug: `market-${n}`,
            question: `Market ${n}?`,
            tokenIds: market.tokens,
            negRiskMarketId: market.negRisk ? `0x${'77'.repeat(32)}` : null,
          },
        ]
      : [],
  );
  await api.clickhouse.insertRows('markets', listed.map(marketRow));
  await api.clickhouse.insertRows('tokens', listed.flatMap(tokenRows));
  quoted = world.markets.find(({ payouts }) => payouts === null) as Market;
  await api.clickhouse.insertRows(
    'token_quotes',
    quoted.tokens.map((token_id, outcome_index) => ({
      token_id,
      condition_id: quoted.condition,
      outcome_index,
      price: 0.5,
      bid: outcome_index === 0 ? 0.2 : 0.7,
      ask: outcome_index === 0 ? 0.3 : 0.8,
      updated_at: ALWAYS_FRESH_S * 1000,
      _offset: 1,
    })),
  );
  collectExpectations();
}, 120_000);
afterAll(() => api.stop());

/** What the script of the world says, without any of the product's code. */
function collectExpectations(): void {
  const named = new Set(events.map(({ value }) => (value as { condition_id?: string }).condition_id));
  const resolved = new Set(
    events.flatMap((event) => (event.kind === 'condition_resolved' ? [event.value.condition_id] : [])),
  );
  world.markets.forEach((market, n) => {
    market.tokens.forEach((token, at) => {
      const index = at as 0 | 1;
      const last = tradesOfWorld.findLast((trade) => trade.token_id === token && !trade.is_taker_order);
      const isNamed = isCatalogued(n) || named.has(market.condition);
      const base = { market, index, isNamed };
      if (market.payouts !== null && resolved.has(market.condition))
        expectations.set(token, { ...base, price: Number(market.payouts[index]) / 2, source: 'settlement' });
      else if (market === quoted)
        expectations.set(token, { ...base, price: index === 0 ? 0.25 : 0.75, source: 'clob_mid' });
      else if (last === undefined) expectations.set(token, { ...base, price: null, source: null });
      else expectations.set(token, { ...base, price: Number(last.usdc) / Number(last.shares), source: 'last_fill' });
    });
  });
}

const other = ({ market, index }: Expectation) => market.tokens[1 - index] as string;
const near = (shown: unknown, wanted: number, what: string) =>
  expect(Math.abs(Number(shown) - wanted), `${what}: ${shown}, not ${wanted}`).toBeLessThan(1.1e-6);

describe('every endpoint says the same of a token', () => {
  it('of worlds with settled, quoted, traded, uncatalogued, unprepared and neg-risk ones', () => {
    const told = [...expectations.values()];
    for (const source of ['settlement', 'clob_mid', 'last_fill'])
      expect(told.filter((one) => one.source === source).length, source).toBeGreaterThan(1);
    const settled = told.filter(({ source, isNamed }) => source === 'settlement' && isNamed);
    const isListed = ({ market }: Expectation) => isCatalogued(world.markets.indexOf(market));
    expect(settled.filter((one) => !isListed(one)).length).toBeGreaterThan(1);
    expect(settled.filter(({ market }) => market.negRisk).length).toBeGreaterThan(1);
    expect(settled.filter(({ market }) => !isPrepared(world.markets.indexOf(market))).length).toBeGreaterThan(1);
  });

  it('price now, its source, condition and opposite outcome', async () => {
    for (const [token, truth] of expectations) {
      const price = await api.ok<Row>(`/v3/markets/${token}/price`, key);
      expect([price.source, price.resolved], token).toEqual([truth.source, truth.source === 'settlement']);
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

  it('the conditions, by the chain alone where the catalogue lacks them', async () => {
    for (const [token, truth] of expectations) {
      if (!truth.isNamed) continue;
      const { payouts, condition, tokens } = truth.market;
      const told = await api.ok<Row>(`/v3/conditions/${condition}`, key);
      expect(told.position_ids, token).toEqual([...tokens]);
      const numerators = truth.source === 'settlement' ? payouts?.map(Number) : [];
      expect(told.payout_numerators, token).toEqual(numerators);
    }
  });

  it('a combo, which has no market: its last fill', async () => {
    expect(await api.ok<Row>(`/v3/markets/${comboYes}/price`, key)).toMatchObject({
      price: 0.25,
      source: 'last_fill',
      resolved: false,
    });
  });

  it('positions of every wallet on v1, v2 and v3', async () => {
    let compared = 0;
    for (const wallet of world.wallets) {
      const v3 = (await api.ok<{ positions: Row[] }>(`/v3/wallets/${wallet}/positions?limit=100`, key)).positions;
      for (const row of v3) {
        const truth = expectations.get(String(row.token_id)) as Expectation;
        const what = `${wallet} ${row.token_id}`;
        expect([row.price_source, row.resolved], what).toEqual([truth.source, truth.source === 'settlement']);
        near(row.current_price, truth.price ?? 0, what);
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
    expect(compared).toBeGreaterThan(30);
  });

  it('fills and profit of a condition', async () => {
    let found = 0;
    for (const market of world.markets) {
      const truth = expectations.get(market.tokens[0]) as Expectation;
      if (!truth.isNamed) continue;
      const wanted = tradesOfWorld.filter(({ token_id }) => market.tokens.includes(token_id)).length;
      const page = await api.ok<{ trades: Row[] }>(`/v3/trades?condition_id=${market.condition}&limit=1000`, key);
      expect(page.trades.length, market.condition).toBe(Math.min(wanted, 1000));
      found += page.trades.length;
      for (const wallet of world.wallets) {
        const positions = (await api.ok<{ positions: Row[] }>(`/v3/wallets/${wallet}/positions?limit=100`, key))
          .positions;
        const own = positions.filter((row) => row.condition_id === market.condition);
        const pnl = await api.ok<Row>(`/v3/wallets/${wallet}/pnl?condition_id=${market.condition}`, key);
        const sum = own.reduce((total, row) => total + Number(row.realized_pnl), 0);
        expect(Math.abs(Number(pnl.net_realized_pnl) - sum), `${wallet} ${market.condition}`).toBeLessThan(3e-6);
      }
    }
    expect(found).toBeGreaterThan(50);
  }, 120_000);

  it('fills of a condition on clobv2, and candles on v2, of what the catalogue lacks too', async () => {
    let uncatalogued = 0;
    for (const [n, { condition, tokens }] of world.markets.entries()) {
      if (expectations.get(tokens[0])?.isNamed !== true) continue;
      const own = tradesOfWorld.filter(({ token_id }) => tokens.includes(token_id));
      const clob = await api.ok<{ trades: Row[] }>(`/clobv2/trades?condition_id=${condition}&limit=500`, key);
      expect(clob.trades.length, `clobv2 ${condition}`).toBe(own.filter((one) => one.exchange_version === 2).length);
      const candles = await api.ok<{ candles: Row[] }>(
        `/v2/onchain/candles?condition_id=${condition}&token_id=${tokens[0]}&resolution=1h`,
        key,
      );
      const isTraded = own.some((one) => one.token_id === tokens[0] && !one.is_taker_order && one.shares > 0n);
      expect(candles.candles.length > 0, `candles ${condition}`).toBe(isTraded);
      if (!isCatalogued(n) && own.length > 0) uncatalogued += 1;
    }
    expect(uncatalogued).toBeGreaterThan(1);
  });

  it('the profit of a wallet at past moments and now, where a market the catalogue lacks is settled', async () => {
    const wallet = `0x${'5e'.repeat(20)}`;
    const held = [...expectations].flatMap(([token, truth]) => {
      const n = world.markets.indexOf(truth.market);
      return truth.source === 'settlement' && truth.isNamed && !isCatalogued(n) ? [{ token, truth }] : [];
    });
    expect(held.some(({ truth }) => truth.market.negRisk)).toBe(true);
    // Each 10 shares for 4 USD, one second before the history begins.
    await insertAccounts(
      api.clickhouse,
      held.map(({ token }, index) =>
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
    const made = held.reduce((sum, { truth }) => sum + (truth.price ?? 0) * 10 - 4, 0);
    for (const period of ['1D', '1W', 'ALL']) {
      const { series } = await api.ok<{ series: { pnl: number }[] }>(`/v1/trader/${wallet}/pnl?period=${period}`, key);
      // What the wallet held was settled within minutes; the clock is a day later.
      for (const { pnl } of series.slice(-3)) near(pnl, made, period);
    }
  });
});
