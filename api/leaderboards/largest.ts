import { parseMoney } from '../../schemas/primitives/money.js';
import type { Tables } from '../tables/port.js';
import {
  type LargestPage,
  type LargestRow,
  type LargestStatus,
  largestKeptSql,
  largestSql,
  newestLargestSql,
} from './largest.sql.js';

/** A position as a picture has it. Amounts in base units. */
export interface LargePosition {
  readonly rank: number;
  readonly status: LargestStatus;
  readonly wallet: string;
  readonly tokenId: string;
  readonly size: bigint;
  /** Cost per share bought, 18 decimals. */
  readonly avgPrice: bigint;
  readonly boughtUsdc: bigint;
  /** Before fees. */
  readonly realizedPnl: bigint;
}

export interface LargestReader {
  /** When the newest picture was taken; null before the first. */
  newestPicture(): Promise<number | null>;
  /** A page of a picture and one more where there is more; null where the picture is no longer kept. */
  page(page: LargestPage): Promise<readonly LargePosition[] | null>;
}

/** The largest positions of all wallets, from pictures taken in the background. */
export function createLargestReader(deps: { tables: Tables }): LargestReader {
  const { tables } = deps;
  return {
    async newestPicture() {
      const [row] = await tables.rows<{ at: number | string }>(newestLargestSql());
      return row === undefined ? null : Number(row.at);
    },
    async page(page) {
      const rows = await tables.rows<LargestRow>(largestSql(page));
      if (rows.length === 0 && (await tables.rows(largestKeptSql(page.takenAtMs))).length === 0) return null;
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
