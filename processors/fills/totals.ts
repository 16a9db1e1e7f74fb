import type { MaterializedViewSpec, Migration, TableSpec } from '../../infra/clickhouse/ddl.js';
import { resolutions } from '../chain/tables.js';
import { fills } from './tables.js';

/** Selects each match once: the taker's row repeats the sum of the maker rows. */
const matches = 'NOT is_taker_order';

const sumColumns = `
      trades SimpleAggregateFunction(sum, UInt64),
      buys SimpleAggregateFunction(sum, UInt64),
      usdc SimpleAggregateFunction(sum, UInt128),
      buy_usdc SimpleAggregateFunction(sum, UInt128),
      shares SimpleAggregateFunction(sum, UInt128)`;
const sumExpressions = `count() AS trades, countIf(side = 'BUY') AS buys, sum(toUInt128(fills.usdc)) AS usdc,
      sumIf(toUInt128(fills.usdc), side = 'BUY') AS buy_usdc, sum(toUInt128(fills.shares)) AS shares`;

const tokenVolumes: TableSpec = {
  name: 'token_volumes',
  columns: `
      token_id UInt256,
      exchange_version UInt8,${sumColumns}`,
  engine: 'AggregatingMergeTree',
  orderBy: '(token_id, exchange_version)',
  settings: ['index_granularity = 1024'],
  placement: 'with its source',
};

const candleColumns = `
      token_id UInt256,
      bucket DateTime('UTC'),
      open AggregateFunction(argMin, UInt64, UInt64),
      high SimpleAggregateFunction(max, UInt64),
      low SimpleAggregateFunction(min, UInt64),
      close AggregateFunction(argMax, UInt64, UInt64),${sumColumns},
      first_place SimpleAggregateFunction(min, UInt64),
      last_place SimpleAggregateFunction(max, UInt64),
      first_at SimpleAggregateFunction(min, DateTime('UTC')),
      last_at SimpleAggregateFunction(max, DateTime('UTC'))`;

const candlesOf = (name: string): TableSpec => ({
  name,
  columns: candleColumns,
  engine: 'AggregatingMergeTree',
  orderBy: '(token_id, bucket)',
  settings: ['index_granularity = 1024'],
  placement: 'with its source',
});
const minuteCandles = candlesOf('token_candles_1m');
const hourCandles = candlesOf('token_candles_1h');

const builderVolumes: TableSpec = {
  name: 'builder_volumes',
  columns: `
      builder String,
      trades SimpleAggregateFunction(sum, UInt64),
      usdc SimpleAggregateFunction(sum, UInt128),
      maker_amount SimpleAggregateFunction(sum, UInt128),
      taker_amount SimpleAggregateFunction(sum, UInt128),
      buy_shares SimpleAggregateFunction(sum, UInt128),
      sell_shares SimpleAggregateFunction(sum, UInt128),
      fee SimpleAggregateFunction(sum, UInt128),
      first_at SimpleAggregateFunction(min, DateTime('UTC')),
      last_at SimpleAggregateFunction(max, DateTime('UTC'))`,
  engine: 'AggregatingMergeTree',
  orderBy: 'builder',
  placement: 'with its source',
};

const hourlyVolumes: TableSpec = {
  name: 'hourly_volumes',
  columns: `
      hour DateTime('UTC'),
      exchange_version UInt8,
      trades SimpleAggregateFunction(sum, UInt64),
      usdc SimpleAggregateFunction(sum, UInt128),
      fee SimpleAggregateFunction(sum, UInt128)`,
  engine: 'AggregatingMergeTree',
  orderBy: '(hour, exchange_version)',
  placement: 'with its source',
};

const resolutionsByTime: TableSpec = {
  name: 'resolutions_by_time',
  columns: `
      block_number UInt64,
      log_index UInt32,
      timestamp DateTime('UTC'),
      condition_id String,
      payout_numerators Array(UInt256),
      _offset UInt64`,
  engine: 'ReplacingMergeTree',
  engineArgs: ['_offset'],
  orderBy: '(block_number, log_index)',
  placement: 'everywhere',
};

/** Price in 1e-6 USD, rounded half up, at most the largest UInt64. */
const price =
  'toUInt64(least(intDiv(toUInt256(fills.usdc) * 2000000 + fills.shares, 2 * toUInt256(fills.shares)), toUInt256(18446744073709551615)))';
/** Chain order in one number. */
const chainOrder = 'block_number * 1048576 + log_index';

const candleSelect = (start: string) => (from: string) =>
  `SELECT token_id, ${start}(timestamp) AS bucket,
      argMinState(${price}, ${chainOrder}) AS open, max(${price}) AS high, min(${price}) AS low, argMaxState(${price}, ${chainOrder}) AS close,
      ${sumExpressions}, min(${chainOrder}) AS first_place, max(${chainOrder}) AS last_place, min(timestamp) AS first_at, max(timestamp) AS last_at
    FROM ${from} AS fills WHERE ${matches} AND fills.shares > 0 GROUP BY token_id, bucket`;

export const candleViews: readonly MaterializedViewSpec[] = [
  { name: 'token_candles_1m_mv', from: fills, to: minuteCandles, select: candleSelect('toStartOfMinute') },
  { name: 'token_candles_1h_mv', from: fills, to: hourCandles, select: candleSelect('toStartOfHour') },
];

const views: readonly MaterializedViewSpec[] = [
  {
    name: 'token_volumes_mv',
    from: fills,
    to: tokenVolumes,
    select: (from: string) =>
      `SELECT token_id, exchange_version, ${sumExpressions} FROM ${from} AS fills WHERE ${matches} GROUP BY token_id, exchange_version`,
  },
  ...candleViews,
  {
    name: 'builder_volumes_mv',
    from: fills,
    to: builderVolumes,
    select: (from: string) => `SELECT builder, count() AS trades, sum(toUInt128(fills.usdc)) AS usdc,
      sum(toUInt128(if(side = 'BUY', fills.usdc, fills.shares))) AS maker_amount, sum(toUInt128(if(side = 'BUY', fills.shares, fills.usdc))) AS taker_amount,
      sumIf(toUInt128(fills.shares), side = 'BUY') AS buy_shares, sumIf(toUInt128(fills.shares), side = 'SELL') AS sell_shares,
      sum(toUInt128(fills.fee)) AS fee, min(timestamp) AS first_at, max(timestamp) AS last_at
    FROM ${from} AS fills WHERE builder != '' GROUP BY builder`,
  },
  {
    name: 'hourly_volumes_mv',
    from: fills,
    to: hourlyVolumes,
    select: (from: string) => `SELECT toStartOfHour(timestamp) AS hour, exchange_version, countIf(${matches}) AS trades,
      sumIf(toUInt128(fills.usdc), ${matches}) AS usdc, sum(toUInt128(fills.fee)) AS fee
    FROM ${from} AS fills GROUP BY hour, exchange_version`,
  },
];

const resolutionsView = {
  name: 'resolutions_by_time_mv',
  from: resolutions,
  to: resolutionsByTime,
  select: (from: string) =>
    `SELECT block_number, log_index, timestamp, condition_id, payout_numerators, _offset FROM ${from}`,
};

/**
 * Sums of the fills, aggregated on insert; amounts are base units, prices 1e-6 USD. A match counts once (the maker rows).
 * `token_volumes`: per token and exchange generation; sells are trades - buys. `token_candles_1m`, `token_candles_1h`: per token and UTC
 * minute or hour; first_place and last_place are block x 2^20 + log index. `builder_volumes`: every row with the builder's code,
 * including taker orders. `hourly_volumes`: fees of all rows.
 */
export const fillTotals: Migration = {
  id: '0009_fill_totals',
  statements: (ddl) => views.flatMap((view) => [...ddl.table(view.to), ...ddl.materializedView(view)]),
};

/** `resolutions_by_time`: the resolutions in chain order. */
export const resolutionsInOrder: Migration = {
  id: '0010_resolutions_by_time',
  statements: (ddl) => [...ddl.table(resolutionsByTime), ...ddl.materializedView(resolutionsView)],
};

/** Backfills rows that predate the views. Sinks do not run during migrations. */
export const fillTotalsBackfill: Migration = {
  id: '0015_fill_totals_backfill',
  statements: (ddl) => [...views, resolutionsView].flatMap((view) => ddl.backfill(view)),
};
