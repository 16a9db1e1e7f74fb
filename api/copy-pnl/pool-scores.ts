import type { CopyPeriod } from '../../schemas/copy-pnl/period-scores.sql.js';
import type { Tables } from '../tables/port.js';
import { boolFrom } from '../tables/values.js';
import {
  lastRefreshSql,
  type PoolLeaderboardQuery,
  type PoolLeaderboardRow,
  poolLeaderboardSql,
  type ScoreTuple,
  type WalletScoresRow,
  walletScoresSql,
} from './pool-scores.sql.js';
import type { ScoreAmounts } from './score-values.js';

/** A score of a wallet in one period. */
export interface PoolScore extends ScoreAmounts {
  readonly trades: number;
  readonly partial: boolean;
  readonly computedS: number;
}

export interface PoolFailure {
  readonly error: string;
  readonly atS: number;
}

export interface WalletScores {
  readonly wallet: string;
  /** Periods without a score are absent. */
  readonly scores: ReadonlyMap<string, PoolScore>;
  /** null unless the last scoring of the wallet failed. */
  readonly failure: PoolFailure | null;
}

export interface PoolLeaderboard {
  readonly scored: number;
  readonly filteredIn: number;
  readonly pending: number;
  readonly errored: number;
  readonly page: readonly { readonly wallet: string; readonly score: PoolScore }[];
  readonly erroredSample: readonly (PoolFailure & { readonly wallet: string })[];
  readonly pendingSample: readonly string[];
}

export type PoolScoresReader = ReturnType<typeof createPoolScoresReader>;

const emptyLeaderboard: PoolLeaderboard = {
  scored: 0,
  filteredIn: 0,
  pending: 0,
  errored: 0,
  page: [],
  erroredSample: [],
  pendingSample: [],
};

const scoreFrom = ([, actual, slippage, trades, partial, computedS]: ScoreTuple): PoolScore => ({
  actual: BigInt(actual),
  slippage: BigInt(slippage),
  trades,
  partial: boolFrom(partial),
  computedS,
});

/** Reads the scores that the copy-pnl task of the processors keeps. */
export function createPoolScoresReader({ tables }: { tables: Pick<Tables, 'rows'> }) {
  return {
    /** In order of wallet. */
    async scores(wallets: readonly string[], periods: readonly CopyPeriod[]): Promise<readonly WalletScores[]> {
      if (wallets.length === 0) return [];
      const rows = await tables.rows<WalletScoresRow>(walletScoresSql(wallets, periods));
      return rows.map(({ wallet, scores, error, failed_s: atS }) => ({
        wallet,
        scores: new Map(scores.map((tuple) => [tuple[0], scoreFrom(tuple)])),
        failure: error === '' ? null : { error, atS },
      }));
    },
    async leaderboard(wallets: readonly string[], query: PoolLeaderboardQuery): Promise<PoolLeaderboard> {
      if (wallets.length === 0) return emptyLeaderboard;
      const [row] = await tables.rows<PoolLeaderboardRow>(poolLeaderboardSql(wallets, query));
      if (row === undefined) return emptyLeaderboard;
      return {
        scored: Number(row.scored),
        filteredIn: Number(row.filtered_in),
        pending: Number(row.pending),
        errored: Number(row.errored),
        page: row.page.map(([wallet, ...tuple]) => ({ wallet, score: scoreFrom(tuple) })),
        erroredSample: row.errored_sample.map(([wallet, error, atS]) => ({ wallet, error, atS })),
        pendingSample: row.pending_sample,
      };
    },
    /** Unix seconds of the end of the last complete cycle; null before the first. */
    async lastRefreshS(): Promise<number | null> {
      const [row] = await tables.rows<{ completed_s: number }>(lastRefreshSql);
      const completedS = row?.completed_s ?? 0;
      return completedS === 0 ? null : completedS;
    },
  };
}
