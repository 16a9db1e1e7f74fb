import type { Tables } from '../tables/port.js';
import { tokenVolumeSql, type VolumeRow } from './volumes.sql.js';

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
