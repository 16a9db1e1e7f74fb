import { parseMoney } from '../../schemas/primitives/money.js';
import type { ResponseCache } from '../cache/response-cache.js';
import type { Tables } from '../tables/port.js';
import {
  type LargestPositionRow,
  type LargestPositionStatus,
  type LargestPositionsQuery,
  largestPositionsSql,
  largestSnapshotExistsSql,
  newestLargestSnapshotSql,
} from './largest-positions.sql.js';
import { newestSnapshotAt, SNAPSHOT_CACHE_MS } from './newest-snapshot.js';

/** A position of a snapshot. Amounts in base units. */
export interface LargestPosition {
  readonly rank: number;
  readonly status: LargestPositionStatus;
  readonly wallet: string;
  readonly tokenId: string;
  readonly size: bigint;
  /** Cost per share bought, 18 decimals. */
  readonly avgPrice: bigint;
  readonly boughtUsdc: bigint;
  /** Before fees. */
  readonly realizedPnl: bigint;
}

export type LargestPositionsReader = ReturnType<typeof createLargestPositionsReader>;

/** Reads the largest positions of all wallets from snapshots that the processors take periodically. */
export function createLargestPositionsReader({ tables, cache }: { tables: Tables; cache: ResponseCache }) {
  /** True while the snapshot is retained. */
  const exists = async (takenAtMs: number) => (await tables.rows(largestSnapshotExistsSql(takenAtMs))).length > 0;
  return {
    exists,
    newestSnapshot: () => newestSnapshotAt({ tables, cache }, 'largest positions', newestLargestSnapshotSql()),
    /** A page of a snapshot, with one row more if another page follows; null if the snapshot is no longer retained. */
    async page(page: LargestPositionsQuery): Promise<readonly LargestPosition[] | null> {
      const load = () => tables.rows<LargestPositionRow>(largestPositionsSql(page));
      const lifeMs = (found: readonly unknown[]) => (found.length === 0 ? 0 : SNAPSHOT_CACHE_MS);
      const { value: rows } = await cache.get(`largest positions ${Object.values(page)}`, lifeMs, load);
      if (rows.length === 0 && !(await exists(page.takenAtMs))) return null;
      return rows.map((row) => ({
        rank: Number(row.rank),
        status: row.status,
        wallet: row.wallet,
        tokenId: row.token,
        size: BigInt(row.size),
        avgPrice: parseMoney(row.avg_price, 18),
        boughtUsdc: BigInt(row.bought_usdc),
        realizedPnl: BigInt(row.realized_pnl),
      }));
    },
  };
}
