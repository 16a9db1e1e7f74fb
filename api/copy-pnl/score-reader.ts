import { exceededOwnLimit } from '../../infra/clickhouse/own-limit.js';
import { RetryableError } from '../../infra/errors.js';
import { DEFAULT_SLIPPAGE_BPS } from '../../schemas/copy-pnl/cash.sql.js';
import { commonLimits } from '../../schemas/plans.js';
import type { Sql, Tables } from '../tables/port.js';
import { type CopierConditions, type CopierDay, copierSql } from './copier.sql.js';
import { createRealizedAccount, type RealizedProfit } from './realized.js';
import {
  activityOfWindowSql,
  type CashRow,
  cashOfWindowSql,
  type ScoreWindow,
  type TradeRow,
  type WindowRow,
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
  /** Score of one wallet; each of its scans stops after 30 s, both together after 45 s. */
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
  if (!(error instanceof Error) || (error instanceof RetryableError && !exceededOwnLimit(error))) throw error;
  return error;
};

/** Rows of a statement, and whether it used up its budget: then it may have been cut off. */
interface Timed<R> {
  readonly rows: readonly R[];
  readonly late: boolean;
}

/** What the rows of one wallet's window result in, as far as they were read. */
interface WalletRead {
  readonly realized: RealizedProfit;
  /** The first fills, one more than requested. */
  readonly trades: readonly TradeRow[];
  /** Rows other than transfers. */
  readonly rows: number;
  /** All rows of the window were read. */
  readonly isWhole: boolean;
}

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

  const read = async <R>(sql: Sql, budgetMs: number): Promise<Timed<R>> => {
    const startMs = clockMs();
    const rows = await tables.rows<R>(cutOff(sql, budgetMs));
    return { rows, late: clockMs() - startMs >= budgetMs };
  };

  /** Reads the rows of one wallet until the budget is used up. */
  const readRows = async (
    wallet: string,
    window: Omit<ScoreWindow, 'wallets'>,
    { includeTrades, maxTrades, slippageBps = DEFAULT_SLIPPAGE_BPS }: ScoreOptions,
    budgetMs: number,
  ): Promise<WalletRead> => {
    const startMs = clockMs();
    const account = createRealizedAccount();
    const trades: TradeRow[] = [];
    let rows = 0;
    const add = (row: WindowRow): void => {
      account.apply(row);
      const { action, ts, usdc, shares, slippage } = row;
      if (action !== 'SEND' && action !== 'RECEIVE') rows += 1;
      if (includeTrades && (action === 'BUY' || action === 'SELL') && trades.length <= maxTrades)
        trades.push({ ts, side: action, usdc, shares, slippage });
    };
    let after: WindowRow | null = null;
    for (let limit = PAGE_ROWS; limit <= MAX_ACCOUNTED_ROWS; limit += PAGE_ROWS) {
      const leftMs = startMs + budgetMs - clockMs();
      if (leftMs <= 0) break;
      const page: Timed<WindowRow> = await read(
        activityOfWindowSql(wallet, window, slippageBps, after, PAGE_ROWS),
        leftMs,
      );
      page.rows.forEach(add);
      if (page.late) break;
      if (page.rows.length < PAGE_ROWS) return { realized: account.total(), trades, rows, isWhole: true };
      after = page.rows.at(-1) ?? after;
    }
    return { realized: account.total(), trades, rows, isWhole: false };
  };
  const withoutRows: WalletRead = { realized: createRealizedAccount().total(), trades: [], rows: 0, isWhole: true };

  const scores: ScoreReader['scores'] = async (wallets, window, options) => {
    const startMs = clockMs();
    const distinct = [...new Set(wallets)];
    const { includeTrades, maxTrades, slippageBps = DEFAULT_SLIPPAGE_BPS } = options;
    const { rows: cashRows, late } = await read<CashRow>(
      cashOfWindowSql({ ...window, wallets: distinct }, slippageBps),
      scanBudgetMs,
    );
    const cashOf = new Map(cashRows.map((row) => [row.wallet, row]));
    const found = new Map<string, WindowScore | Error>();
    const waiting = [...distinct];
    const next = async (): Promise<void> => {
      for (let wallet = waiting.shift(); wallet !== undefined; wallet = waiting.shift()) {
        const leftMs = startMs + batchBudgetMs - clockMs();
        if (leftMs <= 0) return;
        const cash = cashOf.get(wallet) ?? null;
        const own =
          cash === null && !late
            ? withoutRows
            : await readRows(wallet, window, options, Math.min(scanBudgetMs, leftMs)).catch(ownFailure);
        if (own instanceof Error) {
          found.set(wallet, own);
          continue;
        }
        const trades = own.trades.slice(0, maxTrades);
        found.set(wallet, {
          wallet,
          cash,
          realized: own.realized,
          trades: includeTrades ? trades : null,
          tradesTruncated: includeTrades && Math.max(own.trades.length, Number(cash?.fills ?? 0)) > trades.length,
          // A late scan of the cash may lack rows of any wallet: those that the other scan has found.
          partial: !own.isWhole || (late && own.rows !== Number(cash?.rows ?? 0)),
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
