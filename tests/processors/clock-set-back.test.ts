import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createResponseCache } from '../../api/cache/response-cache.js';
import { createLargestPositionsReader } from '../../api/leaderboards/largest-positions.js';
import { newestSnapshotSql, tagLeaderboardSql, venueTotalsSql } from '../../api/leaderboards/leaderboard.sql.js';
import { createClickHouseTables } from '../../api/tables/clickhouse-tables.js';
import { silentLogger } from '../../infra/telemetry/logger.js';
import { createMetrics } from '../../infra/telemetry/metrics.js';
import { createScoreStore } from '../../processors/copy-pnl/score-store.js';
import { createLeaderboardRefresher } from '../../processors/leaderboards/leaderboard-refresher.js';
import { createTagLeaderboardRefresher } from '../../processors/leaderboards/tag-leaderboard-refresher.js';
import { startMigratedClickHouse, type TestClickHouse } from '../support/clickhouse.js';
import { insertAccounts, tradeOf } from '../support/positions.js';
import { address } from '../support/rows.js';

const DAY_MS = 86_400_000;
/** Rows expire by the engine's clock, which is right. */
const NOW_MS = Date.now();
const [alice, bob] = [address(1), address(2)];
const [TOKEN, OTHER] = ['71', '72'];

let engine: TestClickHouse;
beforeAll(async () => {
  engine = await startMigratedClickHouse();
  await insertAccounts(engine.client, [tradeOf(alice, 1, 'BUY', TOKEN, 10, 5)]);
  // More tokens than a request lists.
  await engine.client.command(
    `INSERT INTO markets (condition_id, token_ids, tag_slugs, _offset) SELECT concat('0x', hex(number)), [2 * number, 2 * number + 1], ['wide'], number
      FROM numbers(1000)`,
  );
});
afterAll(() => engine.stop());

const clock = { nowMs: NOW_MS };
const deps = () => ({
  clickhouse: engine.client,
  logger: silentLogger(),
  metrics: createMetrics({ process: 'test', defaults: false }),
  nowMs: () => clock.nowMs,
});

describe('after a clock that ran five days ahead was set back', () => {
  it('the first leaderboards, totals and largest positions that are taken are served, and the earlier ones are retained', async () => {
    const refresher = createLeaderboardRefresher(deps());
    const tables = createClickHouseTables(engine.client);
    const cache = createResponseCache({ nowMs: () => clock.nowMs, maxBytes: 0 });
    const newest = async () => {
      const [ranks] = await tables.rows<{ at: string }>(newestSnapshotSql('total'));
      const [totals] = await tables.rows<{ at: string }>(venueTotalsSql());
      const largest = await createLargestPositionsReader({ tables, cache }).newestSnapshot();
      return [Number(ranks?.at), Number(totals?.at), largest].map((at) => (at ?? 0) - NOW_MS);
    };
    // A snapshot of a second later on another machine's clock is no reason to delete.
    for (const atMs of [0, 1_000, 5 * DAY_MS]) {
      clock.nowMs = NOW_MS + atMs;
      await refresher.refresh();
      expect(await newest()).toEqual([atMs, atMs, atMs]);
    }
    clock.nowMs = NOW_MS + 500;
    await refresher.refresh();
    expect(await newest()).toEqual([1_000, 1_000, 1_000]);
    const taken = await engine.client.query<{ ms: string }>(
      'SELECT DISTINCT toString(toUnixTimestamp64Milli(taken_at)) AS ms FROM leaderboards ORDER BY ms',
    );
    expect(taken.map(({ ms }) => Number(ms) - NOW_MS)).toEqual([0, 500, 1_000]);
  });

  it('the first leaderboard of a tag that is taken replaces the one of the future', async () => {
    const refresher = createTagLeaderboardRefresher(deps());
    const ranked = async () => {
      await engine.client.command('OPTIMIZE TABLE tag_leaderboards FINAL');
      const { text, params } = tagLeaderboardSql('wide', 'positions');
      const rows = await engine.client.query<{ id: string; at: string }>(text, params);
      return rows.map(({ id, at }) => [id, Number(at) - NOW_MS]);
    };
    clock.nowMs = NOW_MS + 5 * DAY_MS;
    await refresher.refresh();
    expect(await ranked()).toEqual([[alice, 5 * DAY_MS]]);
    clock.nowMs = NOW_MS;
    await insertAccounts(engine.client, [tradeOf(bob, 2, 'BUY', TOKEN, 10, 5), tradeOf(bob, 3, 'BUY', OTHER, 10, 5)]);
    await refresher.refresh();
    expect(await ranked()).toEqual([
      [bob, 0],
      [alice, 0],
    ]);
  });

  it('scores, failures and cycles of copy-PnL of the future are deleted, and later ones are stored', async () => {
    const store = createScoreStore(engine.client);
    const score = (wallet: string, atMs: number) => store.score([wallet], NOW_MS + atMs, { budgetMs: 10_000 });
    await score(alice, -DAY_MS);
    await store.writeCycle({ startedMs: NOW_MS - DAY_MS, completedMs: NOW_MS - DAY_MS });
    await score(bob, 5 * DAY_MS);
    await store.recordFailure(alice, 'timeout_180s', NOW_MS + 5 * DAY_MS);
    await store.writeCycle({ startedMs: NOW_MS + 5 * DAY_MS, completedMs: null });
    const done = async (sinceMs: number) => [...(await store.doneSince([alice, bob], NOW_MS + sinceMs, true))].sort();
    expect(await done(0)).toEqual([alice, bob]);

    await store.deleteFuture(NOW_MS);
    expect(await done(0)).toEqual([]);
    expect(await done(-DAY_MS)).toEqual([alice]);
    expect(await store.newestCycle()).toEqual({ startedMs: NOW_MS - DAY_MS, completedMs: NOW_MS - DAY_MS });
    await score(bob, 0);
    await engine.client.command('OPTIMIZE TABLE copy_scores FINAL');
    expect(await done(0)).toEqual([bob]);
  });
});
