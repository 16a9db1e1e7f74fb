import type { TtlCache } from '../cache/ttl-cache.js';
import type { TokenChoice } from '../fills/tokens.sql.js';
import { emptyPnlSummary, type PnlReader, type WalletSummary, walletSummaryFrom } from '../pnl/reader.js';
import type { Tables } from '../tables/port.js';
import {
  type LeaderboardRow,
  leaderboardSql,
  newestSnapshotSql,
  type RankingMetric,
  rankedByTokensSql,
  type TagRankRow,
  tagLeaderboardSql,
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
  /**
   * Wallets in the order of what they made with some tokens, at most MAX_RANK; at most `ORDER_MS` old. `tag`: the tag that chose them, and nothing else; where its
   * tokens are too many to be listed the order is that of its newest picture, if there is one.
   */
  rankedWallets(
    tokens: TokenChoice,
    board: RankingMetric,
    name: string,
    tag: string | null,
  ): Promise<readonly string[]>;
  /** Wallets with what they made with some tokens, in the order given. */
  summaries(wallets: readonly string[], tokens: TokenChoice): Promise<readonly WalletSummary[]>;
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
    async rankedWallets(tokens, board, name, tag) {
      const load = async () => {
        if (tokens.tokenIds?.length === 0) return [];
        if (tokens.among !== null && tag !== null) {
          const ranks = await tables.rows<TagRankRow>(tagLeaderboardSql(tag, board));
          const newest = ranks[0]?.at;
          if (newest !== undefined) return ranks.filter((row) => row.at === newest).map((row) => row.id);
        }
        return (await tables.rows<{ id: string }>(rankedByTokensSql(tokens, board))).map((row) => row.id);
      };
      return (await cache.get(`leaderboard ${board} ${name}`, MAX_ORDER_AGE_MS, load)).value;
    },
    async summaries(wallets, tokens) {
      const summaries = await pnl.summaries(wallets, tokens);
      return wallets.map((wallet) => summaries.get(wallet)?.markets ?? emptyPnlSummary);
    },
    async totals() {
      const [row] = await tables.rows<VenueTotalsRow>(venueTotalsSql());
      return row ?? null;
    },
  };
}
