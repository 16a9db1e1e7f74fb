import type { ClickHouse } from '../../infra/clickhouse/client.js';
import { periodScoresSql } from '../../schemas/copy-pnl/period-scores.sql.js';
import { deleteFutureRows } from '../future-rows.js';

export interface Cycle {
  readonly startedMs: number;
  /** null: not complete. */
  readonly completedMs: number | null;
}

/** Reads and writes the tables of scores. Every method rejects as the ClickHouse client does. */
export interface ScoreStore {
  /** Scores the wallets in all periods that end at `atMs`, in one insert: the scores of all of them or of none. */
  score(wallets: readonly string[], atMs: number, options: { budgetMs: number; signal?: AbortSignal }): Promise<void>;
  /** The wallets that have scores of this time or later; with `orFailed` also those whose scoring failed since then. */
  doneSince(wallets: readonly string[], sinceMs: number, orFailed: boolean): Promise<ReadonlySet<string>>;
  recordFailure(wallet: string, error: string, atMs: number): Promise<void>;
  /** The cycle that started last; null before the first. */
  newestCycle(): Promise<Cycle | null>;
  writeCycle(cycle: Cycle): Promise<void>;
  /** Deletes the scores, failures and cycles of a clock that ran ahead of `nowMs` by more than MAX_LEAD_MS. */
  deleteFuture(nowMs: number): Promise<void>;
}

const millis = (name: string): string => `fromUnixTimestamp64Milli({${name}:Int64}, 'UTC')`;

/** The tables with their times. */
const tables = [
  { name: 'copy_scores', column: 'computed_at' },
  { name: 'copy_score_errors', column: 'at' },
  { name: 'copy_cycles', column: 'started_at' },
] as const;

const insertScoresSql = `INSERT INTO copy_scores (wallet, period, actual, slippage, trade_count, partial, computed_at)
  SELECT wallet, period, actual, slippage, trade_count, false, ${millis('computed_at')} FROM (${periodScoresSql})`;

const scoredSinceSql = `SELECT DISTINCT wallet FROM copy_scores
  WHERE wallet IN {wallets:Array(String)} AND computed_at >= ${millis('since')}`;
const doneSinceSql = `${scoredSinceSql}
  UNION DISTINCT
  SELECT wallet FROM copy_score_errors WHERE wallet IN {wallets:Array(String)} AND at >= ${millis('since')}`;

const newestCycleSql = `SELECT toString(toUnixTimestamp64Milli(started_at)) AS started_ms,
    toString(toUnixTimestamp64Milli(max(completed_at))) AS completed_ms
  FROM copy_cycles GROUP BY started_at ORDER BY started_at DESC LIMIT 1`;

/** Low priority, so that requests are not delayed; one thread per statement, since many short statements follow each other. */
const SETTINGS = { max_threads: 1, priority: '2' } as const;

export function createScoreStore(clickhouse: Pick<ClickHouse, 'command' | 'query' | 'insertRows'>): ScoreStore {
  return {
    score: (wallets, atMs, { budgetMs, signal }) =>
      clickhouse.command(
        insertScoresSql,
        { wallets, now_s: Math.floor(atMs / 1000), computed_at: atMs },
        {
          settings: { ...SETTINGS, max_execution_time: budgetMs / 1000 },
          ...(signal === undefined ? {} : { signal }),
        },
      ),
    async doneSince(wallets, sinceMs, orFailed) {
      if (wallets.length === 0) return new Set();
      const sql = orFailed ? doneSinceSql : scoredSinceSql;
      const rows = await clickhouse.query<{ wallet: string }>(sql, { wallets, since: sinceMs }, { settings: SETTINGS });
      return new Set(rows.map(({ wallet }) => wallet));
    },
    recordFailure: (wallet, error, atMs) =>
      clickhouse.insertRows('copy_score_errors', [{ wallet, error, at: new Date(atMs).toISOString() }]),
    async newestCycle() {
      const [row] = await clickhouse.query<{ started_ms: string; completed_ms: string }>(newestCycleSql);
      if (row === undefined) return null;
      const completedMs = Number(row.completed_ms);
      return { startedMs: Number(row.started_ms), completedMs: completedMs === 0 ? null : completedMs };
    },
    writeCycle: ({ startedMs, completedMs }) =>
      clickhouse.insertRows('copy_cycles', [
        {
          started_at: new Date(startedMs).toISOString(),
          completed_at: new Date(completedMs ?? 0).toISOString(),
        },
      ]),
    async deleteFuture(nowMs) {
      for (const table of tables) await deleteFutureRows(clickhouse, table, nowMs);
    },
  };
}
