import type { TtlCache } from '../cache/ttl-cache.js';
import type { IdPrefix } from '../catalog/rankings.js';
import type { LargestPositionsReader } from '../leaderboards/largest-positions.js';
import type { Tables } from '../tables/port.js';
import {
  type AllWalletsFilter,
  type AllWalletsSort,
  allWalletPositionsSql,
  maxCandidates,
} from './all-wallet-positions.sql.js';
import { positionId } from './position.js';

/** Number of candidates for the first page of an order: most filters keep enough of them. */
const PREFIX_CANDIDATES = 1_000;
/** Maximum age of an order on the first page of a pagination session. */
const MAX_ORDER_AGE_MS = 30_000;

export interface AllWalletPositions {
  /** Prefix of an order: at least `rows` ids, or all. */
  prefix(sort: AllWalletsSort, filter: AllWalletsFilter, rows: number): Promise<IdPrefix>;
  /** The whole order: the positions of the newest fills, or the largest positions, that pass the filter. */
  all(sort: AllWalletsSort, filter: AllWalletsFilter): Promise<readonly string[]>;
}

/** Position ids of all wallets in an order, filtered in the tables. Orders are up to half a minute old. */
export function createAllWalletPositions(deps: {
  tables: Tables;
  cache: TtlCache;
  largest: LargestPositionsReader;
}): AllWalletPositions {
  const { tables, cache, largest } = deps;
  const read = async (sort: AllWalletsSort, filter: AllWalletsFilter, candidates: number) => {
    const name = `all wallets ${sort} ${filter.status} ${filter.minSize} ${candidates}`;
    const { value } = await cache.get(name, MAX_ORDER_AGE_MS, async () => {
      const takenAtMs = sort === 'size' ? await largest.newestSnapshot() : 0;
      if (takenAtMs === null) return [];
      const sql = allWalletPositionsSql(sort, filter, { candidates, takenAtMs });
      const found = await tables.rows<{ wallet: string; token: string }>(sql);
      return found.map(({ wallet, token }) => positionId({ wallet, tokenId: token }));
    });
    return value;
  };
  const all = (sort: AllWalletsSort, filter: AllWalletsFilter) => read(sort, filter, maxCandidates[sort]);
  return {
    all,
    async prefix(sort, filter, rows) {
      const ids = await read(sort, filter, PREFIX_CANDIDATES);
      return ids.length >= rows ? { ids, isComplete: false } : { ids: await all(sort, filter), isComplete: true };
    },
  };
}
