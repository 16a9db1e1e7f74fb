import type { Migration, TableSpec } from '../../infra/clickhouse/ddl.js';
import { positions } from '../positions/tables.js';

const walletTags: TableSpec = {
  name: 'wallet_tags',
  columns: `
      tag LowCardinality(String),
      wallet FixedString(20) CODEC(ZSTD(1)),
      fills UInt64,
      volume UInt64,
      markets UInt32,
      version UInt64`,
  engine: 'ReplacingMergeTree',
  engineArgs: ['version'],
  orderBy: '(tag, wallet)',
  // Requests read a few hundred wallets that are spread over all rows of a tag.
  settings: ['index_granularity = 256'],
  placement: 'everywhere',
};

const tokenTags: TableSpec = {
  name: 'overlap_token_tags',
  columns: `
      token_id UInt256,
      condition_id String,
      tags Array(LowCardinality(String)),
      former Array(LowCardinality(String)),
      version UInt64`,
  engine: 'ReplacingMergeTree',
  engineArgs: ['version'],
  orderBy: 'token_id',
  settings: ['index_granularity = 256'],
  placement: 'everywhere',
};

const walletTagsProgress: TableSpec = {
  name: 'wallet_tags_progress',
  columns: `
      source LowCardinality(String),
      partition UInt16,
      next_offset UInt64,
      version UInt64`,
  engine: 'ReplacingMergeTree',
  engineArgs: ['version'],
  orderBy: '(source, partition)',
  placement: 'everywhere',
};

/**
 * `wallet_tags`: sums of a wallet's own orders over the markets of a tag: fills, volume (USDC bought and sold, base units), distinct conditions. Newest
 * version per key; fills are 0 if all of the wallet's markets lost the tag. `wallet` is the address as 20 bytes. `overlap_token_tags`: the tags of each
 * token that the sums were computed with, and in `former` the tags that it lost. `wallet_tags_progress`: offsets of `positions` and `catalog` before
 * which every record is in the sums; `version` orders the passes. All three are derived: if they are emptied, they are computed again.
 */
export const walletTagsTables: Migration = {
  id: '0058_wallet_tags',
  statements: (ddl) => [
    ...ddl.table(walletTags),
    ...ddl.table(tokenTags),
    ...ddl.table(walletTagsProgress),
    // Each pass reads the positions that changed since the last one.
    ...ddl.index({ name: 'positions_offset', on: positions, expression: '_offset', type: 'minmax GRANULARITY 1' }),
  ],
};

/** Tables that a rebuild of the positions or the catalogue empties, in this order: without progress the next pass computes them from offset 0. */
export const walletTagsComputedTables: readonly TableSpec[] = [walletTagsProgress, tokenTags, walletTags];
