import { isComboSql } from '../../schemas/primitives/positions.sql.js';
import type { TokenChoice } from '../fills/tokens.sql.js';
import { SINGLE_CHUNK_MAX_ROWS, type Sql } from '../tables/port.js';
import { allOf, given, type Where, whereClause } from '../tables/where.js';

/** Amounts in base units, all wide numbers as text; times Unix seconds. The table's schema documents the columns. */
export interface PositionRow {
  readonly wallet: string;
  readonly token: string;
  /** Shares in the position, including those that arrived by transfer. */
  readonly size: string;
  readonly received: string;
  /** Decimal text, 18 decimals. */
  readonly avg_price: string;
  readonly realized_pnl: string;
  readonly total_bought: string;
  readonly bought_usdc: string;
  readonly fills: number | string;
  readonly unpriced: number | string;
  readonly first_at: number | string;
  readonly last_at: number | string;
  readonly last_trade_at: number | string | null;
  readonly last_redeemed_at: number | string | null;
}

/** Columns of a PositionRow, from the alias `p`: ClickHouse returns wide numbers as text. */
export const positionColumns = `p.wallet AS wallet, p.token_id AS token, p.size AS size, p.received AS received,
        p.avg_price AS avg_price, p.realized_pnl AS realized_pnl, p.total_bought AS total_bought, p.bought_usdc AS bought_usdc,
        p.fills AS fills, p.unpriced AS unpriced, toUnixTimestamp(p.first_at) AS first_at, toUnixTimestamp(p.last_at) AS last_at,
        toUnixTimestamp(p.last_trade_at) AS last_trade_at, toUnixTimestamp(p.last_redeemed_at) AS last_redeemed_at`;

const firstOrders = {
  open: 'p.size > 0 DESC, p.last_at DESC',
  newest: 'p.last_at DESC',
  oldest: 'p.last_at',
  // Closed positions, which have no size, by their cost.
  largest: 'p.size DESC, p.bought_usdc DESC',
  smallest: 'p.size, p.bought_usdc',
} as const;

/** Selects positions of a wallet by what their table has. */
export interface WalletSelection {
  /** null: any. */
  readonly tokens?: readonly string[] | null;
  readonly status?: PositionStatus;
  /** Base units; null: any size. */
  readonly minSize?: bigint | null;
  /** Which are read if there are too many; `open` (the default): those with shares, then those with the latest activity. */
  readonly first?: keyof typeof firstOrders;
}

/** Positions of a wallet, at most `rows`. */
export function walletPositionsSql(wallet: string, selection: WalletSelection, rows: number): Sql {
  const { tokens, status, minSize, first = 'open' } = selection;
  const where = allOf(
    { text: 'p.wallet = {wallet:String}', params: { wallet } },
    given(tokens, 'tokens', 'p.token_id IN (SELECT toUInt256(arrayJoin({tokens:Array(String)})))'),
    status && statusConditions[status],
    given(minSize, 'min_size', 'p.size >= {min_size:UInt64}'),
  );
  return {
    text: `SELECT ${positionColumns}
      FROM positions AS p FINAL
      ${whereClause(where)}
      ORDER BY ${firstOrders[first]}, p.token_id
      LIMIT {rows:UInt32}`,
    params: { ...where.params, rows },
  };
}

/** Combo positions of a wallet. */
export const walletCombosSql = (wallet: string, rows: number): Sql => ({
  text: `SELECT ${positionColumns}
      FROM positions AS p FINAL
      WHERE p.wallet = {wallet:String} AND ${isComboSql('p.token_id')}
      ORDER BY p.size > 0 DESC, p.last_at DESC, p.token_id
      LIMIT {rows:UInt32}`,
  params: { wallet, rows },
});

export interface PriceRow {
  readonly token: string;
  /** 1e-6 USD per share, as text. */
  readonly price: string;
  readonly source: 'settlement' | 'clob_mid' | 'last_fill' | 'v1_condition' | 'none';
  readonly updated_at: number | string;
}

const priceColumns = `toString(token_id) AS token, toString(toInt64(round(price * 1000000))) AS price, source, toUnixTimestamp(updated_at) AS updated_at`;

export const pricesSql = (tokenIds: readonly string[]): Sql => ({
  text: `SELECT ${priceColumns} FROM token_prices
      WHERE token_id IN (SELECT toUInt256(arrayJoin({tokens:Array(String)})))`,
  params: { tokens: tokenIds },
});

/** Sort keys of holder rankings. */
export type HolderSort =
  | 'total_pnl'
  | 'realized_pnl'
  | 'unrealized_pnl'
  | 'current_value'
  | 'initial_value'
  | 'size'
  | 'total_bought'
  | 'volume'
  | 'last_at';

/** Up to this many tokens are compared as numbers, one branch each; more are looked up by their text. */
const MAX_BRANCHED_TOKENS = 4;
const priceParameterAt = (index: number | string): string => `arrayElement({prices:Array(Int256)}, ${index})`;
/** Price in USD x 10^24 as an integer, so that no rounding precedes the comparison. The last token needs no comparison. */
function priceExpression(tokens: number): string {
  if (tokens === 0 || tokens > MAX_BRANCHED_TOKENS)
    return priceParameterAt('indexOf({tokens:Array(UInt256)}, p.token_id)');
  const branches = Array.from(
    { length: tokens - 1 },
    (_, n) => `p.token_id = arrayElement({tokens:Array(UInt256)}, ${n + 1}), ${priceParameterAt(n + 1)}`,
  );
  return tokens === 1 ? priceParameterAt(1) : `multiIf(${branches.join(', ')}, ${priceParameterAt(tokens)})`;
}
const PRICE_SCALE = 10n ** 12n;
/** Stands for a token without a price: its unrealized PnL and value are 0. */
export const NO_PRICE = -1n;
/** The query parameter with the prices of the ranking. */
export const pricesParam = (by: Pick<HolderOrder, 'prices'>): bigint[] => by.prices.map((price) => price * PRICE_SCALE);
/** A Decimal(38, 18) is a 128-bit number of 10^-18. */
const averagePrice = `toInt256(reinterpret(p.avg_price, 'Int128'))`;
const tracked = 'toInt256(p.size - p.received)';
const unrealized = (price: string) => `if(${price} < 0, toInt256(0), ${tracked} * (${price} - ${averagePrice}))`;
const sortExpressions: Readonly<Record<HolderSort, (price: string) => string>> = {
  total_pnl: (price) => `toInt256(p.realized_pnl) * 1000000000000000000 + ${unrealized(price)}`,
  realized_pnl: () => 'p.realized_pnl',
  unrealized_pnl: unrealized,
  current_value: (price) => `toInt256(p.size) * greatest(${price}, toInt256(0))`,
  initial_value: () => `${tracked} * ${averagePrice}`,
  size: () => 'p.size',
  total_bought: () => 'p.total_bought',
  volume: () => 'toUInt128(p.bought_usdc) + toUInt128(p.sold_usdc)',
  last_at: () => 'toUnixTimestamp(p.last_at)',
};

/** Whether the sort value depends on the price of the token. */
export const isPricedSort = (sort: HolderSort): boolean =>
  sort === 'total_pnl' || sort === 'unrealized_pnl' || sort === 'current_value';

/** Status by the shares in the position only, independent of the settlement of the token. */
export type PositionStatus = 'open' | 'closed' | 'unredeemed' | 'redeemed' | 'all';
const statusConditions: Readonly<Record<PositionStatus, string>> = {
  open: 'p.size > 0',
  closed: 'p.size = 0',
  unredeemed: 'p.size = 0 AND p.last_redeemed_at IS NULL',
  redeemed: 'p.size = 0 AND p.last_redeemed_at IS NOT NULL',
  all: 'true',
};

/** Selects the holders of tokens. */
export interface HolderFilter {
  readonly tokenIds: readonly string[];
  readonly status: PositionStatus;
  /** Base units; null: any size. */
  readonly minSize: bigint | null;
  /** null: all wallets. */
  readonly wallets: readonly string[] | null;
}

/** The order of a list of holders. */
export interface HolderOrder {
  readonly sort: HolderSort;
  readonly order: 'asc' | 'desc';
  /** Prices of the filter's tokens, 1e-6 USD. */
  readonly prices: readonly bigint[];
  readonly rows: number;
}

/** The sort value, an integer. `tokens`: number of tokens in the filter. */
export const sortExpression = (sort: HolderSort, tokens: number): string =>
  sortExpressions[sort](priceExpression(tokens));
export const sqlDirection = (order: 'asc' | 'desc'): 'ASC' | 'DESC' => (order === 'asc' ? 'ASC' : 'DESC');

/** The filter as conditions on the alias `p`. */
export const holderConditions = (filter: HolderFilter): Where =>
  allOf(
    given(filter.tokenIds.map(BigInt), 'tokens', 'p.token_id IN {tokens:Array(UInt256)}'),
    statusConditions[filter.status],
    given(filter.minSize, 'min_size', 'p.size >= {min_size:UInt64}'),
    given(filter.wallets, 'wallets', 'p.wallet IN {wallets:Array(String)}'),
  );

/** The holders of all tokens together in the given order, ties by wallet, then token. */
export function holderOrderSql(filter: HolderFilter, by: HolderOrder): Sql {
  const where = holderConditions(filter);
  const value = sortExpression(by.sort, filter.tokenIds.length);
  return {
    text: `SELECT p.wallet AS wallet, toString(p.token_id) AS token, toString(${value}) AS value
      FROM positions_by_token AS p FINAL
      ${whereClause(where)}
      ORDER BY ${value} ${sqlDirection(by.order)}, p.wallet, p.token_id
      LIMIT {rows:UInt32}`,
    params: { ...where.params, prices: pricesParam(by), rows: by.rows },
  };
}

/** Positions by wallet and token. The n-th wallet and the n-th token form a pair. */
export const positionsSql = (wallets: readonly string[], tokenIds: readonly string[]): Sql => ({
  text: `SELECT ${positionColumns}
      FROM positions_by_token AS p FINAL
      WHERE (p.token_id, p.wallet) IN (
        SELECT toUInt256(pair.1), pair.2 FROM (SELECT arrayJoin(arrayZip({tokens:Array(String)}, {wallets:Array(String)})) AS pair))`,
  params: { tokens: tokenIds, wallets },
  singleChunk: true,
});

/** Sort key of a position in the list of all positions. */
export interface PositionKey {
  readonly wallet: string;
  readonly tokenId: string;
}

/** A page of positions by id. `tokenIds` null: all tokens. */
export interface PositionPage {
  readonly tokens: TokenChoice | null;
  readonly status: PositionStatus;
  readonly minSize: bigint | null;
  readonly order: 'asc' | 'desc';
  /** Only positions after this one, in the order of the page. */
  readonly beyond: PositionKey | null;
  readonly rows: number;
}

/** Sizes of the windows in which a page is looked for, in rows of the page. */
export const WINDOWS = [2, 16, 256] as const;

/**
 * One page of positions by wallet, then token. `window`: only as far as the page lies among the next rows of the table, `window` per row of the page, which
 * are a key range; null: among all that follow. Listed tokens need no window.
 */
export function positionPageSql(page: PositionPage, window: number | null): Sql {
  const by = sqlDirection(page.order);
  const than = page.order === 'asc' ? '>' : '<';
  const after = page.beyond && {
    // ClickHouse derives a key range from the first condition, not from the tuple comparison.
    text: `p.wallet ${than}= {wallet:String} AND (p.wallet, p.token_id) ${than} ({wallet:String}, toUInt256({token:String}))`,
    params: { wallet: page.beyond.wallet, token: page.beyond.tokenId },
  };
  const ends =
    window === null
      ? ''
      : `WITH (
        SELECT (min(place), max(place)) FROM (
          SELECT (p.wallet, p.token_id) AS place FROM positions AS p ${whereClause(allOf(after))}
          ORDER BY p.wallet ${by}, p.token_id ${by} LIMIT {window:UInt32})
      ) AS ends
      `;
  // The versions of a position share its key: none is outside of the range.
  const range = allOf(
    after,
    window !== null && {
      text: 'p.wallet >= tupleElement(ends.1, 1) AND p.wallet <= tupleElement(ends.2, 1) AND (p.wallet, p.token_id) >= ends.1 AND (p.wallet, p.token_id) <= ends.2',
      params: { window: window * page.rows },
    },
  );
  const tokenIds = page.tokens?.tokenIds ?? null;
  const among = tokenIds === null ? page.tokens?.among : null;
  const within = window === null ? undefined : `SELECT p.token_id FROM positions AS p ${whereClause(range)}`;
  const where = allOf(
    range,
    given(tokenIds, 'tokens', 'p.token_id IN (SELECT toUInt256(arrayJoin({tokens:Array(String)})))'),
    among && { text: `p.token_id IN (${among.text(within)})`, params: among.params },
    statusConditions[page.status],
    given(page.minSize, 'min_size', 'p.size >= {min_size:UInt64}'),
  );
  return {
    text: `${ends}SELECT ${positionColumns}
      FROM ${tokenIds === null ? 'positions' : 'positions_by_token'} AS p FINAL
      ${whereClause(where)}
      ORDER BY p.wallet ${by}, p.token_id ${by}
      LIMIT {rows:UInt32}`,
    params: { ...where.params, rows: page.rows },
    singleChunk: page.rows <= SINGLE_CHUNK_MAX_ROWS,
  };
}
