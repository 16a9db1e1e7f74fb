import { divide, parseMoney } from '../../schemas/primitives/money.js';
import type { OutcomeMetadata } from './outcomes.js';
import type { PositionRow, PriceRow } from './positions.sql.js';
import type { HolderRow } from './top-holders.sql.js';

/** What a share is worth now. */
export interface Price {
  /** 1e-6 USD per share; null where nothing is known. */
  readonly usd: bigint | null;
  readonly source: PriceRow['source'];
  readonly updatedAtS: number | null;
}

export const unpriced: Price = { usd: null, source: 'none', updatedAtS: null };

export const priceFrom = (row: PriceRow): Price =>
  row.source === 'none' ? unpriced : { usd: BigInt(row.price), source: row.source, updatedAtS: Number(row.updated_at) };

/** A wallet's holding of a token with what it is worth. Amounts in base units, times Unix seconds. */
export interface Position {
  readonly wallet: string;
  readonly tokenId: string;
  /** Shares held. */
  readonly size: bigint;
  /** Of these, what came by transfer: without cost, and without profit. */
  readonly received: bigint;
  /** Cost per share bought, 18 decimals: of what is held; of a finished position, all that was paid over all that was bought. */
  readonly avgPrice: bigint;
  /** Of what is held, shares kept as fee included. */
  readonly cost: bigint;
  /** Before fees. */
  readonly realizedPnl: bigint;
  readonly totalBought: bigint;
  readonly boughtUsdc: bigint;
  readonly soldUsdc: bigint;
  readonly fees: bigint;
  readonly feeCost: bigint;
  readonly sentCost: bigint;
  readonly fills: number;
  readonly firstAtS: number;
  readonly lastAtS: number;
  readonly lastTradeAtS: number | null;
  readonly lastRedeemedAtS: number | null;
  readonly price: Price;
  /** What was bought of what is held, at the average. */
  readonly initialValue: bigint;
  /** All that is held, at the price. */
  readonly currentValue: bigint;
  /** What was bought of what is held, at the price, less `initialValue`; 0 without a price. */
  readonly unrealizedPnl: bigint;
  /** realizedPnl + unrealizedPnl: before fees. */
  readonly totalPnl: bigint;
}

const ONE_18 = 10n ** 18n;
const ONE_PRICE = 1_000_000n;
/** Base units of shares at a price in 1e-6 USD. */
export const valueAtPrice = (shares: bigint, price: bigint): bigint => divide(shares * price, ONE_PRICE, 'half_up');
const secondsOf = (at: number | string | null): number | null => (at === null ? null : Number(at));

/** What a position makes, in base units, and how that comes about. */
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

/** Realized and unrealized profit of a position at a price, before fees. */
export const totalPnlOf = (row: Parameters<typeof pnlOf>[0], price: Price): bigint => pnlOf(row, price).totalPnl;

/** What lists of a token's holders show of a position. */
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
>;

/** The holder of a row at a price. */
export function holderFrom(row: HolderRow, price: Price): Holder {
  const profit = pnlOf(row, price);
  return {
    ...profit,
    wallet: row.wallet,
    tokenId: row.token,
    totalBought: BigInt(row.total_bought),
    fills: Number(row.fills),
    firstAtS: Number(row.first_at),
    price,
    currentValue: price.usd === null ? 0n : valueAtPrice(profit.size, price.usd),
  };
}

/** The position of a row at a price. */
export function positionFrom(row: PositionRow, price: Price): Position {
  return {
    ...holderFrom(row, price),
    cost: BigInt(row.cost),
    boughtUsdc: BigInt(row.bought_usdc),
    soldUsdc: BigInt(row.sold_usdc),
    fees: BigInt(row.fees),
    feeCost: BigInt(row.fee_cost),
    sentCost: BigInt(row.sent_cost),
    lastAtS: Number(row.last_at),
    lastTradeAtS: secondsOf(row.last_trade_at),
    lastRedeemedAtS: secondsOf(row.last_redeemed_at),
  };
}

/** `<wallet>-<token>`; joined, as very many are held: a template would keep its pieces. */
export const positionId = (position: Pick<Position, 'wallet' | 'tokenId'>): string =>
  [position.wallet, position.tokenId].join('-');

/** A position, and what it is about. */
export interface PositionWithMetadata extends Position {
  readonly metadata: OutcomeMetadata;
}
