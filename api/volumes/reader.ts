import type { ResponseCache } from '../cache/response-cache.js';
import type { Tables } from '../tables/port.js';
import { type BuilderRow, type BuilderSort, buildersSql, tokenVolumeSql, type VolumeRow } from './volumes.sql.js';

const BUILDERS_MS = 30_000;

/** All builders, largest first, ties by code. */
export async function readBuilders(
  { tables, cache }: { tables: Tables; cache: ResponseCache },
  sort: BuilderSort,
): Promise<readonly BuilderRow[]> {
  const load = () => tables.rows<BuilderRow>(buildersSql(sort));
  return (await cache.get(`builders ${sort}`, BUILDERS_MS, load)).value;
}

/** Lifetime sums of a token; each match once. Amounts are base units. */
export interface TokenVolume {
  readonly trades: number;
  readonly buys: number;
  readonly sells: number;
  readonly usdc: bigint;
  readonly buyUsdc: bigint;
  readonly sellUsdc: bigint;
  readonly shares: bigint;
}

/** Sums over exchange generations from `minVersion` on; zeros without trades. */
export async function readTokenVolume(tables: Tables, tokenId: string, minVersion: number): Promise<TokenVolume> {
  const [row] = await tables.rows<VolumeRow>(tokenVolumeSql(tokenId, minVersion));
  const trades = Number(row?.trades ?? 0);
  const buys = Number(row?.buys ?? 0);
  const usdc = BigInt(row?.usdc ?? 0);
  const buyUsdc = BigInt(row?.buy_usdc ?? 0);
  return {
    trades,
    buys,
    sells: trades - buys,
    usdc,
    buyUsdc,
    sellUsdc: usdc - buyUsdc,
    shares: BigInt(row?.shares ?? 0),
  };
}
