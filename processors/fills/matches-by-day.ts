import type { MaterializedViewSpec, Migration } from '../../infra/clickhouse/ddl.js';
import { fills } from './tables.js';

const names =
  'token_id, block_number, log_index, tx_hash, order_hash, maker, taker, side, usdc, shares, fee, exchange_version, _offset';

export const matchesByDayView: MaterializedViewSpec = {
  name: 'matches_by_day_mv',
  from: fills,
  to: {
    name: 'matches_by_day',
    columns: `
      traded_at DateTime64(3, 'UTC'),
      token_id UInt256,
      block_number UInt64,
      log_index UInt32,
      tx_hash String CODEC(ZSTD(1)),
      order_hash String CODEC(ZSTD(1)),
      maker String CODEC(ZSTD(1)),
      taker String CODEC(ZSTD(1)),
      side Enum8('BUY' = 0, 'SELL' = 1),
      usdc UInt64,
      shares UInt64,
      fee UInt64,
      exchange_version UInt8,
      _offset UInt64`,
    engine: 'ReplacingMergeTree',
    engineArgs: ['_offset'],
    orderBy: '(toDate(traded_at), token_id, block_number, log_index)',
    settings: ['index_granularity = 512', 'min_compress_block_size = 16384'],
    placement: 'with its source',
  },
  select: (from) => `SELECT timestamp AS traded_at, ${names} FROM ${from} WHERE NOT is_taker_order`,
};

/**
 * `matches_by_day`: the maker rows of `fills` by UTC day and token, for queries by day without a market and by market without a day: a day is one
 * range of the key, a token one short range per day. A cluster fills it from the log: `npm run rebuild -- fills`.
 */
export const matchesByDay: Migration = {
  id: '0042_matches_by_day',
  statements: (ddl) => [
    ...ddl.table(matchesByDayView.to),
    ...ddl.materializedView(matchesByDayView),
    ...ddl.backfill(matchesByDayView),
  ],
};
