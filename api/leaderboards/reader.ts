import type { ResponseCache } from '../cache/response-cache.js';
import type { TokenChoice } from '../fills/tokens.sql.js';
import { emptyPnlSummary, type PnlReader, type PositionsSummary, positionsSummaryFrom } from '../pnl/reader.js';
import { ordered } from '../positions/order.js';
import type { Tables } from '../tables/port.js';
import {
  type LeaderboardRow,
  leaderboardSql,
  newestSnapshotSql,
  type RankingMetric,
  rankedByTokensSql,
  type TagCountsRow,
  type TagRankRow,
  type TagSummaryRow,
  tagCountsSql,
  tagLeaderboardSql,
  tagSummariesSql,
  type VenueTotalsRow,
  venueTotalsSql,
} from './leaderboard.sql.js';
import { newestSnapshotAt, SNAPSHOT_CACHE_MS } from './newest-snapshot.js';

export interface RankedWallet {
  readonly rank: number;
  readonly wallet: string;
  readonly summary: PositionsSummary;
}

/** A wallet and its metric, base units or a number of positions. */
export interface RankedValue {
  readonly id: string;
  readonly value: bigint;
}

/** Maximum age of the cached order of a market's wallets. */
export const MAX_ORDER_AGE_MS = 60_000;

const rankOf = (row: { readonly id: string; readonly value: string }): RankedValue => ({
  id: row.id,
  value: BigInt(row.value),
});
const byValue = { value: (one: RankedValue) => one.value, id: (one: RankedValue) => one.id };

const summaryFrom = (row: LeaderboardRow): PositionsSummary => ({
  ...positionsSummaryFrom({ ...row, combo: false, last_at: 0 }),
  lastAtS: null,
});

/** Reads wallet rankings: over all markets from periodic snapshots, over some markets from their holders. */
export function createLeaderboardReader(deps: { tables: Tables; cache: ResponseCache; pnl: PnlReader }) {
  const { tables, cache, pnl } = deps;
  return {
    newestSnapshot: (metric: RankingMetric) =>
      newestSnapshotAt(deps, `leaderboard ${metric}`, newestSnapshotSql(metric)),
    /** Ranks after `afterRank` of a snapshot, one more than `rows` if more follow; empty for a snapshot that is no longer retained. */
    async ranks(metric: RankingMetric, takenAtMs: number, afterRank: number, rows: number) {
      const load = async (): Promise<readonly RankedWallet[]> => {
        const found = await tables.rows<LeaderboardRow>(leaderboardSql(metric, takenAtMs, afterRank, rows));
        return found.map((row) => ({
          rank: Number(row.rank),
          wallet: row.wallet,
          summary: summaryFrom(row),
        }));
      };
      const name = `leaderboard ${metric} ${takenAtMs} ${afterRank} ${rows}`;
      return (await cache.get(name, (found) => (found.length === 0 ? 0 : SNAPSHOT_CACHE_MS), load)).value;
    },
    /** The tag that alone selects what all of the tags select, cached for up to MAX_ORDER_AGE_MS; null if each leaves something out. */
    async coveringTag(tags: readonly string[]): Promise<string | null> {
      const [first, ...others] = tags;
      if (first === undefined || others.length === 0) return first ?? null;
      const load = async () => (await tables.rows<TagCountsRow>(tagCountsSql(tags)))[0];
      const row = (await cache.get(`tag counts ${JSON.stringify(tags)}`, MAX_ORDER_AGE_MS, load)).value;
      const widest = row?.counts.findIndex((count) => Number(count) === Number(row.total)) ?? -1;
      return tags[widest] ?? null;
    },
    /**
     * Wallets ranked by a metric over some tokens, at most MAX_RANK; cached for up to MAX_ORDER_AGE_MS. `tag`: set if the tokens were selected by this tag
     * alone. If its tokens are too many to list, the order is that of the tag's newest snapshot, if one exists.
     */
    async rankedWallets(
      tokens: TokenChoice,
      metric: RankingMetric,
      name: string,
      tag: string | null,
    ): Promise<readonly RankedValue[]> {
      const load = async () => {
        if (tokens.tokenIds?.length === 0) return [];
        if (tokens.among !== null && tag !== null) {
          const ranks = await tables.rows<TagRankRow>(tagLeaderboardSql(tag, metric));
          const newest = ranks[0]?.at;
          if (newest !== undefined)
            return ordered(
              ranks.flatMap((row) => (row.at === newest ? rankOf(row) : [])),
              byValue,
            );
        }
        return (await tables.rows<{ id: string; value: string }>(rankedByTokensSql(tokens, metric))).map(rankOf);
      };
      return (await cache.get(`leaderboard ${metric} ${name}`, MAX_ORDER_AGE_MS, load)).value;
    },
    /**
     * PnL of wallets over some tokens, in the order of `wallets`, and the time of the snapshot that the sums are from. `tag` and `board` as for `rankedWallets`: wallets that the tag's newest snapshot ranks have
     * their sums from it.
     */
    async summaries(
      wallets: readonly string[],
      tokens: TokenChoice,
      board: RankingMetric,
      tag: string | null,
    ): Promise<{ readonly summaries: readonly PositionsSummary[]; readonly takenAtMs: number | null }> {
      const fromSnapshot = tokens.among !== null && tag !== null && wallets.length > 0;
      const rows = fromSnapshot ? await tables.rows<TagSummaryRow>(tagSummariesSql(tag, board, wallets)) : [];
      const ranked = new Map(rows.map((row) => [row.wallet, summaryFrom(row)]));
      const current = await pnl.summaries(
        wallets.filter((wallet) => !ranked.has(wallet)),
        tokens,
      );
      return {
        summaries: wallets.map((wallet) => ranked.get(wallet) ?? current.get(wallet)?.markets ?? emptyPnlSummary),
        takenAtMs: rows[0] === undefined ? null : Number(rows[0].at),
      };
    },
    async totals(): Promise<VenueTotalsRow | null> {
      const [row] = await tables.rows<VenueTotalsRow>(venueTotalsSql());
      return row ?? null;
    },
  };
}
