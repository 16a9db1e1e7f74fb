import type { AnyEvent } from '../../schemas/codec.js';
import type { Trade } from '../../schemas/types.gen.js';

/** A fill of a wallet's own order. USDC in base units. */
export interface OwnFill {
  readonly wallet: string;
  readonly token: string;
  readonly usdc: bigint;
  readonly timeS: number;
}

/**
 * Own fills of every wallet, from the chain logs, one transaction after the other. A maker's log has the amount that the maker paid. A taker's log has the
 * amount that its order offered: a buyer paid the amount that the makers received (for a maker of the other outcome the complement to one dollar). If
 * the taker named in a maker's log has no log of its own, that fill is also the taker's. `isContract`: addresses that are not wallets.
 */
export function ownFillsOf(
  events: readonly AnyEvent[],
  isContract: (address: string) => boolean = () => false,
): readonly OwnFill[] {
  const transactions = new Map<string, Trade[]>();
  for (const event of events) {
    if (event.kind !== 'trade') continue;
    const trades = transactions.get(event.value.tx_hash) ?? [];
    trades.push(event.value);
    transactions.set(event.value.tx_hash, trades);
  }
  const fills: OwnFill[] = [];
  for (const trades of transactions.values()) {
    let makers: Trade[] = [];
    for (const trade of trades) {
      const timeS = trade.timestamp_ms / 1000;
      if (!trade.is_taker_order) {
        makers.push(trade);
        fills.push({ wallet: trade.maker, token: trade.token_id, usdc: trade.usdc, timeS });
        continue;
      }
      const own = makers.filter((maker) => maker.taker === trade.maker && maker.exchange === trade.exchange);
      const paid = own.reduce(
        (sum, maker) => sum + (maker.token_id === trade.token_id ? maker.usdc : maker.shares - maker.usdc),
        0n,
      );
      const usdc = trade.side === 'BUY' && own.length > 0 && paid < trade.usdc ? paid : trade.usdc;
      fills.push({ wallet: trade.maker, token: trade.token_id, usdc, timeS });
      makers = makers.filter((maker) => !own.includes(maker));
    }
    for (const alone of makers)
      fills.push({
        wallet: alone.taker,
        token: alone.token_id,
        usdc: alone.usdc,
        timeS: alone.timestamp_ms / 1000,
      });
  }
  return fills.filter((fill) => !isContract(fill.wallet));
}

export interface NaiveQuery {
  readonly tags: readonly string[];
  readonly minVolume?: bigint;
  readonly after?: number;
  readonly before?: number;
  readonly sort?: 'volume' | 'fills' | 'markets';
  readonly limit?: number;
  readonly offset?: number;
}

export interface NaiveRow {
  readonly wallet: string;
  readonly fills: bigint;
  readonly volume: bigint;
  readonly markets: number;
}

/** The page, by going through all fills. `marketOf`: condition and tags of a token; undefined for a token that no catalogue lists. */
export function naiveOverlap(
  fills: readonly OwnFill[],
  marketOf: (token: string) => { readonly condition: string; readonly tags: ReadonlySet<string> } | undefined,
  query: NaiveQuery,
): readonly NaiveRow[] {
  const sums = new Map<string, { fills: bigint; volume: bigint; markets: Set<string>; tags: Set<string> }>();
  for (const fill of fills) {
    if (fill.timeS < (query.after ?? 0) || fill.timeS >= (query.before ?? Number.POSITIVE_INFINITY)) continue;
    const market = marketOf(fill.token);
    for (const tag of query.tags) {
      if (market === undefined || !market.tags.has(tag)) continue;
      const sum = sums.get(fill.wallet) ?? { fills: 0n, volume: 0n, markets: new Set(), tags: new Set() };
      sum.fills += 1n;
      sum.volume += fill.usdc;
      sum.markets.add(market.condition);
      sum.tags.add(tag);
      sums.set(fill.wallet, sum);
    }
  }
  const rows = [...sums]
    .filter(([, sum]) => sum.tags.size === query.tags.length && sum.volume >= (query.minVolume ?? 0n))
    .map(([wallet, sum]) => ({ wallet, fills: sum.fills, volume: sum.volume, markets: sum.markets.size }));
  const value = (row: NaiveRow) => Number(row[query.sort ?? 'volume']);
  rows.sort((a, b) => value(b) - value(a) || (a.wallet < b.wallet ? -1 : 1));
  const offset = query.offset ?? 0;
  return rows.slice(offset, offset + (query.limit ?? 50));
}
