import { SINGLE_CHUNK_MAX_ROWS, type Sql, type SqlValue } from '../tables/port.js';
import type { FillFilter, Page } from './filter.js';

export interface FillRow {
  readonly block_number: number | string;
  readonly log_index: number | string;
  readonly timestamp: number | string;
  readonly tx_hash: string;
  readonly exchange_version: number;
  readonly order_hash: string;
  readonly maker: string;
  readonly taker: string;
  /** What the wallet asked for was in this fill; `maker` where none was. */
  readonly role: 'maker' | 'taker';
  /** Of the signed order. */
  readonly side: 'BUY' | 'SELL';
  readonly token_id: string;
  /** Base units, as text. */
  readonly usdc: string;
  readonly shares: string;
  readonly fee: string;
  /** The fee where it was taken in shares (first generation), else 0. */
  readonly fee_shares: string;
  readonly builder: string;
}

/** Sums of a group of fills, with what its newest fill says of the rest. */
export interface FillGroupRow extends FillRow {
  readonly fill_count: number | string;
  readonly first_fill_at: number | string;
  readonly tx_hashes: readonly string[];
  /** True where the newest fill is the taker's own row. */
  readonly is_taker_order: boolean | number;
}

/** Columns as they are, as far as that goes: 64-bit and wider integers come as text, and each function would cost a page as much as a column. */
const columns = `f.block_number AS block_number, f.log_index AS log_index, toUnixTimestamp(f.timestamp) AS timestamp,
        f.tx_hash AS tx_hash, f.exchange_version AS exchange_version, f.order_hash AS order_hash, f.maker AS maker, f.taker AS taker,
        f.side AS side, f.token_id AS token_id, f.usdc AS usdc, f.shares AS shares,
        f.fee AS fee, f.fee_shares AS fee_shares, f.builder AS builder`;

const querySettings = 'SETTINGS max_execution_time = 10';
/**
 * The statement asked most often is planned by the older analyzer, which takes a sixth of the whole statement's time less. It would take a name for an alias
 * of the same name before the column.
 */
const simpleQuerySettings = `${querySettings}, enable_analyzer = 0, prefer_column_name_to_alias = 1`;

type FillsTable = 'fills' | 'fills_by_wallet' | 'fills_by_token' | 'fills_by_builder';

/** Up to this many tokens are read each in its own order and merged, so that a page reads a page of each. */
const MAX_MERGED_TOKENS = 8;

/** The copy of the fills whose order answers the filter with the least reading. */
export function tableFor(filter: FillFilter): FillsTable {
  if (filter.wallets !== null) return 'fills_by_wallet';
  const byBuilder = filter.builder !== null && filter.builder !== '';
  if (filter.tokenIds !== null && (filter.tokenIds.length <= MAX_MERGED_TOKENS || !byBuilder)) return 'fills_by_token';
  if (filter.among !== null && !byBuilder) return 'fills_by_token';
  return byBuilder ? 'fills_by_builder' : 'fills';
}

const roleColumn = (source: FillsTable): string => (source === 'fills_by_wallet' ? 'f.role' : `'maker'`);

/** Whether a row is the second one of a fill of a wallet with itself. */
const isSelfTradeDuplicate = (row: FillRow): boolean => row.role === 'taker' && row.maker === row.taker;

/**
 * Tells of a row whether it belongs to what was asked for, where the tables were not told all of it: what rarely leaves a row out, and shows in columns that a page
 * reads anyway, is cheaper to look for here. null: the tables are told all.
 */
export function residualFilterOf(filter: FillFilter): ((row: FillRow) => boolean) | null {
  const { versions } = filter;
  if (filter.wallets === null && filter.tokenIds === null && filter.among === null) return null;
  const once = filter.wallets !== null && filter.role === null;
  if (!once && versions === null) return null;
  const { min, max } = versions ?? { min: 0, max: Number.POSITIVE_INFINITY };
  return (row) => row.exchange_version >= min && row.exchange_version <= max && !(once && isSelfTradeDuplicate(row));
}

interface Where {
  readonly conditions: readonly string[];
  readonly params: Readonly<Record<string, SqlValue>>;
}

const whereClause = (parts: readonly string[]): string => (parts.length === 0 ? '' : `WHERE ${parts.join(' AND ')}`);

/**
 * The filter as conditions on the alias `f`, without what `rareFilterOf` looks for if asked so. Every value is a bound parameter. `within`: a SELECT of the tokens
 * that matter.
 */
export function filterConditions(
  filter: FillFilter,
  order: Page['order'],
  rare: 'looked for' | 'left out' = 'looked for',
  within?: string,
): Where {
  const parts: string[] = [];
  const params: Record<string, SqlValue> = {};
  const add = (text: string, name: string, value: SqlValue | null) => {
    if (value === null) return;
    parts.push(text);
    params[name] = value;
  };
  const one = (values: readonly string[] | null) => (values?.length === 1 ? (values[0] as string) : null);
  const many = (values: readonly string[] | null) => (values?.length === 1 ? null : values);
  add('f.wallet = {wallet:String}', 'wallet', one(filter.wallets));
  add('f.wallet IN {wallets:Array(String)}', 'wallets', many(filter.wallets));
  if (filter.wallets !== null) {
    add('f.role = {role:String}', 'role', filter.role);
    if (filter.role === null && rare === 'looked for') parts.push(`(f.role = 'maker' OR f.maker != f.wallet)`);
  }
  add('f.token_id = toUInt256({token:String})', 'token', one(filter.tokenIds));
  add('f.token_id IN (SELECT toUInt256(arrayJoin({tokens:Array(String)})))', 'tokens', many(filter.tokenIds));
  if (filter.among !== null) {
    parts.push(`f.token_id IN (${filter.among.text(within)})`);
    Object.assign(params, filter.among.params);
  }
  add(`f.timestamp >= toDateTime({after:UInt32}, 'UTC')`, 'after', filter.afterS);
  add(`f.timestamp <= toDateTime({before:UInt32}, 'UTC')`, 'before', filter.beforeS);
  add('f.order_hash = {order_hash:String}', 'order_hash', filter.orderHash);
  add('f.usdc >= {min_usdc:UInt64}', 'min_usdc', filter.minUsdc);
  add(`if(f.side = 'BUY', f.usdc, f.shares) >= {min_maker:UInt64}`, 'min_maker', filter.minMakerAmount);
  add('f.fee >= {min_fee:UInt64}', 'min_fee', filter.minFee);
  add('f.builder = {builder:String}', 'builder', filter.builder);
  add('f.side = {side:String}', 'side', filter.side);
  if (rare === 'looked for') {
    add('f.exchange_version >= {min_version:UInt8}', 'min_version', filter.versions?.min ?? null);
    add('f.exchange_version <= {max_version:UInt8}', 'max_version', filter.versions?.max ?? null);
  }
  if (filter.matchesOnly) parts.push('NOT f.is_taker_order');
  if (filter.beyond !== null) {
    const than = order === 'desc' ? '<' : '>';
    parts.push(`(f.block_number, f.log_index) ${than} ({beyond_block:UInt64}, {beyond_log:UInt32})`);
    params.beyond_block = filter.beyond.blockNumber;
    params.beyond_log = filter.beyond.logIndex;
  }
  if (filter.atMost !== null) {
    parts.push('(f.block_number, f.log_index) <= ({last_block:UInt64}, {last_log:UInt32})');
    params.last_block = filter.atMost.blockNumber;
    params.last_log = filter.atMost.logIndex;
  }
  return { conditions: parts, params };
}

/** ASC or DESC from our own constant, never from input. */
const sortDirection = (order: Page['order']): 'ASC' | 'DESC' => (order === 'asc' ? 'ASC' : 'DESC');

/**
 * One page of fills and one row more. Block order is time order (block times never fall), so (block, log index) is the stable order
 * by time, and the tables' own.
 */
export function fillsSql(filter: FillFilter, page: Page, rare: 'looked for' | 'left out' = 'looked for'): Sql {
  const source = tableFor(filter);
  const by = sortDirection(page.order);
  const rows = page.limit + 1;
  const select = `SELECT ${columns}, ${roleColumn(source)} AS role`;
  const tokens = filter.tokenIds;
  if (source === 'fills_by_token' && tokens !== null && tokens.length > 1 && tokens.length <= MAX_MERGED_TOKENS) {
    const rest = filterConditions({ ...filter, tokenIds: null }, page.order, rare);
    const branches = tokens.map((_token, index) => {
      const own = [`f.token_id = toUInt256({token_${index}:String})`, ...rest.conditions];
      return `(${select} FROM fills_by_token AS f ${whereClause(own)} ORDER BY f.block_number ${by}, f.log_index ${by} LIMIT {reach:UInt32})`;
    });
    const named = Object.fromEntries(tokens.map((token, index) => [`token_${index}`, token]));
    return {
      text: `SELECT * FROM (${branches.join(' UNION ALL ')})
      ORDER BY block_number ${by}, log_index ${by}
      LIMIT {rows:UInt32} OFFSET {offset:UInt32}
      ${querySettings}`,
      params: { ...rest.params, ...named, rows, offset: page.offset, reach: rows + page.offset },
      singleChunk: rows <= SINGLE_CHUNK_MAX_ROWS,
    };
  }
  const where = filterConditions(filter, page.order, rare);
  return {
    text: `${select}
      FROM ${source} AS f
      ${whereClause(where.conditions)}
      ORDER BY f.block_number ${by}, f.log_index ${by}
      LIMIT {rows:UInt32} OFFSET {offset:UInt32}
      ${filter.among === null ? simpleQuerySettings : querySettings}`,
    params: { ...where.params, rows, offset: page.offset },
    singleChunk: rows <= SINGLE_CHUNK_MAX_ROWS,
  };
}

/** Rows of a window that the filter's tokens are looked for in, per row of a page. */
const WINDOW = 20;
const MAX_WINDOW = 20_000;
/** The tokens of a window are read beside it: rows that arrive meanwhile must not push the window's last ones out of what is read. */
const SPARE = 1_000;

/**
 * The page as far as it is found among the next rows of everything but the tokens: of tokens that are most of the rows it is all of it, and only the tokens of
 * those rows are looked up. null where that cannot help.
 */
export function windowSql(filter: FillFilter, page: Page): Sql | null {
  const source = tableFor(filter);
  const rows = page.limit + 1;
  const window = WINDOW * (rows + page.offset);
  if (filter.among === null || source === 'fills_by_token' || window > MAX_WINDOW) return null;
  const by = sortDirection(page.order);
  const rest = filterConditions({ ...filter, among: null }, page.order);
  const next = (what: string, limit: string) =>
    `SELECT ${what} FROM ${source} AS f ${whereClause(rest.conditions)} ORDER BY f.block_number ${by}, f.log_index ${by} LIMIT ${limit}`;
  return {
    text: `SELECT ${columns}, ${roleColumn(source)} AS role
      FROM (${next('*', '{window:UInt32}')}) AS f
      WHERE f.token_id IN (${filter.among.text(next('token_id', `{window:UInt32} + ${SPARE}`))})
      ORDER BY f.block_number ${by}, f.log_index ${by}
      LIMIT {rows:UInt32} OFFSET {offset:UInt32}
      ${querySettings}`,
    params: { ...rest.params, ...filter.among.params, window, rows, offset: page.offset },
    singleChunk: rows <= SINGLE_CHUNK_MAX_ROWS,
  };
}

/** The newest fill of the filter, if any. */
export function newestFillSql(filter: FillFilter): Sql {
  const where = filterConditions(filter, 'desc');
  return {
    text: `SELECT toUInt64(f.block_number) AS block_number, f.log_index AS log_index
      FROM ${tableFor(filter)} AS f
      ${whereClause(where.conditions)}
      ORDER BY f.block_number DESC, f.log_index DESC
      LIMIT 1
      ${querySettings}`,
    params: where.params,
  };
}

/** What fills are put together by: one signed order, or what a wallet did in one transaction with one token. */
export type Grouping = 'order_hash' | 'user_trade';
const groupKeys: Readonly<Record<Grouping, readonly string[]>> = {
  order_hash: ['order_hash'],
  user_trade: ['tx_hash', 'token_id', 'side'],
};

/**
 * The groups of a filter by their most recent fill. Newest first it streams: the first fill met of a group is its most recent one.
 * `newest_block` and `newest_log` place the group.
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

/** One page of fills, and one row more, with the fills of an order next to each other. */
export function fillsByOrderSql(filter: FillFilter, page: Page): Sql {
  const where = filterConditions(filter, page.order);
  const by = sortDirection(page.order);
  const source = tableFor(filter);
  const rows = page.limit + 1;
  // Every order has a fill, so the first (offset + rows) orders hold the first (offset + rows) fills.
  return {
    text: `WITH orders AS (${groupsQuery(source, whereClause(where.conditions), page.order, groupKeys.order_hash)})
      SELECT ${columns}, ${roleColumn(source)} AS role
      FROM ${source} AS f INNER JOIN orders AS o ON f.order_hash = o.order_hash
      ${whereClause([...where.conditions, 'f.order_hash IN (SELECT order_hash FROM orders)'])}
      ORDER BY o.newest_block ${by}, o.newest_log ${by}, f.block_number ${by}, f.log_index ${by}
      LIMIT {rows:UInt32} OFFSET {offset:UInt32}
      ${querySettings}`,
    params: { ...where.params, rows, offset: page.offset, groups: page.offset + rows, first_group: 0 },
  };
}

/** One page of groups with the sums of their fills. */
export function groupsSql(filter: FillFilter, page: Page, grouping: Grouping): Sql {
  const where = filterConditions(filter, page.order);
  const by = sortDirection(page.order);
  const source = tableFor(filter);
  const keys = groupKeys[grouping];
  const at = '(f.block_number, f.log_index)';
  const newest = (column: string) => `argMax(f.${column}, ${at})`;
  return {
    text: `WITH chosen AS (${groupsQuery(source, whereClause(where.conditions), page.order, keys)})
      SELECT count() AS fill_count,
        toString(sum(toUInt256(f.usdc))) AS usdc, toString(sum(toUInt256(f.shares))) AS shares, toString(sum(toUInt256(f.fee))) AS fee, toString(sum(toUInt256(f.fee_shares))) AS fee_shares,
        toUnixTimestamp(min(f.timestamp)) AS first_fill_at, toUnixTimestamp(max(f.timestamp)) AS timestamp,
        arrayDistinct(arrayMap(fill -> fill.2, arraySort(fill -> fill.1, groupArray((${at}, f.tx_hash))))) AS tx_hashes,
        toUInt64(max(${at}).1) AS block_number, max(${at}).2 AS log_index,
        ${newest('tx_hash')} AS tx_hash, ${newest('order_hash')} AS order_hash,
        toString(${newest('token_id')}) AS token_id, toString(${newest('side')}) AS side,
        ${newest('exchange_version')} AS exchange_version, ${newest('is_taker_order')} AS is_taker_order,
        ${newest('maker')} AS maker, ${newest('taker')} AS taker, ${newest('builder')} AS builder,
        ${source === 'fills_by_wallet' ? `toString(${newest('role')})` : `'maker'`} AS role
      FROM ${source} AS f
      ${whereClause([...where.conditions, `(${keys.map((key) => `f.${key}`).join(', ')}) IN (SELECT ${keys.join(', ')} FROM chosen)`])}
      GROUP BY ${keys.map((key) => `f.${key}`).join(', ')}
      ORDER BY max(${at}) ${by}
      ${querySettings}`,
    params: { ...where.params, groups: page.limit, first_group: page.offset },
  };
}
