import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { computeBlockActivity } from '../../processors/activity/block-activity.js';
import { conditionEventsTable, conditionRows } from '../../processors/activity/condition-rows.js';
import { createTokens } from '../../processors/activity/tokens.js';
import { applyActivity } from '../../processors/positions/apply-activity.js';
import { averagePrice, createHolding, type Holding } from '../../schemas/accounting/holding.js';
import type { ActivityState, PnlEvent, WalletActivity } from '../../schemas/types.gen.js';
import { Fraction, ZERO } from './fraction.js';
import { history, play } from './steps.js';
import { ScriptedVenue } from './world.js';

const tokens = createTokens();
/** Dollars of an amount with 18 decimals, and of one with 6. */
const fine = (scaled: bigint): Fraction => Fraction.of(scaled, 10n ** 18n);
const units = (base: bigint): Fraction => Fraction.of(base, 1_000_000n);

interface Accounts {
  readonly holdings: Map<string, Holding>;
  readonly events: PnlEvent[];
  readonly activity: WalletActivity[];
}

/** Applies the blocks' activity wallet by wallet in the given order of wallets, which must not affect the positions. */
function account(world: ScriptedVenue, order: readonly string[]): Accounts {
  const memory = new Map<string, ActivityState>();
  const state = {
    get: (id: string) => memory.get(id),
    set: (id: string, value: ActivityState) => void memory.set(id, value),
  };
  const activity = world.blocks.flatMap((events) => {
    const result = computeBlockActivity(events, tokens, state);
    expect(result.problems).toEqual([]);
    return result.activity;
  });
  const holdings = new Map<string, Holding>();
  const events: PnlEvent[] = [];
  for (const wallet of order) {
    for (const one of activity) {
      if (one.wallet !== wallet) continue;
      const keyOf = (token: string) => `${wallet} ${token}`;
      const changes = applyActivity(one, {
        get: (token) => holdings.get(keyOf(token)),
        getOrCreate(token) {
          const found = holdings.get(keyOf(token)) ?? createHolding(wallet, token, one.timestamp_ms);
          holdings.set(keyOf(token), found);
          return found;
        },
      });
      events.push(...changes);
    }
  }
  return { holdings, events, activity };
}

/** Every position equals the naive one: shares exactly, dollars up to one unit of the last of 18 decimals per record. */
function expectSame(world: ScriptedVenue, { holdings }: Accounts): void {
  const slack = Fraction.of(4 * (world.steps + 1), 10n ** 18n);
  const near = (what: string, actual: Fraction, expected: Fraction) => {
    const difference = actual.compare(expected) < 0 ? expected.minus(actual) : actual.minus(expected);
    expect(difference.compare(slack) <= 0, `${what}: ${actual.n}/${actual.d} v ${expected.n}/${expected.d}`).toBe(true);
  };
  for (const key of new Set([...world.ledger.entries.keys(), ...holdings.keys()])) {
    const [wallet = '', token = ''] = key.split(' ');
    const actual = holdings.get(key) ?? createHolding(wallet, token, 0);
    const expected = world.ledger.sheet(wallet, token);
    expect(units(actual.size), `${key} size`).toEqual(expected.trackedShares);
    expect(units(actual.received), `${key} received`).toEqual(expected.untrackedShares);
    expect(units(actual.bought), `${key} bought`).toEqual(expected.bought);
    near(`${key} cost`, fine(actual.cost), expected.cost);
    near(`${key} realized`, fine(actual.realized), expected.realized);
    near(`${key} fee cost`, fine(actual.fee_cost), expected.feeCost);
    near(`${key} sent`, fine(actual.sent_cost), expected.sentCost);
  }
  for (const wallet of world.wallets) {
    const fees = [...holdings.values()].filter((one) => one.wallet === wallet).reduce((sum, one) => sum + one.fees, 0n);
    expect(units(fees)).toEqual(world.ledger.fees.get(wallet) ?? ZERO);
  }
}

const settings = { numRuns: 300 };
/** Fees of conversions, 1/10000. */
const fees = fc.constantFrom(0, 37, 250, 9_999);

describe('weighted average accounting', () => {
  it('equals a naive implementation on random histories of all events, in any interleaving of wallets', () => {
    fc.assert(
      fc.property(
        history(true),
        fc.boolean(),
        fc.boolean(),
        fc.boolean(),
        fees,
        (steps, strict, unlogged, countLogged, feeBips) => {
          const options = { wallets: 4, plain: 2, questions: 4, unlogged, countLogged, feeBips };
          const world = play(new ScriptedVenue(strict, options), steps);
          const accounts = account(world, world.wallets);
          expectSame(world, accounts);
          expect(account(world, [...world.wallets].reverse()).holdings).toEqual(accounts.holdings);
        },
      ),
      settings,
    );
  });

  it('has the balances of the chain if no wallet sends more than it has', () => {
    fc.assert(
      fc.property(history(true), fees, (steps, feeBips) => {
        const world = play(new ScriptedVenue(true, { wallets: 4, plain: 2, questions: 3, feeBips }), steps);
        const { holdings } = account(world, world.wallets);
        for (const [key, balance] of world.balances) {
          const holding = holdings.get(key);
          expect((holding?.size ?? 0n) + (holding?.received ?? 0n), key).toBe(balance);
        }
      }),
      settings,
    );
  });

  it('total PnL of each wallet is cash received minus cash paid plus market value', () => {
    fc.assert(
      fc.property(history(false), fc.array(fc.integer({ min: 0, max: 100 })), fees, (steps, marks, feeBips) => {
        const world = play(new ScriptedVenue(true, { wallets: 4, plain: 2, questions: 3, feeBips }), steps);
        const { holdings, events } = account(world, world.wallets);
        for (const wallet of world.wallets) {
          const own = [...holdings.values()].filter((one) => one.wallet === wallet);
          let value = ZERO;
          let profit = ZERO;
          own.forEach((one, i) => {
            const price = Fraction.of(marks[i] ?? 50, 100);
            value = value.plus(units(one.size).times(price));
            const less = one.cost + one.fee_cost + one.sent_cost;
            profit = profit
              .plus(fine(one.realized - less))
              .plus(units(one.size).times(price))
              .minus(units(one.fees));
            expect([one.received, one.sent_cost]).toEqual([0n, 0n]);
          });
          const cash = units(world.cash.get(wallet) ?? 0n);
          const difference = cash.plus(value).minus(profit);
          const slack = Fraction.of(4 * (world.steps + 1), 10n ** 18n);
          expect(difference.compare(slack) <= 0 && difference.compare(ZERO.minus(slack)) >= 0, wallet).toBe(true);
          // The events have the same cash.
          const eventCash = events
            .filter((one) => one.wallet === wallet)
            .reduce((sum, one) => sum.plus(fine(one.cash)).minus(units(one.fee)), ZERO);
          const deviation = eventCash.minus(cash);
          expect(deviation.compare(slack) <= 0 && deviation.compare(ZERO.minus(slack)) >= 0, `${wallet} events`).toBe(
            true,
          );
        }
      }),
      settings,
    );
  });

  it('open interest is the locked collateral, and the sum of maker fills is the volume', () => {
    fc.assert(
      fc.property(history(true), fees, (steps, feeBips) => {
        const world = play(new ScriptedVenue(true, { wallets: 4, plain: 2, questions: 3, feeBips }), steps);
        const { events, activity } = account(world, world.wallets);
        const conditionOf = new Map(
          world.markets.flatMap((market) => market.tokens.map((token) => [token, market.condition] as const)),
        );
        const interest = new Map<string, bigint>();
        const add = (token: string, change: bigint) => {
          const condition = conditionOf.get(token) ?? token;
          interest.set(condition, (interest.get(condition) ?? 0n) + change);
        };
        for (const event of events) add(event.token_id, event.minted);
        world.blocks.flat().forEach((event, offset) => {
          conditionRows.emit(event, offset, (table, row) => {
            if ((table as unknown) !== conditionEventsTable) return;
            const { token_id, collateral } = row as unknown as { token_id: string; collateral: bigint };
            add(token_id, collateral);
          });
        });
        for (const { condition } of world.markets)
          expect(interest.get(condition) ?? 0n, condition).toBe(world.collateral.get(condition) ?? 0n);
        const makers = activity.filter((one) => ['BUY', 'SELL'].includes(one.action) && !one.is_taker);
        expect(makers.reduce((sum, one) => sum + one.usdc, 0n)).toBe(world.volume);
      }),
      settings,
    );
  });

  it.each([
    ['0.75', 3, 5, '0.125'],
    ['0.73', 1, 6, '0.146'],
  ])('a conversion at an average NO price of %s, %i of %i questions, has a YES cost of %s', (no, n, q, yes) => {
    const world = new ScriptedVenue(true, { wallets: 2, plain: 0, questions: q });
    const cents = BigInt(Math.round(Number(no) * 100));
    // Wallet 1 makes full sets and sells NO to wallet 0.
    for (let market = 0; market < n; market++) {
      world.set('split', market, 1, 10_000_000n);
      world.endTransaction();
      const makers = [{ wallet: 1, shares: 10_000_000n, cents, opposite: false }];
      world.match({ market, outcome: 1, taker: 0, side: 'BUY', makers, generation: 2, feeBps: 0n, leftover: 0n });
      world.endTransaction();
    }
    world.convert((1 << n) - 1, 0, 10_000_000n, false);
    world.endBlock();
    const { holdings } = account(world, world.wallets);
    const created = world.group.slice(n).map((market) => holdings.get(`${world.wallets[0]} ${market.tokens[0]}`));
    expect(created).toHaveLength(q - n);
    for (const holding of created)
      expect(averagePrice(holding as Holding)).toBe(BigInt(Math.round(Number(yes) * 1000)) * 10n ** 15n);
  });

  it('a redemption of an odd amount at one half pays whole base units per outcome, like the contract', () => {
    const world = new ScriptedVenue(true, { wallets: 2, plain: 1, questions: 1 });
    world.set('split', 0, 0, 12_345n);
    world.endTransaction();
    world.resolve(0, 1n);
    world.endTransaction();
    world.redeem(0, 0, true);
    world.endBlock();
    const accounts = account(world, world.wallets);
    expectSame(world, accounts);
    const { events } = accounts;
    const paid = events.filter(({ action }) => action === 'REDEEM').map(({ cash }) => cash);
    expect(paid).toEqual([6_172n * 10n ** 12n, 6_172n * 10n ** 12n]);
    expect(world.cash.get(world.wallets[0] as string)).toBe(-12_345n + 2n * 6_172n);
    expect(events.reduce((sum, { realized }) => sum + realized, 0n)).toBe((-12_345n + 2n * 6_172n) * 10n ** 12n);
  });

  it('a conversion with unknown questions moves the NO shares at cost and sets problem', () => {
    const world = new ScriptedVenue(true, { wallets: 2, plain: 0, questions: 3, countLogged: false });
    world.set('split', 0, 0, 4_000_000n);
    world.endTransaction();
    world.convert(1, 0, 4_000_000n, false);
    world.endBlock();
    const { holdings, events } = account(world, world.wallets);
    const no = holdings.get(`${world.wallets[0]} ${world.group[0]?.tokens[1]}`);
    expect(no).toMatchObject({ size: 0n, realized: 0n, sent_cost: 2_000_000n * 10n ** 12n, unpriced: 1 });
    expect(events.at(-1)).toMatchObject({ action: 'CONVERT', problem: 'questions of the market unknown' });
  });
});
