import type { MaterializedViewSpec, Migration, TableSpec } from '../../infra/clickhouse/ddl.js';
import { blocks } from '../chain/tables.js';
import { ticks } from '../oracle/tables.js';

const blockLogs: TableSpec = {
  name: 'block_logs',
  columns: `
      block_number UInt64,
      timestamp DateTime('UTC'),
      contracts Array(String),
      logs Array(UInt64),
      decoded Array(UInt64),
      records Array(UInt64),
      _offset UInt64,
      INDEX block_logs_offset _offset TYPE minmax GRANULARITY 1`,
  engine: 'ReplacingMergeTree',
  engineArgs: ['_offset'],
  orderBy: 'block_number',
  placement: 'everywhere',
};

const coverageChain: TableSpec = {
  name: 'coverage_chain',
  columns: `
      source LowCardinality(String),
      bucket DateTime('UTC'),
      records SimpleAggregateFunction(sum, UInt64),
      logs SimpleAggregateFunction(sum, UInt64),
      decoded SimpleAggregateFunction(sum, UInt64),
      first_block SimpleAggregateFunction(min, UInt64),
      last_block SimpleAggregateFunction(max, UInt64),
      first_at SimpleAggregateFunction(min, DateTime('UTC')),
      last_at SimpleAggregateFunction(max, DateTime('UTC'))`,
  engine: 'AggregatingMergeTree',
  orderBy: '(source, bucket)',
  placement: 'everywhere',
};

export const coverageFeeds: TableSpec = {
  name: 'coverage_feeds',
  columns: `
      feed LowCardinality(String),
      twap_window_s UInt16,
      source LowCardinality(String),
      bucket DateTime('UTC'),
      records SimpleAggregateFunction(sum, UInt64),
      first_at SimpleAggregateFunction(min, DateTime64(3, 'UTC')),
      last_at SimpleAggregateFunction(max, DateTime64(3, 'UTC')),
      last_change SimpleAggregateFunction(max, DateTime64(3, 'UTC'))`,
  engine: 'AggregatingMergeTree',
  orderBy: '(feed, twap_window_s, source, bucket)',
  placement: 'with its source',
};

const blocksView: MaterializedViewSpec = {
  name: 'coverage_blocks_mv',
  from: blocks,
  to: coverageChain,
  select: (
    from,
  ) => `SELECT 'blocks' AS source, toStartOfMinute(b.timestamp) AS bucket, count() AS records, toUInt64(0) AS logs, toUInt64(0) AS decoded,
      min(b.block_number) AS first_block, max(b.block_number) AS last_block, min(b.timestamp) AS first_at, max(b.timestamp) AS last_at
    FROM ${from} AS b GROUP BY bucket`,
};

/** `counted`: number of blocks whose logs were counted by contract. Blocks written by older versions are not. */
const contractsView: MaterializedViewSpec = {
  name: 'coverage_contracts_mv',
  from: blockLogs,
  to: coverageChain,
  select: (
    from,
  ) => `SELECT tupleElement(c, 1) AS source, toStartOfDay(b.timestamp) AS bucket, sum(tupleElement(c, 2)) AS records, sum(tupleElement(c, 3)) AS logs,
      sum(tupleElement(c, 4)) AS decoded,
      min(b.block_number) AS first_block, max(b.block_number) AS last_block, min(b.timestamp) AS first_at, max(b.timestamp) AS last_at
    FROM ${from} AS b
    ARRAY JOIN arrayConcat([('counted', toUInt64(1), toUInt64(0), toUInt64(0))], arrayZip(b.contracts, b.records, b.logs, b.decoded)) AS c
    GROUP BY source, bucket`,
};

const feedsView: MaterializedViewSpec = {
  name: 'coverage_feeds_mv',
  from: ticks,
  to: coverageFeeds,
  select: (
    from,
  ) => `SELECT feed, twap_window_s, source, toStartOfMinute(toDateTime(timestamp_ms, 'UTC')) AS bucket, count() AS records,
      min(timestamp_ms) AS first_at, max(timestamp_ms) AS last_at, max(received_at) AS last_change
    FROM ${from} GROUP BY feed, twap_window_s, source, bucket`,
};

/** Tables and views filled by the chain sink. */
const chainStatements: Migration['statements'] = (ddl) => [
  ...ddl.table(blockLogs),
  ...ddl.table(coverageChain),
  ...ddl.materializedView(blocksView),
  ...ddl.materializedView(contractsView),
  ...ddl.backfill(blocksView),
];

/** Tables and views filled by the oracle sink. */
const feedStatements: Migration['statements'] = (ddl) => [
  ...ddl.table(coverageFeeds),
  ...ddl.materializedView(feedsView),
  ...ddl.backfill(feedsView),
];

/**
 * Records of each source in the log, for `coverage`. `block_logs`: logs of a final block by contract. `coverage_chain`: blocks by minute (source `blocks`),
 * logs and records by contract address and day. `coverage_feeds`: ticks by feed and minute. A cluster fills them from the log: `npm run rebuild -- blocks`
 * and `npm run rebuild -- ticks`.
 */
export const coverageTables: Migration = {
  id: '0043_coverage',
  statements: (ddl) => [...chainStatements(ddl), ...feedStatements(ddl)],
};

export const chainCoverage: Pick<Migration, 'statements'> = { statements: chainStatements };
export const feedCoverage: Pick<Migration, 'statements'> = { statements: feedStatements };
