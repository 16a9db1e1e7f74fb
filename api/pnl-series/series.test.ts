import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import type { ApiError } from '../errors/failure.js';
import type { Sql, Tables } from '../tables/port.js';
import { createPnlSeriesReader, type PnlPoint } from './series.js';

beforeEach(() => void vi.useFakeTimers({ now: 1_790_000_400_000 }));
afterEach(() => void vi.useRealTimers());

/** Two sample times before the newest one. */
const period = { stepS: 3_600, points: 3 };

/**
 * A reader of wallets with a million events, except for `small`. Each statement takes `statementMs`. `groups`: rows of holdings of a wallet. `slices`: the
 * statements of holdings, by wallet.
 */
function setUp({ statementMs, groups }: { statementMs: number; groups: number }) {
  const slices: string[] = [];
  const tables: Tables = {
    reachable: async () => true,
    async rows<T>(sql: Sql): Promise<T[]> {
      await new Promise((resolve) => setTimeout(resolve, statementMs));
      if (sql.text.includes('uniqCombined')) return [{ groups } as T];
      slices.push(`${sql.params.wallet} ${sql.params.share}/${sql.params.of}`);
      return [];
    },
  };
  const none = async () => new Map();
  const series = createPnlSeriesReader({
    tables,
    metadata: { tokensOf: none, marketsOf: none, resolutionsOf: none },
    hourlyCloses: { since: none },
    currentPnl: async (wallet) => ({
      pnl: async () => 7n,
      positions: wallet === 'small' ? 10 : 1_000_000,
      events: 1_000_000,
    }),
    nowMs: () => Date.now(),
  });
  const outcomes = new Map<string, string>();
  const request = (wallet: string, accountId: string) => {
    series(wallet, period, accountId).then(
      (points) => outcomes.set(wallet, `${(points as PnlPoint[]).length} points`),
      (error: ApiError) =>
        outcomes.set(wallet, Object.values(error.failure).slice(0, 1).concat(scopeOf(error)).join(' ')),
    );
  };
  const scopeOf = ({ failure }: ApiError) => ('scope' in failure ? failure.scope : undefined);
  return { request, slices, outcomes };
}

it('createPnlSeriesReader computes one large series of an account at a time, and those of other accounts meanwhile', async () => {
  const { request, outcomes } = setUp({ statementMs: 9_000, groups: 40_000 });
  for (let n = 0; n < 60; n++) request(`a${n}`, 'a');
  request('b0', 'b');
  request('small', 'a');
  // One statement that counts, one that reads: 18 s.
  await vi.advanceTimersByTimeAsync(19_000);
  expect(Object.fromEntries(outcomes)).toEqual({ a0: '3 points', b0: '3 points', small: '3 points' });
  // Nothing waits longer than 20 s.
  await vi.advanceTimersByTimeAsync(2_000);
  expect(outcomes.size).toBe(61);
  expect(outcomes.get('a59')).toBe('rate_limited pnl_series_account');
  await vi.advanceTimersByTimeAsync(20_000);
  expect(outcomes.get('a1')).toBe('3 points');
});

it('createPnlSeriesReader computes two large series at once, and rejects those of other accounts after a wait', async () => {
  const { request, outcomes } = setUp({ statementMs: 15_000, groups: 40_000 });
  for (const name of ['a', 'b', 'c']) request(name, name);
  await vi.advanceTimersByTimeAsync(20_000);
  expect(Object.fromEntries(outcomes)).toEqual({ c: 'overloaded pnl_series_total' });
  await vi.advanceTimersByTimeAsync(10_000);
  expect(outcomes.get('a')).toBe('3 points');
  expect(outcomes.get('b')).toBe('3 points');
});

it('createPnlSeriesReader reads as many slices as the holdings have rows for, not events', async () => {
  const { request, slices } = setUp({ statementMs: 10, groups: 120_000 });
  request('a', 'a');
  await vi.runAllTimersAsync();
  expect(slices).toEqual(['a 0/3', 'a 1/3', 'a 2/3']);
});

it('createPnlSeriesReader ends a computation that exceeds its time budget', async () => {
  const { request, slices, outcomes } = setUp({ statementMs: 9_500, groups: 1_000_000 });
  request('a', 'a');
  await vi.runAllTimersAsync();
  expect(slices).toHaveLength(7);
  expect(outcomes.get('a')).toBe('overloaded pnl_series_time');
});
