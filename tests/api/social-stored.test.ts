import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { searchSql } from '../../api/social/posts.sql.js';
import { createClickHouseTables } from '../../api/tables/clickhouse-tables.js';
import { socialSink } from '../../processors/social/sink.js';
import { parseQuery } from '../../schemas/social/query/parse.js';
import { naivePost, naiveQuery } from '../../schemas/social/testing/naive-query.js';
import type { SocialPost } from '../../schemas/types.gen.js';
import { type ApiHarness, startApi } from '../support/api.js';
import { insertRecords } from '../support/positions.js';

const NOW = Date.UTC(2026, 5, 2);
const POSTS = 200;
const QUERIES = 150;
let api: ApiHarness;
let posts: readonly SocialPost[];

const store = (records: readonly SocialPost[]) =>
  insertRecords(
    api.clickhouse,
    socialSink,
    records.map((value) => ({ kind: 'social_post', value })),
  );
const newestFirst = (a: SocialPost, b: SocialPost) => b.created_at_ms - a.created_at_ms || Number(b.id) - Number(a.id);

beforeAll(async () => {
  api = await startApi({ nowMs: NOW });
  posts = fc
    .sample(naivePost, { numRuns: POSTS, seed: 7 })
    .map((post, i) => ({ ...post, id: String(90 + i), body: JSON.stringify({ id: String(90 + i) }) }));
  await store(posts);
});
afterAll(() => api?.stop());

describe('stored posts', () => {
  it('are those of the naive matcher for any query, newest first', async () => {
    const tables = createClickHouseTables(api.clickhouse);
    const queries = fc
      .sample(naiveQuery, { numRuns: 4 * QUERIES, seed: 8 })
      .filter(({ searchable }) => searchable)
      .slice(0, QUERIES);
    expect(queries).toHaveLength(QUERIES);
    let matched = 0;
    for (const query of queries) {
      const rows = await tables.rows<{ id: string }>(searchSql(parseQuery(query.text), 50));
      const expected = posts.filter(query.test).sort(newestFirst).slice(0, 50);
      expect([query.text, rows.map(({ id }) => id)]).toEqual([query.text, expected.map(({ id }) => id)]);
      if (expected.length > 0 && expected.length < POSTS) matched += 1;
    }
    expect(matched).toBeGreaterThan(QUERIES / 2);
  });

  it('answer requests while no platform is configured, and say so', async () => {
    const post: SocialPost = {
      ...(posts[0] as SocialPost),
      id: '5001',
      author_username: 'QuietFox',
      text: 'Only here: zebra',
      created_at_ms: NOW - 60_000,
      fetched_at_ms: NOW - 5_000,
    };
    const metrics = { retweet_count: 0, reply_count: 0, quote_count: 0, bookmark_count: 0, impression_count: '7' };
    const served = (likes: number) => ({
      id: '5001',
      text: post.text,
      created_at: 'Mon Jun 01 23:59:00 +0000 2026',
      public_metrics: { ...metrics, like_count: likes },
      author: { id: '1', name: 'Name', username: 'QuietFox' },
      conversation_id: '1',
    });
    await store([{ ...post, body: JSON.stringify(served(1)) }]);
    const key = await api.key('starter');
    const page = { tweets: [served(1)], result_count: 1, fetched_at: '2026-06-01T23:59:55Z', source: 'stored' };
    const found = await api.get('/v2/x/search?q=zebra', key);
    expect(found).toMatchObject({ status: 200, body: { query: 'zebra', ...page } });
    expect([found.headers.get('x-quota-used'), found.headers.get('x-quota-limit')]).toEqual(['1', '500']);
    api.clock.nowMs += 1_000;
    expect((await api.get('/v2/x/user/quietFOX/tweets', key)).body).toEqual({ handle: 'quietFOX', ...page });
    api.clock.nowMs += 1_000;
    expect(await api.get('/v2/x/user/stranger/tweets', key)).toMatchObject({
      status: 404,
      body: { error: 'Handle not found' },
    });
  });
});
