import type { TtlCache } from '../cache/ttl-cache.js';
import type { LargestPositionsReader } from '../leaderboards/largest-positions.js';
import { MAX_LARGEST } from '../leaderboards/largest-positions.sql.js';
import type { Sql, Tables } from '../tables/port.js';
import { type Position, positionId } from './position.js';
import type { PositionReader } from './reader.js';

/** Fills whose positions count as the ones traded last. */
export const MAX_NEWEST_FILLS = 10_000;
/** Positions read at once. */
const READ_BATCH = 1_000;
/** Oldest order a walk begins with. */
const MAX_ORDER_AGE_MS = 30_000;

/** Orders there are of the positions of everybody: by their last fill, by their size. */
export type AllWalletsSort = 'recent' | 'size';

/** Whose orders the newest fills are of, and in what, the newest first; the accounting may be a little behind the fills. */
const recentlyTradedPositionsSql = (): Sql => ({
  text: `WITH newest AS (
        SELECT f.maker AS wallet, f.token_id AS token_id, f.block_number AS block_number, f.log_index AS log_index
        FROM fills AS f
        ORDER BY f.block_number DESC, f.log_index DESC
        LIMIT {fills:UInt32}
      )
      SELECT wallet, toString(n.token_id) AS token
      FROM newest AS n
      WHERE (n.token_id, n.wallet) IN (
        SELECT token_id, wallet FROM positions_by_token WHERE (token_id, wallet) IN (SELECT token_id, wallet FROM newest))
      GROUP BY wallet, n.token_id
      ORDER BY max((n.block_number, n.log_index)) DESC, wallet, n.token_id
      SETTINGS max_execution_time = 10`,
  params: { fills: MAX_NEWEST_FILLS },
});

/** Ids of positions of everybody, `wanted` ones only; null: all. Orders are up to half a minute old. `name` tells the choices apart. */
export function createAllWalletPositions(deps: {
  tables: Tables;
  cache: TtlCache;
  positions: Pick<PositionReader, 'byId'>;
  largest: LargestPositionsReader;
}) {
  const { tables, cache, positions, largest } = deps;
  const load = async (sort: AllWalletsSort): Promise<readonly string[]> => {
    if (sort === 'recent') {
      const rows = await tables.rows<{ wallet: string; token: string }>(recentlyTradedPositionsSql());
      return rows.map(({ wallet, token }) => positionId({ wallet, tokenId: token }));
    }
    const takenAtMs = await largest.newestSnapshot();
    if (takenAtMs === null) return [];
    const all = {
      status: null,
      minSize: null,
      afterRank: null,
      order: 'desc',
      offset: 0,
      limit: MAX_LARGEST,
    } as const;
    return ((await largest.page({ takenAtMs, ...all })) ?? []).map(positionId);
  };
  return async (
    sort: AllWalletsSort,
    name: string,
    predicate: ((position: Position) => boolean) | null,
  ): Promise<readonly string[]> => {
    const { value: ids } = await cache.get(`everybody ${sort}`, MAX_ORDER_AGE_MS, () => load(sort));
    if (predicate === null) return ids;
    const chosen = await cache.get(`everybody ${sort} ${name}`, MAX_ORDER_AGE_MS, async () => {
      const found: string[] = [];
      for (let at = 0; at < ids.length; at += READ_BATCH) {
        const chunk = await positions.byId(ids.slice(at, at + READ_BATCH));
        found.push(...chunk.filter(predicate).map(positionId));
      }
      return found;
    });
    return chosen.value;
  };
}
