import type { Migration, TableSpec } from '../../infra/clickhouse/ddl.js';
import { markets } from './tables.js';

const tokenTags: TableSpec = {
  name: 'token_tags',
  columns: `
      token_id UInt256,
      tags Array(LowCardinality(String)),
      _offset UInt64`,
  engine: 'ReplacingMergeTree',
  engineArgs: ['_offset'],
  orderBy: 'token_id',
  settings: ['index_granularity = 128', 'min_compress_block_size = 16384'],
  placement: 'everywhere',
};

const tokenTagsView = {
  name: 'token_tags_mv',
  from: markets,
  to: tokenTags,
  select: (from: string) => `SELECT arrayJoin(token_ids) AS token_id, tag_slugs AS tags, _offset FROM ${from}`,
} as const;

/**
 * `token_tags`: the tags of the market of an outcome token, newest version (read with FINAL). `taggedTokens` uses it to check a few tokens for a tag;
 * `tag_tokens` lists all tokens that ever had it. A cluster fills it from the log: `npm run rebuild -- markets`.
 */
export const tokenTagTables = {
  statements: (ddl) => [
    ...ddl.table(tokenTags),
    ...ddl.materializedView(tokenTagsView),
    ...ddl.backfill(tokenTagsView),
  ],
} satisfies Pick<Migration, 'statements'>;
