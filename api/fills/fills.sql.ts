import { bytesOfHex, hexText } from '../../infra/clickhouse/hex.js';
import { SINGLE_CHUNK_MAX_ROWS, type Sql } from '../tables/port.js';
import type { SqlBool } from '../tables/values.js';
import { allOf, beyondPosition, given, type Where, whereClause, withinTimes } from '../tables/where.js';
import type { FillFilter, Page } from './filter.js';

export interface FillRow {
  readonly block_number: number | string;
  readonly log_index: number | string;
  readonly timestamp: number | string;
  readonly tx_hash: string;
  readonly exchange_version: number;
  /** The fill was on an exchange of neg-risk markets. */
  readonly neg_risk: SqlBool;
  readonly order_hash: string;
  readonly maker: string;
  readonly taker: string;
  /** Role of the filtered wallet in this fill; `maker` without a wallet filter. */
  readonly role: 'maker' | 'taker';
  /** Side of the signed order. */
  readonly side: 'BUY' | 'SELL';
  readonly token_id: string;
  /** Base units, as text. */
  readonly usdc: string;
  readonly shares: string;
  readonly fee: string;
  /** Fee charged in shares (V1 exchange), otherwise 0. */
  readonly fee_shares: string;
  readonly builder: string;
}

/** Sums of a group of fills; the other columns are those of the group's newest fill. */
export interface FillGroupRow extends FillRow {
  readonly fill_count: number | string;
  readonly first_fill_at: number | string;
  readonly tx_hashes: readonly string[];
  /** True if the newest fill is the taker's own row. */
  readonly is_taker_order: boolean | number;
}

/** Columns with as few conversion functions as possible (64-bit and wider integers are sent as text anyway): a function costs as much as a column. */
const columns = `f.block_number AS block_number, f.log_index AS log_index, toUnixTimestamp(f.timestamp) AS timestamp,
        ${hexText('f.tx_hash')} AS tx_hash, f.exchange_version AS exchange_version, f.neg_risk AS neg_risk, ${hexText('f.order_hash')} AS order_hash, f.maker AS maker, f.taker AS taker,
        f.side AS side, f.token_id AS token_id, f.usdc AS usdc, f.shares AS shares,
        f.fee AS fee, f.fee_shares AS fee_shares, f.builder AS builder`;

/**
 * The old analyzer needs a sixth less time in total for the most frequent statement. It would resolve a name to an alias of the same name instead of the
 * column without `prefer_column_name_to_alias`.
 */
export const oldAnalyzer = 'SETTINGS enable_analyzer = 0, prefer_column_name_to_alias = 1';

type FillsTable = 'fills' | 'fills_by_wallet' | 'fills_by_token' | 'fills_by_builder';

/** For up to this number of tokens the statement reads each token in the table's order and merges them, one page of rows per token. */
const MAX_MERGED_TOKENS = 8;

/** The table whose sort key fits the filter best. */
export function tableFor(filter: FillFilter): FillsTable {
  if (filter.wallets !== null) return 'fills_by_wallet';
  const byBuilder = filter.builder !== null && filter.builder !== '';
  if (filter.tokenIds !== null && (filter.tokenIds.length <= MAX_MERGED_TOKENS || !byBuilder)) return 'fills_by_token';
  if (filter.among !== null && !byBuilder) return 'fills_by_token';
  return byBuilder ? 'fills_by_builder' : 'fills';
}

const roleColumn = (source: FillsTable): string => (source === 'fills_by_wallet' ? 'f.role' : `'maker'`);

/** True for the second row (role taker) of a fill of a wallet with itself. */
const isSelfTradeDuplicate = (row: FillRow): boolean => row.role === 'taker' && row.maker === row.taker;

/**
 * Predicate for the filter conditions that the statement omits: they rarely exclude rows and need only columns that a page reads anyway, so it is cheaper
 * to check them here. null: the statement applies the whole filter.
 */
export function residualFilterOf(filter: FillFilter): ((row: FillRow) => boolean) | null {
  const { versions } = filter;
  if (filter.wallets === null && filter.tokenIds === null && filter.among === null) return null;
  const once = filter.wallets !== null && filter.role === null;
  if (!once && versions === null) return null;
  const { min, max } = versions ?? { min: 0, max: Number.POSITIVE_INFINITY };
  return (row) => row.exchange_version >= min && row.exchange_version <= max && !(once && isSelfTradeDuplicate(row));
}

/**
 * The filter as conditions on the alias `f`; `deferred` omits the conditions that `residualFilterOf` checks. Every value is a bound parameter.
 * `within`: a SELECT of tokens to which the token query is restricted.
 */
export function filterConditions(
  filter: FillFilter,
  order: Page['order'],
  residual: 'applied' | 'deferred' = 'applied',
  within?: string,
): Where {
  const { wallets, tokenIds, among, atMost } = filter;
  const applied = residual === 'applied';
  const single = (values: readonly string[] | null) => (values?.length === 1 ? values[0] : null);
  const many = (values: readonly string[] | null) => (values?.length === 1 ? null : values);
  return allOf(
    given(single(wallets), 'wallet', 'f.wallet = {wallet:String}'),
    given(many(wallets), 'wallets', 'f.wallet IN {wallets:Array(String)}'),
    wallets !== null && given(filter.role, 'role', 'f.role = {role:String}'),
    wallets !== null && filter.role === null && applied && `(f.role = 'maker' OR f.maker != f.wallet)`,
    given(single(tokenIds), 'token', 'f.token_id = toUInt256({token:String})'),
    given(many(tokenIds), 'tokens', 'f.token_id IN (SELECT toUInt256(arrayJoin({tokens:Array(String)})))'),
    among && { text: `f.token_id IN (${among.text(within)})`, params: among.params },
    withinTimes('f.timestamp', filter),
    given(filter.orderHash, 'order_hash', `f.order_hash = ${bytesOfHex('{order_hash:String}')}`),
    given(filter.minUsdc, 'min_usdc', 'f.usdc >= {min_usdc:UInt64}'),
    given(filter.minMakerAmount, 'min_maker', `if(f.side = 'BUY', f.usdc, f.shares) >= {min_maker:UInt64}`),
    given(filter.minFee, 'min_fee', 'f.fee >= {min_fee:UInt64}'),
    given(filter.builder, 'builder', 'f.builder = {builder:String}'),
    given(filter.side, 'side', 'f.side = {side:String}'),
    applied && given(filter.versions?.min, 'min_version', 'f.exchange_version >= {min_version:UInt8}'),
    applied && given(filter.versions?.max, 'max_version', 'f.exchange_version <= {max_version:UInt8}'),
    filter.matchesOnly && 'NOT f.is_taker_order',
    filter.takerOrdersOnly && 'f.is_taker_order',
    beyondPosition('f', filter.beyond, order),
    atMost && {
      text: '(f.block_number, f.log_index) <= ({last_block:UInt64}, {last_log:UInt32})',
      params: { last_block: atMost.blockNumber, last_log: atMost.logIndex },
    },
  );
}

/** ASC or DESC as a constant: no request text reaches the statement. */
const sortDirection = (order: Page['order']): 'ASC' | 'DESC' => (order === 'asc' ? 'ASC' : 'DESC');

/**
 * One page of fills and one row more. (block, log index) is a stable order by time, because block times never decrease, and the sort key of the tables.
 */
export function fillsSql(filter: FillFilter, page: Page, residual: 'applied' | 'deferred' = 'applied'): Sql {
  const source = tableFor(filter);
  const by = sortDirection(page.order);
  const rows = page.limit + 1;
  const select = `SELECT ${columns}, ${roleColumn(source)} AS role`;
  const tokens = filter.tokenIds;
  if (source === 'fills_by_token' && tokens !== null && tokens.length > 1 && tokens.length <= MAX_MERGED_TOKENS) {
    const rest = filterConditions({ ...filter, tokenIds: null }, page.order, residual);
    const branches = tokens.map((_token, index) => {
      const conditions = allOf(`f.token_id = toUInt256({token_${index}:String})`, rest);
      return `(${select} FROM fills_by_token AS f ${whereClause(conditions)} ORDER BY f.block_number ${by}, f.log_index ${by} LIMIT {reach:UInt32})`;
    });
    const named = Object.fromEntries(tokens.map((token, index) => [`token_${index}`, token]));
    return {
      text: `SELECT * FROM (${branches.join(' UNION ALL ')})
      ORDER BY block_number ${by}, log_index ${by}
      LIMIT {rows:UInt32} OFFSET {offset:UInt32}`,
      params: { ...rest.params, ...named, rows, offset: page.offset, reach: rows + page.offset },
      singleChunk: rows <= SINGLE_CHUNK_MAX_ROWS,
    };
  }
  const where = filterConditions(filter, page.order, residual);
  return {
    text: `${select}
      FROM ${source} AS f
      ${whereClause(where)}
      ORDER BY f.block_number ${by}, f.log_index ${by}
      LIMIT {rows:UInt32} OFFSET {offset:UInt32}
      ${filter.among === null ? oldAnalyzer : ''}`,
    params: { ...where.params, rows, offset: page.offset },
    singleChunk: rows <= SINGLE_CHUNK_MAX_ROWS,
  };
}

/** Sizes of the windows in which a page is looked for, in rows of the page. */
export const WINDOWS = [2, 16] as const;
const MAX_WINDOW = 20_000;

/**
 * The page as far as it lies among the next rows of the filter without its tokens, `size` per row of the page; complete for tokens that make up enough of
 * those rows. Only the tokens of those rows are looked up. null where the statement cannot be used.
 */
export function windowSql(filter: FillFilter, page: Page, size: number): Sql | null {
  const source = tableFor(filter);
  const rows = page.limit + 1;
  const window = size * (rows + page.offset);
  if (filter.among === null || source === 'fills_by_token' || window > MAX_WINDOW) return null;
  const by = sortDirection(page.order);
  const rest = filterConditions({ ...filter, among: null }, page.order);
  // Both ends are fixed, so that rows that arrive meanwhile change neither the tokens nor the page. ClickHouse derives a key range from the blocks alone.
  const inWindow = whereClause(
    allOf(
      rest,
      'f.block_number >= tupleElement(ends.1, 1)',
      'f.block_number <= tupleElement(ends.2, 1)',
      '(f.block_number, f.log_index) >= ends.1',
      '(f.block_number, f.log_index) <= ends.2',
    ),
  );
  return {
    text: `WITH (
        SELECT (min(place), max(place)) FROM (
          SELECT (f.block_number, f.log_index) AS place FROM ${source} AS f ${whereClause(rest)}
          ORDER BY f.block_number ${by}, f.log_index ${by} LIMIT {window:UInt32})
      ) AS ends
      SELECT ${columns}, ${roleColumn(source)} AS role
      FROM ${source} AS f
      ${inWindow} AND f.token_id IN (${filter.among.text(`SELECT f.token_id FROM ${source} AS f ${inWindow}`)})
      ORDER BY f.block_number ${by}, f.log_index ${by}
      LIMIT {rows:UInt32} OFFSET {offset:UInt32}`,
    params: { ...rest.params, ...filter.among.params, window, rows, offset: page.offset },
    singleChunk: rows <= SINGLE_CHUNK_MAX_ROWS,
  };
}

/** Statement for the newest fill that matches the filter, at most one row. */
export function newestFillSql(filter: FillFilter): Sql {
  const where = filterConditions(filter, 'desc');
  return {
    text: `SELECT toUInt64(f.block_number) AS block_number, f.log_index AS log_index
      FROM ${tableFor(filter)} AS f
      ${whereClause(where)}
      ORDER BY f.block_number DESC, f.log_index DESC
      LIMIT 1`,
    params: where.params,
  };
}

/** Key of a group of fills: one signed order, or one wallet's fills of one token in one transaction. */
export type Grouping = 'order_hash' | 'user_trade';
const groupKeys: Readonly<Record<Grouping, readonly string[]>> = {
  order_hash: ['order_hash'],
  user_trade: ['tx_hash', 'token_id', 'side'],
};

/**
 * Groups of a filter, ordered by their most recent fill. With the newest first the statement streams: the first fill read of a group is its most recent
 * one. `newest_block` and `newest_log` are the sort key of the group.
 */
function groupsQuery(source: FillsTable, where: string, order: Page['order'], keys: readonly string[]): string {
  const named = keys.map((key) => `f.${key} AS ${key}`).join(', ');
  const bare = keys.map((key) => `f.${key}`).join(', ');
  if (order === 'desc') {
    return `SELECT ${named}, f.block_number AS newest_block, f.log_index AS newest_log
        FROM ${source} AS f ${where}
        ORDER BY f.block_number DESC, f.log_index DESC
        LIMIT 1 BY ${bare}
        LIMIT {groups:UInt32} OFFSET {first_group:UInt32}`;
  }
  return `SELECT ${keys.join(', ')}, newest.1 AS newest_block, newest.2 AS newest_log
        FROM (SELECT ${named}, max((f.block_number, f.log_index)) AS newest
          FROM ${source} AS f ${where} GROUP BY ${bare})
        ORDER BY newest
        LIMIT {groups:UInt32} OFFSET {first_group:UInt32}`;
}

/** One page of fills, and one row more, with the fills of an order adjacent. */
export function fillsByOrderSql(filter: FillFilter, page: Page): Sql {
  const where = filterConditions(filter, page.order);
  const by = sortDirection(page.order);
  const source = tableFor(filter);
  const rows = page.limit + 1;
  // Every order has a fill, so the first (offset + rows) orders contain the first (offset + rows) fills.
  return {
    text: `WITH orders AS (${groupsQuery(source, whereClause(where), page.order, groupKeys.order_hash)})
      SELECT ${columns}, ${roleColumn(source)} AS role
      FROM ${source} AS f INNER JOIN orders AS o ON f.order_hash = o.order_hash
      ${whereClause(allOf(where, 'f.order_hash IN (SELECT order_hash FROM orders)'))}
      ORDER BY o.newest_block ${by}, o.newest_log ${by}, f.block_number ${by}, f.log_index ${by}
      LIMIT {rows:UInt32} OFFSET {offset:UInt32}`,
    params: { ...where.params, rows, offset: page.offset, groups: page.offset + rows, first_group: 0 },
  };
}

/** One page of groups with the sums of their fills, and one row more. */
export function groupsSql(filter: FillFilter, page: Page, grouping: Grouping): Sql {
  const where = filterConditions(filter, page.order);
  const by = sortDirection(page.order);
  const source = tableFor(filter);
  const keys = groupKeys[grouping];
  const at = '(f.block_number, f.log_index)';
  const newest = (column: string) => `argMax(f.${column}, ${at})`;
  return {
    text: `WITH chosen AS (${groupsQuery(source, whereClause(where), page.order, keys)})
      SELECT count() AS fill_count,
        toString(sum(toUInt256(f.usdc))) AS usdc, toString(sum(toUInt256(f.shares))) AS shares, toString(sum(toUInt256(f.fee))) AS fee, toString(sum(toUInt256(f.fee_shares))) AS fee_shares,
        toUnixTimestamp(min(f.timestamp)) AS first_fill_at, toUnixTimestamp(max(f.timestamp)) AS timestamp,
        arrayDistinct(arrayMap(fill -> fill.2, arraySort(fill -> fill.1, groupArray((${at}, ${hexText('f.tx_hash')}))))) AS tx_hashes,
        toUInt64(max(${at}).1) AS block_number, max(${at}).2 AS log_index,
        ${hexText(newest('tx_hash'))} AS tx_hash, ${hexText(newest('order_hash'))} AS order_hash,
        toString(${newest('token_id')}) AS token_id, toString(${newest('side')}) AS side,
        ${newest('exchange_version')} AS exchange_version, ${newest('neg_risk')} AS neg_risk, ${newest('is_taker_order')} AS is_taker_order,
        ${newest('maker')} AS maker, ${newest('taker')} AS taker, ${newest('builder')} AS builder,
        ${source === 'fills_by_wallet' ? `toString(${newest('role')})` : `'maker'`} AS role
      FROM ${source} AS f
      ${whereClause(allOf(where, `(${keys.map((key) => `f.${key}`).join(', ')}) IN (SELECT ${keys.join(', ')} FROM chosen)`))}
      GROUP BY ${keys.map((key) => `f.${key}`).join(', ')}
      ORDER BY max(${at}) ${by}`,
    params: { ...where.params, groups: page.limit, first_group: page.offset },
  };
}
