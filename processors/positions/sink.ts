import { averagePrice, changeInBase, toBase } from '../../schemas/accounting/holding.js';
import { topics } from '../../schemas/topics.js';
import {
  bool,
  dateTime,
  decimal38,
  enum8,
  int64,
  lowCardinality,
  nullable,
  string,
  uint8,
  uint16,
  uint32,
  uint64,
  uint256,
} from '../sink/columns.js';
import { defineTable, type SinkDefinition } from '../sink/sink-definition.js';

const positionsTable = defineTable('positions', {
  wallet: string,
  token_id: uint256,
  size: uint64,
  received: uint64,
  avg_price: decimal38(18),
  cost: int64,
  realized_pnl: int64,
  total_bought: uint64,
  bought_usdc: uint64,
  sold_usdc: uint64,
  fees: uint64,
  fee_shares: uint64,
  fee_cost: int64,
  sent_cost: int64,
  fills: uint32,
  unpriced: uint32,
  first_at: dateTime,
  last_at: dateTime,
  last_trade_at: nullable(dateTime),
  last_redeemed_at: nullable(dateTime),
  version: uint64,
  _partition: uint16,
  _offset: uint64,
});

const pnlEventsTable = defineTable('pnl_events', {
  wallet: string,
  token_id: uint256,
  id: string,
  leg: uint16,
  block_number: uint64,
  log_index: uint32,
  timestamp: dateTime,
  action: enum8('BUY', 'SELL', 'SPLIT', 'MERGE', 'REDEEM', 'CONVERT', 'SEND', 'RECEIVE'),
  exchange_version: uint8,
  is_taker: bool,
  shares: int64,
  untracked: uint64,
  usdc: uint64,
  cash: int64,
  cost: int64,
  realized_pnl: int64,
  fee: uint64,
  fee_shares: uint64,
  minted: int64,
  size_after: uint64,
  cost_after: int64,
  realized_after: int64,
  received_after: uint64,
  fee_cost_after: int64,
  problem: lowCardinality,
  _partition: uint16,
  _offset: uint64,
});

/** Each of the many partitions inserts separately, and a few large inserts cost a fraction of many small ones. The chunk size bounds memory. */
const LINGER_MS = 2_000;

/** The newest state of every position. Costs and profits are rounded half up to base units only here, once per position. */
export const positionsSink: SinkDefinition = {
  name: 'positions',
  topic: topics.positions,
  plans: topics.plansPositions,
  lingerMs: LINGER_MS,
  maxChunkRecords: 5_000,
  tables: [positionsTable],
  retainsAllRows: false,
  kinds: new Set(['position']),
  rows(event, logPosition, emit) {
    if (event.kind !== 'position') return;
    const position = event.value;
    // Only possibly created: no record has changed it.
    if (position.version === 0) return;
    emit(positionsTable, {
      wallet: position.wallet,
      token_id: position.token_id,
      size: position.size + position.received,
      received: position.received,
      avg_price: averagePrice(position),
      cost: toBase(position.cost),
      realized_pnl: toBase(position.realized),
      total_bought: position.bought,
      bought_usdc: position.bought_usdc,
      sold_usdc: position.sold_usdc,
      fees: position.fees,
      fee_shares: position.fee_shares,
      fee_cost: toBase(position.fee_cost),
      sent_cost: toBase(position.sent_cost),
      fills: position.fills,
      unpriced: position.unpriced,
      first_at: position.first_ms,
      last_at: position.last_ms,
      last_trade_at: position.last_trade_ms,
      last_redeemed_at: position.last_redeem_ms,
      version: position.version,
      _partition: logPosition.partition,
      _offset: logPosition.offset,
    });
  },
};

/**
 * Effect of every activity record on every position. Costs and profits are differences of the position's rounded totals, so that the rows of a
 * position add up exactly to its row in `positions`, as do sums over days, tokens or wallets.
 */
export const pnlSink: SinkDefinition = {
  name: 'pnl',
  topic: topics.pnlEvents,
  plans: topics.plansPnl,
  lingerMs: LINGER_MS,
  maxChunkRecords: 10_000,
  tables: [pnlEventsTable],
  // Ordered by wallet, so reconciliation by offset would read the whole table.
  retainsAllRows: false,
  kinds: new Set(['pnl_event']),
  rows(event, logPosition, emit) {
    if (event.kind !== 'pnl_event') return;
    const pnl = event.value;
    emit(pnlEventsTable, {
      wallet: pnl.wallet,
      token_id: pnl.token_id,
      id: pnl.id,
      leg: pnl.leg,
      block_number: pnl.block_number,
      log_index: pnl.log_index,
      timestamp: pnl.timestamp_ms,
      action: pnl.action,
      exchange_version: pnl.exchange_version,
      is_taker: pnl.is_taker,
      shares: pnl.shares,
      untracked: pnl.untracked,
      usdc: pnl.usdc,
      cash: toBase(pnl.cash),
      cost: changeInBase(pnl.cost, pnl.cost_after),
      realized_pnl: changeInBase(pnl.realized, pnl.realized_after),
      fee: pnl.fee,
      fee_shares: pnl.fee_shares,
      minted: pnl.minted,
      size_after: pnl.size_after,
      cost_after: toBase(pnl.cost_after),
      realized_after: toBase(pnl.realized_after),
      received_after: pnl.received_after ?? 0n,
      fee_cost_after: toBase(pnl.fee_cost_after ?? 0n),
      problem: pnl.problem ?? '',
      _partition: logPosition.partition,
      _offset: logPosition.offset,
    });
  },
};
