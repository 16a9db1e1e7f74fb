import type { Migration, TableSpec } from '../../infra/clickhouse/ddl.js';
import { tokenAmountsTable } from '../sink/token-amounts.js';

const positionColumns = `
      wallet String,
      token_id UInt256,
      size UInt64,
      received UInt64,
      avg_price Decimal(38, 18),
      cost Int64,
      realized_pnl Int64,
      total_bought UInt64,
      bought_usdc UInt64,
      sold_usdc UInt64,
      fees UInt64,
      fee_shares UInt64,
      fee_cost Int64,
      sent_cost Int64,
      fills UInt32,
      unpriced UInt32,
      first_at DateTime('UTC'),
      last_at DateTime('UTC'),
      last_trade_at Nullable(DateTime('UTC')),
      last_redeemed_at Nullable(DateTime('UTC')),
      version UInt64,
      _partition UInt16,
      _offset UInt64`;

export const positions: TableSpec = {
  name: 'positions',
  columns: positionColumns,
  engine: 'ReplacingMergeTree',
  engineArgs: ['version'],
  orderBy: '(wallet, token_id)',
  settings: ['index_granularity = 1024'],
  placement: { shardBy: 'cityHash64(wallet)' },
};

const positionsByToken: TableSpec = {
  name: 'positions_by_token',
  columns: positionColumns,
  engine: 'ReplacingMergeTree',
  engineArgs: ['version'],
  orderBy: '(token_id, wallet)',
  settings: ['index_granularity = 1024'],
  placement: 'with its source',
};

/**
 * `positions`: position of every wallet per outcome token, newest version (read with FINAL); `positions_by_token`: the same rows by token, for the
 * holders of a market (a condition is read through its two tokens). Amounts in base units. size: current shares, of which `received` have no
 * cost; cost: of the other shares, including those kept as fee; avg_price: cost per share bought, over the whole lifetime if size is 0;
 * realized_pnl: before fees; fees: paid in USDC; fee_cost: cost of shares paid as fees, once all is sold; unpriced: changes that the history
 * does not fully determine, 0 if none shows that earlier history is missing.
 * Total PnL at price p: realized_pnl + (size - received) x p - cost - fees - fee_cost: shares that left at their cost (sent_cost) have no profit.
 */
export const positionsTables: Migration = {
  id: '0021_positions',
  statements: (ddl) => [
    ...ddl.table(positions),
    ...ddl.table(positionsByToken),
    ...ddl.materializedView({
      name: 'positions_by_token_mv',
      from: positions,
      to: positionsByToken,
      select: (from) => `SELECT * FROM ${from}`,
    }),
  ],
};

/** Columns of `pnl_events` and its copies. */
export const pnlColumns = `
      wallet String,
      token_id UInt256,
      id String,
      leg UInt16,
      block_number UInt64,
      log_index UInt32,
      timestamp DateTime('UTC'),
      tx_hash String,
      action Enum8('BUY' = 0, 'SELL' = 1, 'SPLIT' = 2, 'MERGE' = 3, 'REDEEM' = 4, 'CONVERT' = 5, 'SEND' = 6, 'RECEIVE' = 7),
      exchange_version UInt8,
      is_taker Bool,
      shares Int64,
      untracked UInt64,
      usdc UInt64,
      cash Int64,
      cost Int64,
      realized_pnl Int64,
      fee UInt64,
      fee_shares UInt64,
      minted Int64,
      size_after UInt64,
      cost_after Int64,
      realized_after Int64,
      problem LowCardinality(String),
      _partition UInt16,
      _offset UInt64`;

export const pnlEvents: TableSpec = {
  name: 'pnl_events',
  columns: pnlColumns,
  engine: 'ReplacingMergeTree',
  engineArgs: ['_offset'],
  orderBy: '(wallet, timestamp, block_number, log_index, id, leg)',
  placement: { shardBy: 'cityHash64(wallet)' },
};

export const walletDays: TableSpec = {
  name: 'wallet_days',
  columns: `
      wallet String,
      day Date,
      fills UInt64,
      volume UInt64,
      fees UInt64,
      realizations UInt64,
      wins UInt64,
      losses UInt64,
      realized_pnl Int64,
      gross_profit Int64,
      gross_loss Int64`,
  engine: 'SummingMergeTree',
  orderBy: '(wallet, day)',
  placement: 'with its source',
};

export const mintedByToken = tokenAmountsTable('minted_by_token');

/**
 * `pnl_events`: effect of every fill, split, merge, redemption, conversion and transfer on every position, oldest first per wallet. shares,
 * cash, cost: signed changes; realized_pnl before fees; untracked: shares without recorded inflow, which have neither cost nor profit.
 * `wallet_days`: sums per wallet and UTC day (wins and losses count events). `minted_by_token`: full sets minted minus full sets merged by
 * matches, by the maker's token.
 */
export const pnlTables: Migration = {
  id: '0022_pnl',
  statements: (ddl) => [
    ...ddl.table(pnlEvents),
    ...ddl.table(walletDays),
    ...ddl.materializedView({
      name: 'wallet_days_mv',
      from: pnlEvents,
      to: walletDays,
      select: (from) => `SELECT wallet, toDate(timestamp) AS day,
      countIf(action IN ('BUY', 'SELL')) AS fills, sum(usdc) AS volume, sum(fee) AS fees,
      countIf(pnl_events.realized_pnl != 0) AS realizations, countIf(pnl_events.realized_pnl > 0) AS wins,
      countIf(pnl_events.realized_pnl < 0) AS losses, sum(pnl_events.realized_pnl) AS realized_pnl,
      sumIf(pnl_events.realized_pnl, pnl_events.realized_pnl > 0) AS gross_profit,
      sumIf(pnl_events.realized_pnl, pnl_events.realized_pnl < 0) AS gross_loss
    FROM ${from} AS pnl_events GROUP BY wallet, day`,
    }),
    ...ddl.table(mintedByToken),
    ...ddl.materializedView({
      name: 'minted_by_token_mv',
      from: pnlEvents,
      to: mintedByToken,
      select: (from) => `SELECT token_id, sum(minted) AS amount FROM ${from} WHERE minted != 0 GROUP BY token_id`,
    }),
  ],
};
