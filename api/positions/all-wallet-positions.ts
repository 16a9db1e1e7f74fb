import type { ResponseCache } from '../cache/response-cache.js';
import { allFills } from '../fills/filter.js';
import type { LogPosition } from '../fills/log-position.js';
import type { FillReader } from '../fills/reader.js';
import type { LargestPositionsReader } from '../leaderboards/largest-positions.js';
import type { Tables } from '../tables/port.js';
import {
  type AllWalletsFilter,
  type AllWalletsSnapshot,
  type AllWalletsSort,
  allWalletPositionsSql,
  maxCandidates,
} from './all-wallet-positions.sql.js';
import { positionId } from './position.js';

/** Number of candidates for a first page: most filters keep enough of them. */
const PREFIX_CANDIDATES = 1_000;
/** Maximum age of an order. */
const MAX_ORDER_AGE_MS = 30_000;

/** Position ids in the order of a snapshot. */
interface AllWalletsOrder {
  readonly ids: readonly string[];
  /** null: there is none yet. */
  readonly snapshot: AllWalletsSnapshot | null;
}

/** Creates the reader of the positions of all wallets. */
export function createAllWalletPositions(deps: {
  tables: Tables;
  cache: ResponseCache;
  fills: Pick<FillReader, 'newest'>;
  largest: Pick<LargestPositionsReader, 'newestSnapshot'>;
}) {
  const { tables, cache, fills, largest } = deps;
  const newest = async (sort: AllWalletsSort): Promise<AllWalletsSnapshot | null> => {
    if (sort === 'size') {
      const takenAtMs = await largest.newestSnapshot();
      return takenAtMs === null ? null : { takenAtMs };
    }
    const atMost: LogPosition | null = await fills.newest(allFills);
    return atMost === null ? null : { atMost };
  };
  /**
   * Position ids of all wallets, filtered in the tables: at least `rows`, or all of the newest fills up to a fill, or of the largest positions of a periodic
   * snapshot. `given` null: the newest; the order is then up to half a minute old.
   */
  return async (sort: AllWalletsSort, filter: AllWalletsFilter, given: AllWalletsSnapshot | null, rows: number) => {
    const read = async (candidates: number) => {
      const name = `all wallets ${sort} ${filter.status} ${filter.minSize} ${candidates} ${JSON.stringify(given)}`;
      const { value } = await cache.get(name, MAX_ORDER_AGE_MS, async (): Promise<AllWalletsOrder> => {
        const snapshot = given ?? (await newest(sort));
        if (snapshot === null) return { ids: [], snapshot };
        const sql = allWalletPositionsSql(filter, snapshot, candidates);
        const found = await tables.rows<{ wallet: string; token: string }>(sql);
        return { ids: found.map(({ wallet, token }) => positionId({ wallet, tokenId: token })), snapshot };
      });
      return value;
    };
    const prefix = await read(PREFIX_CANDIDATES);
    return prefix.ids.length >= rows ? prefix : read(maxCandidates[sort]);
  };
}
