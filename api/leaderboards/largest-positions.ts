import { parseMoney } from '../../schemas/primitives/money.js';
import type { Tables } from '../tables/port.js';
import {
  type LargestPositionRow,
  type LargestPositionStatus,
  type LargestPositionsQuery,
  largestPositionsSql,
  largestSnapshotExistsSql,
  newestLargestSnapshotSql,
} from './largest-positions.sql.js';

/** A position as a picture has it. Amounts in base units. */
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

export interface LargestPositionsReader {
  /** When the newest picture was taken; null before the first. */
  newestSnapshot(): Promise<number | null>;
  /** A page of a picture and one more where there is more; null where the picture is no longer kept. */
  page(page: LargestPositionsQuery): Promise<readonly LargestPosition[] | null>;
}

/** The largest positions of all wallets, from pictures taken in the background. */
export function createLargestPositionsReader(deps: { tables: Tables }): LargestPositionsReader {
  const { tables } = deps;
  return {
    async newestSnapshot() {
      const [row] = await tables.rows<{ at: number | string }>(newestLargestSnapshotSql());
      return row === undefined ? null : Number(row.at);
    },
    async page(page) {
      const rows = await tables.rows<LargestPositionRow>(largestPositionsSql(page));
      if (rows.length === 0 && (await tables.rows(largestSnapshotExistsSql(page.takenAtMs))).length === 0) return null;
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
