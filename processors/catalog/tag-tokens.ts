import type { Migration, TableSpec } from '../../infra/clickhouse/ddl.js';
import { markets } from './tables.js';

const tagTokens: TableSpec = {
  name: 'tag_tokens',
  columns: `
      tag String,
      token_id UInt256,
      _offset UInt64`,
  engine: 'ReplacingMergeTree',
  engineArgs: ['_offset'],
  orderBy: '(tag, token_id)',
  settings: ['index_granularity = 1024'],
  placement: 'everywhere',
};

const tagTokensView = {
  name: 'tag_tokens_mv',
  from: markets,
  to: tagTokens,
  select: (from: string) =>
    `SELECT arrayJoin(tag_slugs) AS tag, arrayJoin(token_ids) AS token_id, _offset FROM ${from}`,
} as const;

/**
 * `tag_tokens`: the outcome tokens of each tag, from every version of a market, so also tokens that lost the tag (`token_tags` has the current tags). A cluster
 * fills it from the log: `npm run rebuild -- markets`.
 */
export const tagTokenTables: Migration = {
  id: '0053_tag_tokens',
  statements: (ddl) => [
    ...ddl.table(tagTokens),
    ...ddl.materializedView(tagTokensView),
    ...ddl.backfill(tagTokensView),
  ],
};
