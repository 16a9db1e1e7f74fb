import { expect, it } from 'vitest';
import type { NewRecord } from '../../infra/log/port.js';
import { silentLogger } from '../../infra/telemetry/logger.js';
import { createMetrics } from '../../infra/telemetry/metrics.js';
import { createCodec } from '../../schemas/codec.js';
import type { SocialPost } from '../../schemas/types.gen.js';
import type { Sql, Tables } from '../tables/port.js';
import { createKnownContent } from './known-content.js';
import { createPostWriter } from './post-writer.js';

const post = (id: string, body: object = {}): SocialPost => ({
  id,
  author_id: '31',
  author_username: 'quietfox',
  author_name: 'Quiet Fox',
  text: 'Odds',
  created_at_ms: 1_000 + Number(id),
  conversation_id: id,
  fetched_at_ms: 5_000,
  body: JSON.stringify({ id, text: 'Odds', public_metrics: {}, author: {}, ...body }),
  lang: 'en',
  reply_to_username: '',
  is_reply: false,
  is_repost: false,
  has_media: false,
  has_links: false,
  like_count: 0,
  retweet_count: 0,
  reply_count: 0,
});
const codec = createCodec();

function writerOver(rows: (sql: Sql) => Promise<unknown[]>) {
  const records: NewRecord[] = [];
  const writer = createPostWriter({
    log: {
      append: async (_topic, batch) => {
        records.push(...batch);
        return [];
      },
    },
    codec,
    known: createKnownContent({ tables: { rows: rows as Tables['rows'] }, logger: silentLogger() }),
    metrics: createMetrics({ process: 'test', defaults: false }),
    nowMs: () => 5_000,
  });
  const append = (parts: Partial<Parameters<typeof writer.append>[0]>) =>
    writer.append({ posts: [], others: [], referenced: [], rejected: [], failure: null, ...parts });
  return { append, records };
}

it('referenced posts are left out while the table cannot be read, as they might replace better ones', async () => {
  const { append, records } = writerOver(async () => {
    throw new Error('unreachable');
  });
  await append({ posts: [post('1')], others: [post('2')], referenced: [post('3')] });
  expect(records.map(({ key }) => key).sort()).toEqual(['1', '2']);
});

it('stored posts are asked for in parts, and not at all without referenced ones', async () => {
  const asked: Sql[] = [];
  const { append, records } = writerOver(async (sql) => {
    asked.push(sql);
    return [];
  });
  await append({ posts: [post('1')] });
  expect(asked).toEqual([]);
  await append({ referenced: Array.from({ length: 2_001 }, (_, n) => post(String(10 + n))) });
  expect(asked.map(({ params }) => [(params.ids as string[]).length, params.from, params.to])).toEqual([
    [2_000, 1_010, 3_009],
    [1, 3_010, 3_010],
  ]);
  expect(records).toHaveLength(2_002);
});

it('a copy that comes while the table is read does not replace a post appended meanwhile', async () => {
  let release: (rows: unknown[]) => void = () => undefined;
  const { append, records } = writerOver(() => new Promise((resolve) => (release = resolve)));
  const copying = append({ referenced: [post('1')] });
  await append({ posts: [post('1', { quoted_tweet: { id: '9' } })] });
  release([]);
  await copying;
  const bodies = records.map(({ value }) => JSON.parse((codec.decode(value as Buffer).value as SocialPost).body));
  expect(bodies.map(({ quoted_tweet }) => quoted_tweet)).toEqual([{ id: '9' }, { id: '9' }]);
});
