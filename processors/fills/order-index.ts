import type { IndexSpec, Migration } from '../../infra/clickhouse/ddl.js';
import { fills, fillsByWallet } from './tables.js';

/** The fills of one order are close in time, so the index skips all other granules. */
export const orderHashes: IndexSpec = {
  name: 'fills_order_hash',
  on: fills,
  expression: 'order_hash',
  type: 'bloom_filter(0.01) GRANULARITY 1',
};

export const fillsOrderIndex: Migration = {
  id: '0006_fills_order_index',
  statements: (ddl) => ddl.index(orderHashes),
};

export const walletVersions: IndexSpec = {
  name: 'fills_wallet_version',
  on: fillsByWallet,
  expression: 'exchange_version',
  type: 'minmax GRANULARITY 1',
};

/** For queries over the whole table without token, wallet or builder: the indexes skip granules by amount and time. */
export const fillsFilterIndexes: Migration = {
  id: '0012_fills_filter_indexes',
  statements: (ddl) => [
    ...ddl.index({ name: 'fills_usdc', on: fills, expression: 'usdc', type: 'minmax GRANULARITY 1' }),
    ...ddl.index({ name: 'fills_timestamp', on: fills, expression: 'timestamp', type: 'minmax GRANULARITY 1' }),
    ...ddl.index(walletVersions),
  ],
};
