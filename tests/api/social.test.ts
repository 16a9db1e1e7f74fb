import type { ServerResponse } from 'node:http';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { RetryableError } from '../../infra/errors.js';
import { createPlatform } from '../../infra/social/platform/platform.js';
import { silentLogger } from '../../infra/telemetry/logger.js';
import { socialSink } from '../../processors/social/sink.js';
import { createCodec } from '../../schemas/codec.js';
import { topics } from '../../schemas/topics.js';
import type { SocialPost } from '../../schemas/types.gen.js';
import { type ApiHarness, startApi } from '../support/api.js';
import {
  type FakePlatform,
  rawPage,
  rawPost,
  silence,
  startFakePlatform,
  status,
} from '../support/fake-social-platform.js';
import { insertRecords } from '../support/positions.js';

const NOW = Date.UTC(2026, 4, 23, 12);
let api: ApiHarness;
let fake: FakePlatform;
/** How long the platform may take to reply; long, so that no request of a busy machine is repeated. */
let timeoutMs = 60_000;

beforeAll(async () => {
  fake = await startFakePlatform();
  api = await startApi({
    nowMs: NOW,
    platform: (metrics) =>
      createPlatform({
        url: fake.url,
        token: 'secret-token',
        fullArchive: false,
        logger: silentLogger(),
        metrics,
        nowMs: () => api.clock.nowMs,
        pause: async () => undefined,
        get timeoutMs() {
          return timeoutMs;
        },
      }),
  });
});
afterAll(async () => {
  await api?.stop();
  await fake?.close();
});
beforeEach(() => {
  fake.requests.length = 0;
  fake.replies = [];
  // Results and rate limits of the previous test are over.
  api.clock.nowMs += 1_000_000;
});

interface Page {
  readonly tweets: readonly { readonly id: string; readonly text: string }[];
  readonly result_count: number;
  readonly fetched_at: string;
  readonly source: string;
}
const get = async (path: string, key?: string) => api.get(`/v2/x/${path}`, key ?? (await api.key('starter')));
const search = (q: string, key?: string) => get(`search?q=${encodeURIComponent(q)}`, key);
const idsOf = (body: unknown) => (body as Page).tweets.map(({ id }) => id);
const quotaOf = ({ headers }: { headers: Headers }) => [headers.get('x-quota-used'), headers.get('x-quota-limit')];

describe('GET /v2/x/search', () => {
  it('returns the posts of the platform, newest first, in the served form', async () => {
    fake.replies = [
      rawPage([
        rawPost({ id: '2', createdAt: '2026-05-22T20:00:00.000Z' }),
        rawPost({
          id: '3',
          text: 'Odds moved to 41% https://t.co/x',
          createdAt: '2026-05-22T20:00:11.000Z',
          likes: 12,
          more: {
            entities: {
              urls: [
                {
                  start: 18,
                  end: 32,
                  url: 'https://t.co/x',
                  expanded_url: 'https://news.example/a',
                  display_url: 'news.example/a',
                  title: 'A',
                  description: 'B',
                },
              ],
            },
          },
        }),
      ]),
    ];
    const reply = await search('from:quietfox odds since:2026-05-20');
    expect(reply.status).toBe(200);
    expect(reply.body).toMatchObject({
      query: 'from:quietfox odds since:2026-05-20',
      result_count: 2,
      fetched_at: new Date(api.clock.nowMs).toISOString().replace('.000Z', 'Z'),
      source: 'platform',
    });
    expect((reply.body as Page).tweets[0]).toEqual({
      id: '3',
      text: 'Odds moved to 41% https://news.example/a',
      created_at: 'Fri May 22 20:00:11 +0000 2026',
      public_metrics: {
        retweet_count: 3,
        reply_count: 1,
        like_count: 12,
        quote_count: 0,
        bookmark_count: 2,
        impression_count: '904',
      },
      author: { id: '31', name: 'Quiet Fox', username: 'quietfox' },
      conversation_id: '3',
      urls: [
        {
          url: 'https://t.co/x',
          expanded_url: 'https://news.example/a',
          display_url: 'news.example/a',
          title: 'A',
          description: 'B',
        },
      ],
      card: {
        name: 'summary',
        url: 'https://news.example/a',
        title: 'A',
        description: 'B',
        domain: 'news.example',
      },
    });
    expect(idsOf(reply.body)).toEqual(['3', '2']);
    expect(fake.requests).toMatchObject([
      {
        path: '/2/tweets/search/recent',
        authorization: 'Bearer secret-token',
        params: {
          query: 'from:quietfox odds',
          start_time: '2026-05-20T00:00:00Z',
          max_results: '20',
          sort_order: 'recency',
        },
      },
    ]);
  });

  it('appends every post seen to social.posts, and unreadable ones to dead.letters', async () => {
    const before = api.log.all(topics.socialPosts.name).length;
    const quoted = rawPost({ id: '102', text: 'The quoted one' });
    const quoting = rawPost({ id: '101', more: { referenced_tweets: [{ type: 'quoted', id: '102' }] } });
    fake.replies = [rawPage([quoting, { id: 'broken' }], { includes: { tweets: [quoted] } })];
    const reply = await search('odds');
    expect(idsOf(reply.body)).toEqual(['101']);
    expect((reply.body as { tweets: unknown[] }).tweets[0]).toMatchObject({ quoted_tweet: { id: '102' } });
    const added = api.log.all(topics.socialPosts.name).slice(before);
    expect(added.map(({ key }) => key).sort()).toEqual(['101', '102']);
    const dead = api.log.all(topics.deadLetters.name).at(-1);
    expect(createCodec().decode(dead?.value as Buffer)).toMatchObject({
      kind: 'dead_letter',
      value: { origin: 'social', stage: 'social.decode', payload: '{"id":"broken"}' },
    });
  });

  it('filters by what the platform cannot evaluate, over several pages', async () => {
    const likes = [5, 40, 3, 50];
    fake.replies = [
      rawPage(
        likes.map((count, i) => rawPost({ id: String(200 - i), likes: count })),
        { nextToken: 'p2' },
      ),
      rawPage([rawPost({ id: '190', likes: 60 })]),
    ];
    const reply = await search('odds min_faves:40 (poll min_replies:9 OR odds)');
    expect(idsOf(reply.body)).toEqual(['199', '197', '190']);
    expect(fake.requests.map(({ params }) => [params.query, params.max_results, params.next_token])).toEqual([
      ['odds (poll OR odds)', '100', undefined],
      ['odds (poll OR odds)', '100', 'p2'],
    ]);
  });

  it('returns and stores what the pages before a failed one have', async () => {
    const before = api.log.all(topics.socialPosts.name).length;
    fake.replies = [
      rawPage([rawPost({ id: '210', likes: 50 }), rawPost({ id: '211' })], { nextToken: 'p2' }),
      status(429, { title: 'Too Many Requests' }),
    ];
    expect(await search('partial min_faves:40')).toMatchObject({ status: 200, body: { result_count: 1 } });
    api.clock.nowMs += 1_000_000;
    fake.replies = [
      rawPage([rawPost({ id: '212', likes: 50 })], { nextToken: 'p2' }),
      { errors: [{ title: 'Authorization Error' }] },
    ];
    expect(idsOf((await search('partial min_faves:41')).body)).toEqual(['212']);
    // Without a match, no posts would mean that there are none.
    fake.replies = [
      rawPage([rawPost({ id: '213' })], { nextToken: 'p2' }),
      ...Array.from({ length: 3 }, () => status(503)),
    ];
    expect((await search('partial min_faves:42')).status).toBe(502);
    const added = api.log.all(topics.socialPosts.name).slice(before);
    expect(added.map(({ key }) => key).sort()).toEqual(['210', '211', '212', '213']);
  });

  it.each(['appended just now', 'in the table'])(
    'keeps a post %s when another includes a copy of it',
    async (where) => {
      const id = where === 'in the table' ? '222' : '221';
      const createdAt = '2026-05-22T20:00:11.000Z';
      const replying = { in_reply_to_user_id: '33', referenced_tweets: [{ type: 'quoted', id: '220' }] };
      const users = [{ id: '33', name: 'Asker', username: 'asker' }];
      const whole = rawPost({ id, createdAt, likes: 1, more: replying });
      fake.replies = [rawPage([whole], { includes: { tweets: [rawPost({ id: '220' })], users } })];
      await search(`whole ${id}`);
      const lastOf = (key: string) => {
        const record = api.log.all(topics.socialPosts.name).findLast((one) => one.key === key);
        return createCodec().decode(record?.value as Buffer).value as SocialPost;
      };
      const first = lastOf(id);
      expect(first).toMatchObject({ reply_to_username: 'asker', like_count: 1 });
      const known = where === 'in the table' ? '223' : id;
      const ofKnown = { ...first, id: known, body: first.body.replaceAll(id, known) };
      // As another process has appended it.
      if (known !== id) await insertRecords(api.clickhouse, socialSink, [{ kind: 'social_post', value: ofKnown }]);
      const quoting = rawPost({ id: '224', more: { referenced_tweets: [{ type: 'quoted', id: known }] } });
      fake.replies = [
        rawPage([quoting], { includes: { tweets: [rawPost({ id: known, createdAt, likes: 9, more: replying })] } }),
      ];
      await search(`quoting ${known}`);
      const last = lastOf(known);
      expect(last).toMatchObject({ reply_to_username: 'asker', like_count: 9 });
      const expected = JSON.parse(ofKnown.body);
      expect(JSON.parse(last.body)).toEqual({
        ...expected,
        public_metrics: { ...expected.public_metrics, like_count: 9 },
        quoted_tweet: expect.objectContaining({ id: '220' }),
      });
    },
  );

  it('prefers a post of one page to a copy that the next page includes', async () => {
    const quotes = (id: string) => ({ referenced_tweets: [{ type: 'quoted', id }] });
    fake.replies = [
      rawPage([rawPost({ id: '231', more: quotes('230') })], {
        nextToken: 'p2',
        includes: { tweets: [rawPost({ id: '230' })] },
      }),
      rawPage([rawPost({ id: '232', more: quotes('231') })], {
        includes: { tweets: [rawPost({ id: '231', more: quotes('230') })] },
      }),
    ];
    expect((await search('pages min_faves:9')).status).toBe(200);
    const record = api.log.all(topics.socialPosts.name).findLast(({ key }) => key === '231');
    const { body } = createCodec().decode(record?.value as Buffer).value as SocialPost;
    expect(JSON.parse(body)).toMatchObject({ quoted_tweet: { id: '230' } });
  });

  it('reads at most ten pages', async () => {
    fake.replies = Array.from({ length: 12 }, (_, i) =>
      rawPage([rawPost({ id: String(300 + i) })], { nextToken: `${i}` }),
    );
    expect((await search('odds min_faves:1000')).body).toMatchObject({ result_count: 0, tweets: [] });
    expect(fake.requests).toHaveLength(10);
  });

  it('repeats the result of an equal query for 30 seconds without another request', async () => {
    fake.replies = [rawPage([rawPost({ id: '401' })]), rawPage([rawPost({ id: '402' })])];
    const first = await search('odds  FROM:quietfox');
    api.clock.nowMs += 29_000;
    const repeated = await search('odds from:QuietFox');
    expect([idsOf(repeated.body), fake.requests.length]).toEqual([['401'], 1]);
    expect((repeated.body as Page).fetched_at).toBe((first.body as Page).fetched_at);
    expect(quotaOf(repeated)).toEqual(['1', '500']);
    api.clock.nowMs += 1_000;
    expect([idsOf((await search('odds from:quietfox')).body), fake.requests.length]).toEqual([['402'], 2]);
  });

  it('sends one request for equal queries that arrive together', async () => {
    fake.replies = [rawPage([rawPost({ id: '411' })])];
    const keys = await Promise.all([1, 2, 3].map(() => api.key('growth')));
    const replies = await Promise.all(keys.map((key) => search('together', key)));
    expect(replies.map(({ status, body }) => [status, idsOf(body)])).toEqual([
      [200, ['411']],
      [200, ['411']],
      [200, ['411']],
    ]);
    expect(fake.requests).toHaveLength(1);
  });

  it('serves stored posts for times that the platform does not search', async () => {
    const reply = await search('odds until:2020-01-01');
    expect(reply.body).toMatchObject({ source: 'stored', result_count: 0 });
    expect(fake.requests).toEqual([]);
  });

  it.each<[string, number, string]>([
    ['search', 400, "Missing required query parameter 'q'"],
    ['search?q=', 400, "Missing required query parameter 'q'"],
    ['search?q=%20', 400, "Missing required query parameter 'q'"],
    ['search?q=odds&max=0', 422, 'max must be between 1 and 50'],
    ['search?q=odds&max=51', 422, 'max must be between 1 and 50'],
    ['search?q=odds&max=many', 422, 'max must be between 1 and 50'],
    ['user/quiet-fox/tweets', 422, 'Invalid handle'],
    ['user/@quietfox/tweets', 422, 'Invalid handle'],
    ['user/quietfox/tweets?max=51', 422, 'max must be between 1 and 50'],
  ])('%s is rejected with %d', async (path, code, error) => {
    const reply = await get(path);
    expect([reply.status, reply.body]).toEqual([code, { error }]);
    expect(fake.requests).toEqual([]);
  });

  it('names the position of an error in the query', async () => {
    expect(await search('odds (poll')).toMatchObject({
      status: 400,
      body: { error: 'Invalid query at character 6: the parenthesis is not closed', position: 6 },
    });
  });
});

describe('GET /v2/x/user/{handle}/tweets', () => {
  it('looks the user up and returns the posts', async () => {
    fake.replies = [{ data: { id: '31', name: 'Quiet Fox', username: 'quietfox' } }, rawPage([rawPost({ id: '501' })])];
    const reply = await get('user/QuietFox/tweets?max=3');
    expect(reply).toMatchObject({ status: 200, body: { handle: 'QuietFox', result_count: 1, source: 'platform' } });
    expect(fake.requests.map(({ path, params }) => [path, params.max_results])).toEqual([
      ['/2/users/by/username/QuietFox', undefined],
      ['/2/users/31/tweets', '5'],
    ]);
  });

  it('returns 404 for an unknown handle, which does not count', async () => {
    const key = await api.key('starter');
    fake.replies = [
      { errors: [{ title: 'Not Found Error', type: 'https://api.x.com/2/problems/resource-not-found' }] },
    ];
    expect(await get('user/nobody/tweets', key)).toMatchObject({ status: 404, body: { error: 'Handle not found' } });
    api.clock.nowMs += 1_000;
    fake.replies = [
      { data: { id: '32', name: 'Protected', username: 'hidden' } },
      { errors: [{ title: 'Authorization Error', type: 'https://api.x.com/2/problems/not-authorized-for-resource' }] },
    ];
    expect(await get('user/hidden/tweets', key)).toMatchObject({ status: 404, body: { error: 'Handle not found' } });
    api.clock.nowMs += 1_000;
    fake.replies = [{ data: { id: '31', name: 'Quiet Fox', username: 'quietfox' } }, rawPage([])];
    expect(quotaOf(await get('user/quietfox/tweets', key))).toEqual(['1', '500']);
  });
});

describe('failures of the platform', () => {
  const failing = { status: 502, body: { error: 'upstream error, retry shortly' } };

  it('its rate limit is 502 with the time until its reset, and no request is sent before', async () => {
    const resetS = Math.floor(api.clock.nowMs / 1000) + 90;
    fake.replies = [status(429, { title: 'Too Many Requests' }, { 'x-rate-limit-reset': String(resetS) })];
    const first = await search('limited');
    expect(first).toMatchObject(failing);
    expect(first.headers.get('retry-after')).toBe('90');
    api.clock.nowMs += 30_000;
    const second = await search('limited');
    expect([second.status, second.headers.get('retry-after'), fake.requests.length]).toEqual([502, '60', 1]);
    api.clock.nowMs += 60_000;
    fake.replies = [rawPage([])];
    expect((await search('limited')).status).toBe(200);
  });

  it('its rate limit does not outlast a clock that is set back', async () => {
    const resetS = Math.floor(api.clock.nowMs / 1000) + 90;
    fake.replies = [status(429, { title: 'Too Many Requests' }, { 'x-rate-limit-reset': String(resetS) })];
    expect(await search('set back')).toMatchObject(failing);
    api.clock.nowMs -= 5 * 86_400_000;
    fake.replies = [rawPage([])];
    expect((await search('set back')).status).toBe(200);
    api.clock.nowMs += 5 * 86_400_000;
  });

  it('a server error is tried three times', async () => {
    fake.replies = [status(503), status(500), rawPage([rawPost({ id: '601' })])];
    expect(idsOf((await search('flaky')).body)).toEqual(['601']);
    fake.replies = [status(503), status(503), status(503), rawPage([])];
    const reply = await search('down');
    expect(reply).toMatchObject(failing);
    expect(reply.headers.get('retry-after')).toBe('5');
    expect(fake.requests).toHaveLength(6);
  });

  it.each([
    ['silence', [silence, silence, silence]],
    ['a closed connection', Array.from({ length: 3 }, () => (response: { destroy(): void }) => response.destroy())],
    ['text that is no JSON', [status(200, '<html>')]],
    ['JSON of another form', [{ data: 'none' }]],
    ['rejected credentials', [status(401, { title: 'Unauthorized', status: 401 })]],
    ['a redirect', Array.from({ length: 3 }, () => status(302, {}, { location: 'http://127.0.0.1:1/' }))],
  ])('%s is 502 and does not count', async (name, replies) => {
    const key = await api.key('starter');
    fake.replies = replies;
    const normalMs = timeoutMs;
    if (name === 'silence') timeoutMs = 400;
    expect(await search(`bad ${name.replaceAll(' ', '_')}`, key)).toMatchObject(failing);
    timeoutMs = normalMs;
    api.clock.nowMs += 1_000;
    fake.replies = [rawPage([])];
    expect(quotaOf(await search('fine', key))).toEqual(['1', '500']);
  });

  it('more than 16 requests at once are 502 with Retry-After 1', async () => {
    const keys = await Promise.all(Array.from({ length: 17 }, () => api.key('starter')));
    const waiting: ServerResponse[] = [];
    fake.replies = Array.from({ length: 16 }, () => (response: ServerResponse) => void waiting.push(response));
    const running = keys.map((key, n) => search(`crowd ${n}`, key));
    try {
      expect((await Promise.race(running)).status).toBe(502);
      await expect.poll(() => waiting.length).toBe(16);
    } finally {
      for (const response of waiting) status(200, rawPage([]))(response);
    }
    const replies = await Promise.all(running);
    expect(replies.map((reply) => reply.status).sort()).toEqual([...Array.from({ length: 16 }, () => 200), 502]);
    expect(replies.find((reply) => reply.status === 502)?.headers.get('retry-after')).toBe('1');
  });

  it('unreachable tables are 502 before the platform is asked, because the month is unknown', async () => {
    const key = await api.key('starter');
    api.faults.tables = new RetryableError('ClickHouse is unreachable');
    try {
      expect(await search('untold', key)).toMatchObject(failing);
    } finally {
      api.faults.tables = null;
    }
    expect(fake.requests).toEqual([]);
  });

  it('a query that it does not accept is 400 with its reason', async () => {
    fake.replies = [status(400, { errors: [{ message: 'Reference to invalid operator' }], title: 'Invalid Request' })];
    expect(await search('strange')).toMatchObject({
      status: 400,
      body: { error: 'The platform does not accept the query: Reference to invalid operator' },
    });
  });
});

describe('limits of social posts', () => {
  it('a free key is rejected with 402', async () => {
    expect(await search('odds', await api.key('free'))).toMatchObject({
      status: 402,
      body: { error: 'paid plan required', tier: 'free' },
    });
    expect((await api.get('/v2/x/search?q=odds')).status).toBe(401);
  });

  it('a key may send one request per second, its sibling another', async () => {
    const key = await api.key('starter');
    const sibling = await api.siblingKey(key);
    fake.replies = [rawPage([]), rawPage([])];
    expect((await search('one', key)).status).toBe(200);
    api.clock.nowMs += 400;
    const limited = await search('two', key);
    expect(limited).toMatchObject({
      status: 429,
      body: { error: 'rate limit exceeded', reset_at: Math.ceil((api.clock.nowMs + 600) / 1000) },
    });
    expect(quotaOf(limited)).toEqual(['1', '500']);
    expect(quotaOf(await search('three', sibling))).toEqual(['2', '500']);
    expect(api.searches.length).toBeGreaterThanOrEqual(2);
  });

  it('a used-up month is 429 until its end, over all processes and keys', async () => {
    const key = await api.key('starter');
    const sibling = await api.siblingKey(key);
    fake.replies = [rawPage([]), rawPage([])];
    await search('before', key);
    const account = api.searches.at(-1) ?? '';
    const hour = (timeMs: number) => new Date(timeMs).toISOString().slice(0, 13).replace('T', ' ').concat(':00:00');
    const row = (id: string, process: string, timeMs: number, quantity: number) => ({
      id,
      account_id: account,
      meter: 'social_searches',
      hour: hour(timeMs),
      quantity,
      counted_at: hour(timeMs),
      process_id: process,
      _partition: 0,
      _offset: 1,
      key_id: '',
    });
    await api.clickhouse.insertRows('usage', [
      row('a', 'other', Date.UTC(2026, 4, 1), 498),
      // Of the month before, and what this process has counted itself.
      row('b', 'other', Date.UTC(2026, 3, 30, 23), 400),
      row('c', 'test', Date.UTC(2026, 4, 23), 1),
    ]);
    expect(quotaOf(await search('last', sibling))).toEqual(['500', '500']);
    api.clock.nowMs += 1_000;
    const rejected = await search('over', key);
    expect(rejected).toMatchObject({
      status: 429,
      body: { error: 'monthly quota exceeded', reset_at: Date.UTC(2026, 5, 1) / 1000 },
    });
    expect(quotaOf(rejected)).toEqual(['500', '500']);
    const limits = ['limit', 'remaining', 'reset'].map((name) => rejected.headers.get(`x-ratelimit-${name}`));
    expect(limits.map(Number)).toEqual([500, 0, Date.UTC(2026, 5, 1) / 1000]);
    const nowMs = api.clock.nowMs;
    api.clock.nowMs = Date.UTC(2026, 5, 1);
    fake.replies = [rawPage([])];
    expect(quotaOf(await search('next month', key))).toEqual(['1', '500']);
    api.clock.nowMs = nowMs;
  });
});
