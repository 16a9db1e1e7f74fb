import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { WalletActivity } from '../../schemas/types.gen.js';
import { type ApiHarness, startApi } from '../support/api.js';
import { accountFor, insertAccounts } from '../support/positions.js';
import { recordedActivity } from './recorded-wallets.js';

const UNIT = 10n ** 12n;
const WHOLE_SPAN = 'after=1700000000&before=1790000000';

let api: ApiHarness;
let key: string;
let activity: readonly WalletActivity[];
beforeAll(async () => {
  api = await startApi({ nowMs: Date.UTC(2026, 7, 1) });
  key = await api.key('enterprise');
  activity = await recordedActivity();
  await insertAccounts(api.clickhouse, activity);
}, 300_000);
afterAll(() => api.stop());

const rows = <T>(text: string) => api.clickhouse.query<T>(text);

/** Base units of a JSON number or text of dollars. */
const units = (shown: unknown): bigint => BigInt(Math.round(Number(shown) * 1e6));

describe('amounts of every recorded wallet agree to the base unit', () => {
  it('realized PnL and cost of a position equal the sum of its events and the last event', async () => {
    const [found] = await rows<Record<string, string>>(
      `SELECT count() AS positions, uniqExact(p.wallet) AS wallets, countIf(p.realized_pnl != e.realized) AS realized, countIf(p.cost != e.cost) AS cost,
        countIf(p.realized_pnl != e.last_realized) AS last_realized, countIf(p.cost != e.last_cost) AS last_cost,
        countIf(p.size != e.size) AS size, countIf(e.realized = 0) AS flat
      FROM positions AS p FINAL
      LEFT JOIN (
        SELECT wallet, token_id, sum(pnl_events.realized_pnl) AS realized, sum(pnl_events.cost) AS cost, sum(shares) AS size,
          argMax(realized_after, _offset) AS last_realized, argMax(cost_after, _offset) AS last_cost
        FROM pnl_events FINAL GROUP BY wallet, token_id
      ) AS e ON e.wallet = p.wallet AND e.token_id = p.token_id`,
    );
    expect(Number(found?.positions)).toBeGreaterThan(50_000);
    expect(Number(found?.wallets)).toBeGreaterThan(500);
    expect(Number(found?.flat)).toBeLessThan(Number(found?.positions));
    expect(found).toMatchObject({ realized: '0', cost: '0', last_realized: '0', last_cost: '0', size: '0' });
  });

  it('realized PnL of a wallet is equal over positions, events, days, and days split by gain and loss', async () => {
    const apart = await rows<object>(
      `SELECT wallet, sum(a) AS positions, sum(b) AS changes, sum(c) AS days, sum(d) AS parts
      FROM (
        SELECT wallet, realized_pnl AS a, 0 AS b, 0 AS c, 0 AS d FROM positions FINAL
        UNION ALL SELECT wallet, 0, realized_pnl, 0, 0 FROM pnl_events FINAL
        UNION ALL SELECT wallet, 0, 0, realized_pnl, gross_profit + gross_loss FROM wallet_days
      )
      GROUP BY wallet HAVING positions != changes OR changes != days OR days != parts`,
    );
    expect(apart).toEqual([]);
  });

  it('cash of a fill is its payment, of a merge, split or redemption the on-chain transfer', async () => {
    const [fills] = await rows<object>(
      `SELECT countIf(cash != if(action = 'BUY', -toInt64(usdc), toInt64(usdc))) AS other
      FROM pnl_events FINAL WHERE action IN ('BUY', 'SELL') AND untracked = 0
        AND (wallet, token_id) NOT IN (SELECT wallet, token_id FROM pnl_events WHERE action = 'RECEIVE')`,
    );
    expect(fills).toEqual({ other: '0' });
    // A merge of tracked shares pays one unit for a pair, odd amounts included.
    const merged = new Map(
      activity.filter((one) => one.action === 'MERGE').map((one) => [one.id, one.amounts?.[0] ?? 0n] as const),
    );
    const fromTable = await rows<{ id: string; cash: string }>(
      `SELECT id, toString(sum(cash)) AS cash FROM pnl_events FINAL WHERE action = 'MERGE' GROUP BY id HAVING sum(untracked) = 0`,
    );
    expect(fromTable.length).toBeGreaterThan(300);
    expect(fromTable.filter(({ id, cash }) => BigInt(cash) !== merged.get(id))).toEqual([]);
  });

  it('tables contain the exact amounts with 18 decimals, rounded once per position', async () => {
    const { positions } = accountFor(activity);
    const exact = new Map<string, { sum: bigint; positions: bigint }>();
    for (const one of positions) {
      const found = exact.get(one.wallet) ?? { sum: 0n, positions: 0n };
      exact.set(one.wallet, { sum: found.sum + one.realized, positions: found.positions + 1n });
    }
    const fromTable = await rows<{ wallet: string; realized: string }>(
      'SELECT wallet, toString(sum(realized_pnl)) AS realized FROM positions FINAL GROUP BY wallet',
    );
    expect(fromTable).toHaveLength(exact.size);
    for (const { wallet, realized } of fromTable) {
      const { sum, positions } = exact.get(wallet) ?? { sum: 0n, positions: 0n };
      const apart = BigInt(realized) * UNIT - sum;
      expect((apart < 0n ? -apart : apart) * 2n <= positions * UNIT, wallet).toBe(true);
    }
  });

  it('summary, span and series by hour, day, week and month return the same realized PnL', async () => {
    const wallets = await rows<{ wallet: string; realized: string }>(
      'SELECT wallet, toString(sum(realized_pnl)) AS realized FROM positions FINAL GROUP BY wallet ORDER BY count() DESC LIMIT 30',
    );
    for (const { wallet, realized } of wallets) {
      const shown: Record<string, bigint> = {};
      const read = (path: string) => api.ok<Record<string, unknown>>(`/v3/wallets/${wallet}${path}`, key);
      shown.wallet = units((await read('?include_combos=true')).net_realized_pnl);
      shown.pnl = units((await read('/pnl')).net_realized_pnl);
      shown.span = units((await read(`/pnl?${WHOLE_SPAN}`)).realized_pnl);
      for (const group of ['hour', 'day', 'week', 'month']) {
        const series = await read(`/pnl/events?${WHOLE_SPAN}&group=${group}`);
        const buckets = series.buckets as { realized_pnl: number; cumulative_pnl: number }[];
        shown[`${group} total`] = units(series.total_realized_pnl);
        shown[`${group} sum`] = buckets.reduce((sum, bucket) => sum + units(bucket.realized_pnl), 0n);
        shown[`${group} last`] = units(buckets.at(-1)?.cumulative_pnl ?? 0);
      }
      for (const [view, amount] of Object.entries(shown)) expect(amount, `${wallet} ${view}`).toBe(BigInt(realized));
    }
  }, 120_000);
});
