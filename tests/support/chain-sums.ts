import { openLog } from '../../infra/log/open-log.js';
import { silentLogger } from '../../infra/telemetry/logger.js';
import { createCodec } from '../../schemas/codec.js';
import { topics } from '../../schemas/topics.js';
import type { Trade } from '../../schemas/types.gen.js';

export interface Candle {
  readonly open: bigint;
  readonly high: bigint;
  readonly low: bigint;
  readonly close: bigint;
  readonly matches: number;
  readonly usdc: bigint;
  readonly shares: bigint;
}

/** Sums over the final records of a log in base units, computed record by record without tables. */
export interface ChainSums {
  readonly days: ReadonlyMap<
    string,
    {
      readonly matches: number;
      readonly usdc: bigint;
      readonly parties: number;
      readonly partyUsdc: bigint;
      readonly fee: bigint;
    }
  >;
  /** By `wallet side taker|maker`. */
  readonly parties: ReadonlyMap<
    string,
    { readonly fills: number; readonly usdc: bigint; readonly shares: bigint; readonly fee: bigint }
  >;
  /** Payouts and merged sets by wallet. */
  readonly redeemed: ReadonlyMap<string, { readonly count: number; readonly usdc: bigint }>;
  readonly merged: ReadonlyMap<string, { readonly count: number; readonly usdc: bigint }>;
  /** Candles of matches by `<token> <bucket start in Unix seconds>`. */
  candles(seconds: number): ReadonlyMap<string, Candle>;
}

/** Price in 1e-6 USD per share, rounded half up. */
const priceOf = ({ usdc, shares }: { usdc: bigint; shares: bigint }): bigint =>
  (usdc * 2_000_000n + shares) / (2n * shares);

const dayOf = (ms: number): string => new Date(ms).toISOString().slice(0, 10);

export async function chainSums(dataDir: string): Promise<ChainSums> {
  const log = await openLog(`lmdb:${dataDir}/log`, { logger: silentLogger(), maintenance: false });
  const codec = createCodec();
  const days = new Map<string, { matches: number; usdc: bigint; parties: number; partyUsdc: bigint; fee: bigint }>();
  const parties = new Map<string, { fills: number; usdc: bigint; shares: bigint; fee: bigint }>();
  const redeemed = new Map<string, { count: number; usdc: bigint }>();
  const merged = new Map<string, { count: number; usdc: bigint }>();
  const matches: Trade[] = [];
  const count = (sums: typeof redeemed, wallet: string, usdc: bigint) => {
    const sum = sums.get(wallet) ?? { count: 0, usdc: 0n };
    sums.set(wallet, { count: sum.count + 1, usdc: sum.usdc + usdc });
  };
  const take = (trade: Trade) => {
    const day = days.get(dayOf(trade.timestamp_ms)) ?? { matches: 0, usdc: 0n, parties: 0, partyUsdc: 0n, fee: 0n };
    const key = `${trade.maker} ${trade.side} ${trade.is_taker_order ? 'taker' : 'maker'}`;
    const party = parties.get(key) ?? { fills: 0, usdc: 0n, shares: 0n, fee: 0n };
    day.parties++;
    day.partyUsdc += trade.usdc;
    day.fee += trade.fee;
    party.fills++;
    party.usdc += trade.usdc;
    party.shares += trade.shares;
    party.fee += trade.fee;
    if (!trade.is_taker_order) {
      day.matches++;
      day.usdc += trade.usdc;
      matches.push(trade);
    }
    days.set(dayOf(trade.timestamp_ms), day);
    parties.set(key, party);
  };
  const read = { topic: topics.chainFinal.name, partition: 0, from: 'earliest', follow: false } as const;
  for await (const batch of log.read(read))
    for (const { value } of batch.records) {
      if (value === null) continue;
      const event = codec.decode(value);
      if (event.kind === 'trade') take(event.value);
      else if (event.kind === 'redemption') count(redeemed, event.value.redeemer, event.value.payout);
      else if (event.kind === 'position_merge') count(merged, event.value.stakeholder, event.value.amount);
    }
  await log.close();
  const inOrder = matches.sort((a, b) => a.block_number - b.block_number || a.log_index - b.log_index);
  const candles = (seconds: number): ReadonlyMap<string, Candle> => {
    const found = new Map<string, Candle>();
    for (const trade of inOrder) {
      const start = Math.floor(trade.timestamp_ms / 1000 / seconds) * seconds;
      const key = `${trade.token_id} ${start}`;
      const price = priceOf(trade);
      const before = found.get(key);
      found.set(key, {
        open: before?.open ?? price,
        high: before !== undefined && before.high > price ? before.high : price,
        low: before !== undefined && before.low < price ? before.low : price,
        close: price,
        matches: (before?.matches ?? 0) + 1,
        usdc: (before?.usdc ?? 0n) + trade.usdc,
        shares: (before?.shares ?? 0n) + trade.shares,
      });
    }
    return found;
  };
  return { days, parties, redeemed, merged, candles };
}
