import type { IndexSpec, MaterializedViewSpec, Migration, TableSpec } from '../../infra/clickhouse/ddl.js';
import { tokenPricesSelect } from '../markets/token-prices.js';
import { walletVersions } from './order-index.js';
import { byBuilder, byToken, byWallet, fills, fillsByBuilder } from './tables.js';
import { candleViews } from './totals.js';

/** A REST page reads a hundred rows of every part, so granules and compressed blocks are not larger than a few pages. */
const withGranularity = (spec: TableSpec, rows: number): TableSpec => ({
  ...spec,
  settings: [`index_granularity = ${rows}`, 'min_compress_block_size = 16384'],
});

const copies: readonly MaterializedViewSpec[] = [
  ...[byWallet, byToken, byBuilder].map((view) => ({ ...view, to: withGranularity(view.to, 512) })),
  ...candleViews.map((view) => ({ ...view, to: withGranularity(view.to, 256) })),
];

const lastPrices: MaterializedViewSpec = {
  name: 'last_prices_mv',
  from: fills,
  to: {
    name: 'last_prices',
    columns: `
      token_id UInt256,
      usdc UInt64,
      shares UInt64,
      timestamp DateTime('UTC'),
      place UInt64`,
    engine: 'ReplacingMergeTree',
    engineArgs: ['place'],
    orderBy: 'token_id',
    settings: ['index_granularity = 256'],
    placement: 'with its source',
  },
  select: (from) => `SELECT token_id, newest.1 AS usdc, newest.2 AS shares, newest.3 AS timestamp, newest.4 AS place
    FROM (
      SELECT token_id, argMax((usdc, shares, timestamp, block_number * 1048576 + log_index), (block_number, log_index)) AS newest
      FROM ${from} WHERE NOT is_taker_order AND shares > 0 GROUP BY token_id
    )`,
};

/**
 * The copies of `fills` and the candles in finer granules, and `last_prices` with plain columns: the newest maker fill per token by `place` = block x 2^20 + log
 * index. A cluster fills them from the log: `npm run rebuild -- fills`.
 */
export const fillsFineGranularity: Migration = {
  id: '0041_finer_fills',
  statements: (ddl) => [
    ...[...copies, lastPrices].flatMap((view) => [
      ...ddl.drop(view),
      ...ddl.table(view.to),
      ...ddl.materializedView(view),
      ...ddl.backfill(view),
    ]),
    ...ddl.index(walletVersions),
    ...ddl.replaceView('token_prices', tokenPricesSelect),
  ],
};

/** A builder's fills before a time are below its newest ones, which the index skips. Added by `processors/wide-filters.ts`. */
export const builderTimes: IndexSpec = {
  name: 'fills_builder_timestamp',
  on: fillsByBuilder,
  expression: 'timestamp',
  type: 'minmax GRANULARITY 1',
};
