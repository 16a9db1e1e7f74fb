import { RetryableError } from '../../infra/errors.js';
import { DEFAULT_SLIPPAGE_BPS } from '../../schemas/copy-pnl/cash.sql.js';
import { commonLimits } from '../../schemas/plans.js';
import type { Sql, Tables } from '../tables/port.js';
import { type CopierConditions, type CopierDay, copierSql } from './copier.sql.js';
import { type ActivityRow, createRealizedAccount, type RealizedProfit } from './realized.js';
import {
  activityOfWindowSql,
  type CashRow,
  cashOfWindowSql,
  countOfWindowSql,
  type ScoreWindow,
  type TradeRow,
  tradesOfWindowSql,
} from './score.sql.js';

/** Score of one wallet over one window, exact; base units unless said otherwise. */
export interface WindowScore {
  readonly wallet: string;
  readonly cash: CashRow | null;
  readonly realized: RealizedProfit;
  /** Oldest first; null if not requested. */
  readonly trades: readonly TradeRow[] | null;
  /** There are more trades than listed. */
  readonly tradesTruncated: boolean;
  /** A time budget cut a scan off, or the window has more rows than are accounted: the score is of the rows read until then. */
  readonly partial: boolean;
  readonly fetchMs: number;
}

export interface ScoreOptions {
  readonly includeTrades: boolean;
  /** Basis points. */
  readonly slippageBps?: number;
  readonly maxTrades: number;
}

export interface ScoreReader {
  /** Score of one wallet; stops reading after 30 s. */
  score(wallet: string, window: Omit<ScoreWindow, 'wallets'>, options: ScoreOptions): Promise<WindowScore>;
  /** Scores of several wallets in the given order; null for those not reached within 45 s, the error for those that could not be read. */
  scores(
    wallets: readonly string[],
    window: Omit<ScoreWindow, 'wallets'>,
    options: ScoreOptions,
  ): Promise<readonly (WindowScore | Error | null)[]>;
  /**
   * The backtest of one wallet under a copier's conditions, per UTC day with activity, oldest first. `isPartial`: the time budget may have cut the scan
   * off.
   */
  copier(
    wallet: string,
    window: Omit<ScoreWindow, 'wallets'>,
    conditions: CopierConditions,
  ): Promise<{ readonly days: readonly CopierDay[]; readonly isPartial: boolean }>;
}

const BATCH_BUDGET_MS = 45_000;
/** Wallets of one batch that are accounted concurrently. */
const BATCH_CONCURRENCY = 2;
/** Rows read at once, so that memory is bounded and other requests are served in between. */
const PAGE_ROWS = 10_000;
/** Limit of rows of a wallet window that are accounted. */
const MAX_ACCOUNTED_ROWS = 500_000;

/** What one wallet cannot be read for. Throws what concerns them all, as an unreachable database. */
const ownFailure = (error: unknown): Error => {
  if (error instanceof RetryableError || !(error instanceof Error)) throw error;
  return error;
};
const byWallet = <R extends { readonly wallet: string }>(rows: readonly R[]) =>
  new Map(rows.map((row) => [row.wallet, row]));

/** Scores wallets over any window from `wallet_activity`. Each statement stops reading when its time budget is used up. */
export function createScoreReader(deps: {
  tables: Tables;
  /** Monotonic milliseconds. */
  clockMs?: () => number;
  /** Budget of one statement. */
  scanBudgetMs?: number;
  batchBudgetMs?: number;
}): ScoreReader {
  const { tables, scanBudgetMs = commonLimits.copyPnlScanBudgetMs, batchBudgetMs = BATCH_BUDGET_MS } = deps;
  const clockMs = deps.clockMs ?? (() => performance.now());
  const cutOff = (sql: Sql, budgetMs: number): Sql => ({ ...sql, cutOffAfterS: Math.max(budgetMs, 1) / 1000 });

  /** Rows of a statement, and whether it used up its budget: then it may have been cut off. */
  const read = async <R>(
    sql: Sql,
    budgetMs: number,
  ): Promise<{ readonly rows: readonly R[]; readonly late: boolean }> => {
    const startMs = clockMs();
    const rows = await tables.rows<R>(cutOff(sql, budgetMs));
    return { rows, late: clockMs() - startMs >= budgetMs };
  };

  /** Cash per wallet, and the wallets whose scan was cut off. */
  const readCash = async (window: ScoreWindow, slippageBps: number) => {
    const { rows, late } = await read<CashRow>(cashOfWindowSql(window, slippageBps), scanBudgetMs);
    const cash = byWallet(rows);
    const cut = new Set<string>();
    if (late)
      for (const { wallet, rows: expected } of await tables.rows<{ wallet: string; rows: string }>(
        countOfWindowSql(window),
      ))
        if (Number(cash.get(wallet)?.rows ?? 0) < Number(expected)) cut.add(wallet);
    return { cash, cut };
  };

  /** Realized profit of the rows read until the budget is used up; `isWhole`: of all rows of the window. */
  const readRealized = async (
    wallet: string,
    window: Omit<ScoreWindow, 'wallets'>,
    budgetMs: number,
  ): Promise<{ readonly realized: RealizedProfit; readonly isWhole: boolean }> => {
    const startMs = clockMs();
    const account = createRealizedAccount();
    let afterOffset = '-1';
    for (let rows = 0; rows < MAX_ACCOUNTED_ROWS; rows += PAGE_ROWS) {
      const leftMs = startMs + budgetMs - clockMs();
      if (leftMs <= 0) break;
      const sql = activityOfWindowSql(wallet, window, afterOffset, PAGE_ROWS);
      const { rows: page, late } = await read<ActivityRow>(sql, leftMs);
      for (const row of page) account.apply(row);
      if (late) break;
      if (page.length < PAGE_ROWS) return { realized: account.total(), isWhole: true };
      afterOffset = page.at(-1)?._offset ?? afterOffset;
    }
    return { realized: account.total(), isWhole: false };
  };

  const readTrades = async (window: ScoreWindow, { includeTrades, slippageBps, maxTrades }: ScoreOptions) => {
    const trades = new Map<string, TradeRow[]>(window.wallets.map((wallet) => [wallet, []]));
    if (!includeTrades) return null;
    const sql = tradesOfWindowSql(window, slippageBps ?? DEFAULT_SLIPPAGE_BPS, maxTrades + 1);
    for (const row of await tables.rows<TradeRow>(sql)) trades.get(row.wallet)?.push(row);
    return trades;
  };

  const scores: ScoreReader['scores'] = async (wallets, window, options) => {
    const startMs = clockMs();
    const distinct = [...new Set(wallets)];
    const all = { ...window, wallets: distinct };
    const [{ cash, cut }, trades] = await Promise.all([
      readCash(all, options.slippageBps ?? DEFAULT_SLIPPAGE_BPS),
      readTrades(all, options),
    ]);
    const found = new Map<string, WindowScore | Error>();
    const waiting = [...distinct];
    const next = async (): Promise<void> => {
      for (let wallet = waiting.shift(); wallet !== undefined; wallet = waiting.shift()) {
        const leftMs = startMs + batchBudgetMs - clockMs();
        if (leftMs <= 0) return;
        const ownCash = cash.get(wallet) ?? null;
        const read =
          ownCash === null
            ? { realized: createRealizedAccount().total(), isWhole: true }
            : await readRealized(wallet, window, Math.min(scanBudgetMs, leftMs)).catch(ownFailure);
        if (read instanceof Error) {
          found.set(wallet, read);
          continue;
        }
        const ownTrades = trades?.get(wallet) ?? null;
        found.set(wallet, {
          wallet,
          cash: ownCash,
          realized: read.realized,
          trades: ownTrades?.slice(0, options.maxTrades) ?? null,
          tradesTruncated: (ownTrades?.length ?? 0) > options.maxTrades,
          partial: !read.isWhole || cut.has(wallet),
          fetchMs: Math.round(clockMs() - startMs),
        });
      }
    };
    await Promise.all(Array.from({ length: BATCH_CONCURRENCY }, next));
    return wallets.map((wallet) => found.get(wallet) ?? null);
  };

  return {
    scores,
    async score(wallet, window, options) {
      const [score] = await scores([wallet], window, options);
      if (score instanceof Error) throw score;
      // At least one wallet is reached: its statement starts at once and stops at its own budget.
      return score as WindowScore;
    },
    async copier(wallet, window, conditions) {
      const { rows, late } = await read<CopierDay>(copierSql({ ...window, wallet }, conditions), scanBudgetMs);
      return { days: rows, isPartial: late };
    },
  };
}
