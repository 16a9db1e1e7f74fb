import type { Migration, TableSpec } from '../../infra/clickhouse/ddl.js';

const socialPosts: TableSpec = {
  name: 'social_posts',
  columns: `
      id String,
      created_at DateTime64(3, 'UTC'),
      fetched_at DateTime64(3, 'UTC'),
      author_id String,
      author_username String,
      author_name String,
      conversation_id String,
      text String,
      lang LowCardinality(String),
      reply_to_username String,
      is_reply Bool,
      is_repost Bool,
      has_media Bool,
      has_links Bool,
      likes UInt64,
      retweets UInt64,
      replies UInt64,
      terms Array(String),
      words String,
      body String,
      _offset UInt64,
      INDEX terms_bloom terms TYPE bloom_filter(0.01) GRANULARITY 1,
      INDEX id_bloom id TYPE bloom_filter(0.01) GRANULARITY 1`,
  engine: 'ReplacingMergeTree',
  engineArgs: ['_offset'],
  // The time of a post never changes: an edited post is a new one.
  orderBy: '(created_at, id)',
  settings: ['index_granularity = 256'],
  placement: 'everywhere',
};

/**
 * `social_posts`: posts in the form of their last fetch (read with FINAL). `body`: the post as served, JSON. `terms` and `words`: what queries are evaluated
 * on, see schemas/social/document.ts.
 */
export const socialTables: Migration = {
  id: '0063_social_posts',
  statements: (ddl) => [...ddl.table(socialPosts)],
};
