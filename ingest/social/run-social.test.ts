import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { afterEach, expect, it } from 'vitest';
import { FatalError } from '../../infra/errors.js';
import { createMemoryLog } from '../../infra/log/testing.js';
import { silentLogger } from '../../infra/telemetry/logger.js';
import { createCodec } from '../../schemas/codec.js';
import { allTopics, topics } from '../../schemas/topics.js';
import type { RejectedInput } from '../shared/dead-letters.js';
import { readRecordedPosts } from './recorded-posts.js';
import { runSocial } from './run-social.js';

const directories: string[] = [];
afterEach(() => {
  for (const directory of directories.splice(0)) rmSync(directory, { recursive: true });
});

function recording(files: Readonly<Record<string, string>>): string {
  const directory = mkdtempSync(join(tmpdir(), 'posts-'));
  directories.push(directory);
  mkdirSync(join(directory, 'social'));
  for (const [name, text] of Object.entries(files)) writeFileSync(join(directory, 'social', name), text);
  return directory;
}

it('recorded posts are appended once, with the time of their recording', async () => {
  const log = createMemoryLog();
  await log.ensureTopics(allTopics);
  const codec = createCodec();
  const dead: RejectedInput[] = [];
  const run = async (recordedDir: string) =>
    runSocial({
      pages: await readRecordedPosts(recordedDir),
      log,
      codec,
      deadLetters: { put: async (input) => void dead.push(input) },
      logger: silentLogger(),
      signal: new AbortController().signal,
    });
  const set = resolve('tests/recorded/set');
  await run(set);
  const first = log.all(topics.socialPosts.name);
  // 7 posts of the search, 8 synthetic ones.
  expect(first).toHaveLength(15);
  expect(new Set(first.map(({ key }) => key)).size).toBe(15);
  const values = first.map(({ value }) => codec.decode(value as Buffer));
  expect(values.find(({ value }) => (value as { id: string }).id === '1149602393828364294')).toMatchObject({
    kind: 'social_post',
    value: { author_username: 'Independent', like_count: 28, fetched_at_ms: Date.UTC(2019, 6, 12, 23, 45) },
  });
  await run(set);
  expect(log.all(topics.socialPosts.name)).toHaveLength(15);
  const unreadable = { fetched_at: '2026-01-01T00:00:00Z', data: [{ id: 'x' }] };
  await run(recording({ 'a.json': JSON.stringify(unreadable), 'notes.txt': 'not read' }));
  expect(dead).toMatchObject([{ origin: 'social', stage: 'social.decode', payload: '{"id":"x"}' }]);
});

it('a recorded post remains as its own page has it, also when a later page includes a copy', async () => {
  const log = createMemoryLog();
  await log.ensureTopics(allTopics);
  const codec = createCodec();
  const post = (id: string, quoted?: string) => ({
    id,
    text: 'Odds',
    created_at: '2026-05-22T20:00:11.000Z',
    author_id: '31',
    ...(quoted === undefined ? {} : { referenced_tweets: [{ type: 'quoted', id: quoted }] }),
  });
  const page = (own: object, quoted: object) =>
    JSON.stringify({
      fetched_at: '2026-05-23T00:00:00Z',
      data: [own],
      includes: { users: [{ id: '31', name: 'Quiet Fox', username: 'quietfox' }], tweets: [quoted] },
    });
  await runSocial({
    pages: await readRecordedPosts(
      recording({ 'a.json': page(post('2', '1'), post('1')), 'b.json': page(post('3', '2'), post('2', '1')) }),
    ),
    log,
    codec,
    deadLetters: { put: async () => undefined },
    logger: silentLogger(),
    signal: new AbortController().signal,
  });
  const records = log.all(topics.socialPosts.name);
  expect(records.map(({ key }) => key).sort()).toEqual(['1', '2', '3']);
  const { value } = codec.decode(records.find(({ key }) => key === '2')?.value as Buffer);
  expect(JSON.parse((value as { body: string }).body)).toMatchObject({ quoted_tweet: { id: '1' } });
});

it('a recording without posts has none, and one that is damaged is an error for the operator', async () => {
  expect(await readRecordedPosts(tmpdir())).toEqual([]);
  await expect(readRecordedPosts(recording({ 'a.json': '{' }))).rejects.toThrow(FatalError);
  await expect(readRecordedPosts(recording({ 'a.json': '{"data":1}' }))).rejects.toThrow(/is not a recorded page/);
});
