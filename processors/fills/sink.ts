import { topics } from '../../schemas/topics.js';
import type { Trade } from '../../schemas/types.gen.js';
import {
  bool,
  dateTime,
  enum8,
  hash,
  lowCardinality,
  string,
  uint8,
  uint32,
  uint64,
  uint256,
} from '../sink/columns.js';
import { defineTable, type LogPosition, type SinkDefinition } from '../sink/sink-definition.js';

export const fillsTable = defineTable('fills', {
  block_number: uint64,
  log_index: uint32,
  timestamp: dateTime,
  tx_hash: hash,
  exchange: lowCardinality,
  exchange_version: uint8,
  neg_risk: bool,
  order_hash: hash,
  maker: string,
  taker: string,
  is_taker_order: bool,
  side: enum8('BUY', 'SELL'),
  token_id: uint256,
  usdc: uint64,
  shares: uint64,
  fee: uint64,
  fee_shares: uint64,
  builder: string,
  _offset: uint64,
});

const fillRow = (trade: Trade, position: LogPosition): Parameters<typeof fillsTable.write>[1] => ({
  block_number: trade.block_number,
  log_index: trade.log_index,
  timestamp: trade.timestamp_ms,
  tx_hash: trade.tx_hash,
  exchange: trade.exchange,
  exchange_version: trade.exchange_version,
  neg_risk: trade.neg_risk,
  order_hash: trade.order_hash,
  maker: trade.maker,
  taker: trade.taker,
  is_taker_order: trade.is_taker_order,
  side: trade.side,
  token_id: trade.token_id,
  usdc: trade.usdc,
  shares: trade.shares,
  fee: trade.fee,
  fee_shares: trade.fee_shares,
  builder: trade.builder ?? '',
  _offset: position.offset,
});

/** Final trades, one row of `fills` each; materialized views derive the copies and the last prices (tables.ts). */
export const fillsSink: SinkDefinition = {
  name: 'fills',
  topic: topics.chainFinal,
  plans: topics.plansFills,
  tables: [fillsTable],
  retainsAllRows: true,
  kinds: new Set(['trade']),
  rows(event, position, emit) {
    if (event.kind === 'trade') emit(fillsTable, fillRow(event.value, position));
  },
};
