import { divide, parseMoney } from '../../schemas/primitives/money.js';
import { type Completeness, completenessOf } from './completeness.js';
import type { OutcomeMetadata } from './outcomes.js';
import type { PositionRow, PriceRow } from './positions.sql.js';
import type { HolderRow } from './top-holders.sql.js';

/** Current price of a share. */
export interface Price {
  /** 1e-6 USD per share; null if no source has a price. */
  readonly usd: bigint | null;
  readonly source: PriceRow['source'];
  readonly updatedAtS: number | null;
}

export const unpriced: Price = { usd: null, source: 'none', updatedAtS: null };

export const priceFrom = (row: PriceRow): Price =>
  row.source === 'none' ? unpriced : { usd: BigInt(row.price), source: row.source, updatedAtS: Number(row.updated_at) };

/** A wallet's position in a token with its current value. Amounts in base units, times Unix seconds. */
export interface Position extends Completeness {
  readonly wallet: string;
  readonly tokenId: string;
  /** Shares in the position. */
  readonly size: bigint;
  /** Shares of `size` that arrived by transfer: without cost, and without PnL. */
  readonly received: bigint;
  /** Cost per share bought, 18 decimals: of the shares in the position; for a closed position, total paid over total bought. */
  readonly avgPrice: bigint;
  /** Before fees. */
  readonly realizedPnl: bigint;
  readonly totalBought: bigint;
  readonly boughtUsdc: bigint;
  readonly fills: number;
  readonly firstAtS: number;
  readonly lastAtS: number;
  readonly lastTradeAtS: number | null;
  readonly lastRedeemedAtS: number | null;
  readonly price: Price;
  /** Bought shares in the position at the average price. */
  readonly initialValue: bigint;
  /** All shares in the position at the current price. */
  readonly currentValue: bigint;
  /** Bought shares in the position at the current price, less `initialValue`; 0 without a price. */
  readonly unrealizedPnl: bigint;
  /** realizedPnl + unrealizedPnl: before fees. */
  readonly totalPnl: bigint;
}

const ONE_18 = 10n ** 18n;
const ONE_PRICE = 1_000_000n;
/** Value in base units of USD of shares (base units) at a price in 1e-6 USD. */
export const valueAtPrice = (shares: bigint, price: bigint): bigint => divide(shares * price, ONE_PRICE, 'half_up');
const secondsOf = (at: number | string | null): number | null => (at === null ? null : Number(at));

/** PnL of a position, in base units, with its components. */
function pnlOf(
  row: Pick<PositionRow, 'size' | 'received' | 'avg_price' | 'realized_pnl'>,
  price: Price,
): Pick<Position, 'size' | 'received' | 'avgPrice' | 'realizedPnl' | 'initialValue' | 'unrealizedPnl' | 'totalPnl'> {
  const size = BigInt(row.size);
  const received = BigInt(row.received);
  const tracked = size - received;
  const avgPrice = parseMoney(row.avg_price, 18);
  const realizedPnl = BigInt(row.realized_pnl);
  const initialValue = divide(tracked * avgPrice, ONE_18, 'half_up');
  const unrealizedPnl = price.usd === null ? 0n : valueAtPrice(tracked, price.usd) - initialValue;
  return { size, received, avgPrice, realizedPnl, initialValue, unrealizedPnl, totalPnl: realizedPnl + unrealizedPnl };
}

/** Realized plus unrealized PnL of a position at a price, before fees. */
export const totalPnlOf = (row: Parameters<typeof pnlOf>[0], price: Price): bigint => pnlOf(row, price).totalPnl;

/** Fields of a position in lists of a token's holders. */
export type Holder = Pick<
  Position,
  | keyof ReturnType<typeof pnlOf>
  | 'wallet'
  | 'tokenId'
  | 'totalBought'
  | 'fills'
  | 'firstAtS'
  | 'price'
  | 'currentValue'
  | keyof Completeness
>;

/** Converts a row to a holder at a price. */
export function holderFrom(row: HolderRow, price: Price): Holder {
  const pnl = pnlOf(row, price);
  return {
    ...pnl,
    ...completenessOf(row),
    wallet: row.wallet,
    tokenId: row.token,
    totalBought: BigInt(row.total_bought),
    fills: Number(row.fills),
    firstAtS: Number(row.first_at),
    price,
    currentValue: price.usd === null ? 0n : valueAtPrice(pnl.size, price.usd),
  };
}

/** Converts a row to a position at a price. */
export function positionFrom(row: PositionRow, price: Price): Position {
  return {
    ...holderFrom(row, price),
    boughtUsdc: BigInt(row.bought_usdc),
    lastAtS: Number(row.last_at),
    lastTradeAtS: secondsOf(row.last_trade_at),
    lastRedeemedAtS: secondsOf(row.last_redeemed_at),
  };
}

/** `<wallet>-<token>`. Uses join because the cache keeps very many ids: V8 keeps the parts of a template string alive. */
export const positionId = (position: Pick<Position, 'wallet' | 'tokenId'>): string =>
  [position.wallet, position.tokenId].join('-');

/** A position with the metadata of its outcome. */
export interface PositionWithMetadata extends Position {
  readonly metadata: OutcomeMetadata;
  /** The last redemption of the condition by the wallet, among the positions that were read with this one. */
  readonly closedAtS?: number | undefined;
}
