import type { TtlCache } from '../cache/ttl-cache.js';
import { emptyPnlSummary, type PnlReader, type WalletSummary, walletSummaryFrom } from '../pnl/reader.js';
import type { Tables } from '../tables/port.js';
import {
  type LeaderboardRow,
  leaderboardSql,
  newestSnapshotSql,
  type RankingMetric,
  rankedByTokensSql,
  type VenueTotalsRow,
  venueTotalsSql,
} from './leaderboard.sql.js';

export interface RankedWallet {
  readonly rank: number;
  readonly wallet: string;
  readonly summary: WalletSummary;
}

export interface LeaderboardReader {
  /** When the newest picture of a board was taken, as of a second ago at most; null before the first. */
  newestSnapshot(metric: RankingMetric): Promise<number | null>;
  /** Ranks after `afterRank` of a picture, one more than `rows` where there are more; none of a picture that is gone. */
  ranks(metric: RankingMetric, takenAtMs: number, afterRank: number, rows: number): Promise<readonly RankedWallet[]>;
  /** Wallets in the order of what they made with some tokens, at most MAX_RANK; at most `ORDER_MS` old. */
  rankedWallets(tokenIds: readonly string[], metric: RankingMetric, name: string): Promise<readonly string[]>;
  /** Wallets with what they made with some tokens, in the order given. */
  summaries(wallets: readonly string[], tokenIds: readonly string[]): Promise<readonly WalletSummary[]>;
  totals(): Promise<VenueTotalsRow | null>;
}

const NEWEST_SNAPSHOT_CACHE_MS = 1_000;
/** A picture never changes; that it is gone is noticed within this. */
const SNAPSHOT_CACHE_MS = 60_000;

/** Oldest order of the wallets of a market. */
export const MAX_ORDER_AGE_MS = 60_000;

/** Ranks of wallets: over everything from pictures taken in the background, over some markets from their holders. */
export function createLeaderboardReader(deps: { tables: Tables; cache: TtlCache; pnl: PnlReader }): LeaderboardReader {
  const { tables, cache, pnl } = deps;
  return {
    async newestSnapshot(metric) {
      const load = async () => (await tables.rows<{ at: number | string }>(newestSnapshotSql(metric)))[0];
      const row = (
        await cache.get(
          `leaderboard ${metric} newest`,
          (found) => (found === undefined ? 0 : NEWEST_SNAPSHOT_CACHE_MS),
          load,
        )
      ).value;
      return row === undefined ? null : Number(row.at);
    },
    async ranks(metric, takenAtMs, afterRank, rows) {
      const load = async (): Promise<readonly RankedWallet[]> => {
        const found = await tables.rows<LeaderboardRow>(leaderboardSql(metric, takenAtMs, afterRank, rows));
        return found.map((row) => ({
          rank: Number(row.rank),
          wallet: row.wallet,
          summary: { ...walletSummaryFrom({ ...row, combo: false, last_at: 0 }), lastAtS: null },
        }));
      };
      const name = `leaderboard ${metric} ${takenAtMs} ${afterRank} ${rows}`;
      return (await cache.get(name, (found) => (found.length === 0 ? 0 : SNAPSHOT_CACHE_MS), load)).value;
    },
    async rankedWallets(tokenIds, metric, name) {
      const load = async () => {
        if (tokenIds.length === 0) return [];
        return (await tables.rows<{ id: string }>(rankedByTokensSql(tokenIds, metric))).map((row) => row.id);
      };
      return (await cache.get(`leaderboard ${metric} ${name}`, MAX_ORDER_AGE_MS, load)).value;
    },
    async summaries(wallets, tokenIds) {
      const summaries = await pnl.summaries(wallets, tokenIds);
      return wallets.map((wallet) => summaries.get(wallet)?.markets ?? emptyPnlSummary);
    },
    async totals() {
      const [row] = await tables.rows<VenueTotalsRow>(venueTotalsSql());
      return row ?? null;
    },
  };
}
