import { afterAll, beforeAll, expect, it } from 'vitest';
import { newestSnapshotSql, type SnapshotRow } from '../../api/readiness/readiness.sql.js';
import { RetryableError } from '../../infra/errors.js';
import { silentLogger } from '../../infra/telemetry/logger.js';
import { createMetrics } from '../../infra/telemetry/metrics.js';
import { createLeaderboardRefresher } from '../../processors/leaderboards/leaderboard-refresher.js';
import { createTagLeaderboardRefresher } from '../../processors/leaderboards/tag-leaderboard-refresher.js';
import { startMigratedClickHouse, type TestClickHouse } from '../support/clickhouse.js';
import { insertAccounts, tradeOf } from '../support/positions.js';
import { address } from '../support/rows.js';

/** Rows expire by the engine's clock. */
const NOW_MS = Date.now();
const clock = { nowMs: NOW_MS };
let engine: TestClickHouse;
beforeAll(async () => {
  engine = await startMigratedClickHouse();
});
afterAll(() => engine.stop());

/** Statements that fail, and the tags of the snapshots that were attempted. */
const faults = { statement: (_sql: string, _tag: unknown): boolean => false };
const attempts: unknown[] = [];
const deps = () => ({
  clickhouse: {
    ...engine.client,
    command: async (...[sql, params, options]: Parameters<TestClickHouse['client']['command']>) => {
      if (params?.tag !== undefined) attempts.push(params.tag);
      if (faults.statement(sql, params?.tag)) throw new RetryableError('memory limit');
      await engine.client.command(sql, params, options);
    },
  },
  logger: silentLogger(),
  metrics: createMetrics({ process: 'test', defaults: false }),
  nowMs: () => clock.nowMs,
});
const readiness = async () => {
  const [row] = await engine.client.query<SnapshotRow>(newestSnapshotSql.text);
  return { takenMs: Number(row?.taken_ms), ranked: Number(row?.ranked) };
};

it('readiness has the time of the newest ranks, also when newer totals were taken, and that of the totals without wallets', async () => {
  expect(await readiness()).toEqual({ takenMs: 0, ranked: 0 });
  const refresher = createLeaderboardRefresher(deps());
  await refresher.refresh();
  expect(await readiness()).toEqual({ takenMs: NOW_MS, ranked: 0 });
  await insertAccounts(engine.client, [tradeOf(address(1), 1, 'BUY', '1', 10, 5)]);
  clock.nowMs = NOW_MS + 1_000;
  await refresher.refresh();
  expect(await readiness()).toEqual({ takenMs: NOW_MS + 1_000, ranked: 1 });

  clock.nowMs = NOW_MS + 2_000;
  faults.statement = (sql) => sql.includes('INTO leaderboards');
  await expect(refresher.refresh()).rejects.toThrow('leaderboards: memory limit');
  expect(await readiness()).toEqual({ takenMs: NOW_MS + 1_000, ranked: 1 });
  const taken = async (table: string) =>
    engine.client.query<{ ms: string }>(`SELECT toString(toUnixTimestamp64Milli(max(taken_at))) AS ms FROM ${table}`);
  for (const table of ['venue_totals', 'largest_positions'])
    expect(await taken(table)).toEqual([{ ms: String(NOW_MS + 2_000) }]);

  clock.nowMs = NOW_MS + 3_000;
  faults.statement = () => false;
  await refresher.refresh();
  expect(await readiness()).toEqual({ takenMs: NOW_MS + 3_000, ranked: 1 });
});

it('tag leaderboard refresher begins with tags without a snapshot, then with the oldest one, also in another process', async () => {
  // Each tag has 1,200 tokens, more than a request lists.
  await engine.client.command(
    `INSERT INTO markets (condition_id, token_ids, tag_slugs, _offset) SELECT concat('0x', hex(number)), [2 * number, 2 * number + 1],
      [['a', 'b', 'c'][intDiv(number, 600) + 1]], number FROM numbers(1800)`,
  );
  await insertAccounts(
    engine.client,
    [1, 1_201, 2_401].map((token, n) => tradeOf(address(2), 10 + n, 'BUY', String(token), 10, 5)),
  );
  const pass = async (atMs: number) => {
    clock.nowMs = NOW_MS + atMs;
    attempts.length = 0;
    await createTagLeaderboardRefresher(deps())
      .refresh(undefined, async () => {
        clock.nowMs += 100;
        return false;
      })
      .catch((error: unknown) => expect(error).toBeInstanceOf(RetryableError));
    return [...attempts];
  };
  faults.statement = (_sql, tag) => tag === 'a';
  expect(await pass(10_000)).toEqual(['a', 'b', 'c']);
  faults.statement = () => false;
  expect(await pass(20_000)).toEqual(['a', 'b', 'c']);
  faults.statement = (_sql, tag) => tag === 'a' || tag === 'b';
  expect(await pass(30_000)).toEqual(['a', 'b', 'c']);
  faults.statement = (_sql, tag) => tag === 'b';
  expect(await pass(40_000)).toEqual(['a', 'b', 'c']);
  faults.statement = () => false;
  // Snapshots of b are 30 s old, those of a and c 10 s, that of a was taken first.
  expect(await pass(50_000)).toEqual(['b', 'a', 'c']);
});
