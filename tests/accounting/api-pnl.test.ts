import fc from 'fast-check';
import { afterAll, afterEach, beforeAll, expect, it } from 'vitest';
import { computeBlockActivity } from '../../processors/activity/block-activity.js';
import { createTokens } from '../../processors/activity/tokens.js';
import type { ActivityState } from '../../schemas/types.gen.js';
import { type ApiHarness, startApi } from '../support/api.js';
import { insertAccounts } from '../support/positions.js';
import { Fraction, ZERO } from './fraction.js';
import { history, play } from './steps.js';
import { ScriptedVenue } from './world.js';

/** After the last block of any history below. */
const NOW_MS = 1_700_000_000_000 + 86_400_000;

let api: ApiHarness;
let key: string;
beforeAll(async () => {
  api = await startApi({ nowMs: NOW_MS });
  key = await api.key('starter');
});
afterAll(() => api.stop());

const units = (base: bigint): Fraction => Fraction.of(base, 1_000_000n);
const dollars = (shown: number): Fraction => Fraction.of(BigInt(Math.round(shown * 1e6)), 1_000_000n);

/** Inserts a history of a few hundred transactions, generated from a fixed seed, into the tables. With transfers, every third token has no quote. */
async function venue(
  transfers: boolean,
  seed: number,
): Promise<{ world: ScriptedVenue; priceOf: Map<string, bigint | null> }> {
  const steps = fc.sample(history(transfers), { numRuns: 24, seed }).flat();
  const world = play(new ScriptedVenue(true, { wallets: 6, plain: 3, questions: 4 }), steps);
  const memory = new Map<string, ActivityState>();
  const state = {
    get: (id: string) => memory.get(id),
    set: (id: string, value: ActivityState) => void memory.set(id, value),
  };
  const tokens = createTokens();
  await insertAccounts(
    api.clickhouse,
    world.blocks.flatMap((events) => computeBlockActivity(events, tokens, state).activity),
  );
  const priceOf = new Map<string, bigint | null>();
  const quotes: object[] = [];
  const settlements: object[] = [];
  world.markets.forEach((market, n) => {
    market.tokens.forEach((token_id, outcome_index) => {
      const token = { token_id, condition_id: market.condition, outcome_index, _offset: n };
      const payout = market.payouts?.[outcome_index];
      const cents = outcome_index === 0 ? 10 + n * 7 : 90 - n * 7;
      if (payout !== undefined) {
        settlements.push({ ...token, numerator: payout, denominator: 2, timestamp: 1_700_000_001 });
        priceOf.set(token_id, payout * 500_000n);
      } else if (transfers && (n + outcome_index) % 3 === 0) priceOf.set(token_id, null);
      else {
        quotes.push({ ...token, price: cents / 100, updated_at: 1_700_000_000 });
        priceOf.set(token_id, BigInt(cents) * 10_000n);
      }
    });
  });
  await api.clickhouse.insertRows('token_quotes', quotes);
  await api.clickhouse.insertRows('token_settlements', settlements);
  return { world, priceOf };
}

afterEach(async () => {
  for (const table of ['positions', 'positions_by_token', 'pnl_events', 'token_quotes', 'token_settlements'])
    await api.clickhouse.command(`TRUNCATE TABLE ${table}`);
  // Caches must expire: the emptied tables are filled again from the same offset, so they detect no change.
  api.clock.nowMs += 3_600_000;
});

/**
 * PnL according to the naive ledger: cash minus fees, sent shares at their cost, tracked shares at their price, or at their cost without a price.
 * `unclear`: cost of fee shares in positions with sent shares, which may count as sent or as fees.
 */
function pnlOf(world: ScriptedVenue, wallet: string, priceOf: ReadonlyMap<string, bigint | null>) {
  let profit = ZERO.minus(world.ledger.fees.get(wallet) ?? ZERO);
  let realized = ZERO;
  let unclear = ZERO;
  for (const name of world.ledger.entries.keys()) {
    const [owner = '', token = ''] = name.split(' ');
    if (owner !== wallet) continue;
    const sheet = world.ledger.sheet(owner, token);
    const price = priceOf.get(token) ?? null;
    const value = price === null ? sheet.cost : sheet.trackedShares.times(units(price));
    profit = profit.plus(sheet.realized).plus(value).minus(sheet.cost).minus(sheet.feeCost);
    realized = realized.plus(sheet.realized);
    if (!sheet.sentCost.isZero()) unclear = unclear.plus(sheet.feeCost);
  }
  return { profit, realized, unclear };
}

it.each([
  ['everything but transfers', false, 11],
  ['transfers too', true, 12],
])('PnL endpoints return cash received minus cash paid plus market value: %s', async (_what, transfers, seed) => {
  const { world, priceOf } = await venue(transfers, seed);
  // Each record of the tables is rounded to base units.
  const slack = Fraction.of(BigInt(world.steps + 50), 1_000_000n);
  const near = (what: string, shown: number, expected: Fraction, above = slack) => {
    const difference = dollars(shown).minus(expected);
    const far = difference.compare(above) > 0 || difference.compare(ZERO.minus(slack)) < 0;
    expect(far, `${what}: ${shown} v ${Number(expected.n) / Number(expected.d)}`).toBe(false);
  };
  expect(world.steps).toBeGreaterThan(100);
  for (const wallet of world.wallets) {
    const { series } = await api.ok<{ series: { pnl: number }[] }>(`/v1/trader/${wallet}/pnl?period=1D`, key);
    const shown = series.at(-1)?.pnl ?? 0;
    const { profit, realized, unclear } = pnlOf(world, wallet, priceOf);
    near(`${wallet} series`, shown, profit, slack.plus(unclear));
    if (!transfers) {
      // Without transfers the balances on chain determine the PnL.
      let value = ZERO;
      for (const [name, balance] of world.balances) {
        const [owner = '', token = ''] = name.split(' ');
        if (owner === wallet) value = value.plus(units(balance).times(units(priceOf.get(token) ?? 0n)));
      }
      near(`${wallet} chain`, shown, units(world.cash.get(wallet) ?? 0n).plus(value));
    }
    api.clock.nowMs += 11_000;
    const equity = await api.ok<{ raw: { final_pnl: number } }>(`/v2/trader/${wallet}/equity?period=all`, key);
    const cents = Fraction.of(Math.round(equity.raw.final_pnl * 100), 100).minus(realized);
    expect(cents.times(cents).compare(Fraction.of(1, 10_000)), `${wallet} equity`).toBeLessThan(0);
  }
});
