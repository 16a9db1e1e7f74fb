import type { ServerResponse } from 'node:http';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createPlatform } from '../../infra/social/platform/platform.js';
import { PlatformError } from '../../infra/social/port.js';
import { silentLogger } from '../../infra/telemetry/logger.js';
import { createMetrics } from '../../infra/telemetry/metrics.js';
import { parseQuery } from '../../schemas/social/query/parse.js';
import { type FakePlatform, rawPage, rawPost, startFakePlatform, status } from '../support/fake-social-platform.js';

const OLD = parseQuery('odds since:2020-01-01');
const OLD_FILTERED = parseQuery('odds since:2020-01-01 min_faves:1000');
let fake: FakePlatform;
let nowMs: number;
let pauses: number[];

beforeEach(async () => {
  nowMs = Date.UTC(2026, 4, 23, 12);
  pauses = [];
  fake = await startFakePlatform();
});
afterEach(() => fake.close());

const platformOf = (pause: (ms: number) => void) =>
  createPlatform({
    url: fake.url,
    token: 'secret-token',
    fullArchive: true,
    logger: silentLogger(),
    metrics: createMetrics({ process: 'test', defaults: false }),
    nowMs: () => nowMs,
    pause: async (ms) => {
      pauses.push(ms);
      pause(ms);
    },
  });

describe('searches of the full archive', () => {
  it('send one request per second, also for further pages and retries', async () => {
    const platform = platformOf((ms) => {
      nowMs += ms;
    });
    let allowedMs = 0;
    const limited =
      (reply: (response: ServerResponse) => void) =>
      (response: ServerResponse): void => {
        const isEarly = nowMs < allowedMs;
        allowedMs = nowMs + 1_000;
        if (isEarly) status(429, { title: 'Too Many Requests' })(response);
        else reply(response);
      };
    const page = (n: number) =>
      status(200, rawPage([rawPost({ id: String(n), likes: 5_000 })], { nextToken: `p${n}` }));
    fake.replies = [
      page(1),
      status(503),
      ...Array.from({ length: 9 }, (_, n) => page(n + 2)),
      // The next search.
      status(200, rawPage([rawPost({ id: '50' })])),
    ].map(limited);
    const found = await platform.search(OLD_FILTERED, 50);
    expect([found?.posts.length, found?.failure]).toEqual([10, null]);
    expect((await platform.search(OLD, 10))?.posts).toMatchObject([{ id: '50' }]);
    expect(fake.requests.map(({ path }) => path)).toEqual(Array.from({ length: 12 }, () => '/2/tweets/search/all'));
  });

  it('wait for each other at most eight seconds', async () => {
    const platform = platformOf(() => undefined);
    fake.replies = Array.from({ length: 12 }, () => rawPage([rawPost({ id: '1' })]));
    const results = await Promise.allSettled(Array.from({ length: 12 }, () => platform.search(OLD, 10)));
    const rejected = results.flatMap((result) => (result.status === 'rejected' ? [result.reason] : []));
    expect(pauses.map((ms, n) => ms - (pauses[n - 1] ?? 0) >= 1_000)).toEqual(Array.from({ length: 7 }, () => true));
    expect(Math.max(...pauses)).toBeLessThanOrEqual(8_000);
    expect([fake.requests.length, rejected.length]).toEqual([8, 4]);
    for (const error of rejected) {
      expect(error).toBeInstanceOf(PlatformError);
      expect(error).toMatchObject({ reason: 'rate_limited', retryAfterS: 9 });
    }
  });

  it('are those with an old end and no start, from the first post on', async () => {
    const platform = platformOf(() => undefined);
    fake.replies = [rawPage([rawPost({ id: '7' })]), rawPage([rawPost({ id: '8' })])];
    expect((await platform.search(parseQuery('odds until:2020-01-01'), 10))?.posts).toMatchObject([{ id: '7' }]);
    // Within the last seven days: the end is four days ago.
    await platform.search(parseQuery('odds until:2026-05-19'), 10);
    const [old, recent] = fake.requests;
    expect(old).toMatchObject({
      path: '/2/tweets/search/all',
      params: { start_time: '2006-03-21T00:00:00Z', end_time: '2020-01-01T00:00:00Z' },
    });
    expect(recent).toMatchObject({ path: '/2/tweets/search/recent', params: { end_time: '2026-05-19T00:00:00Z' } });
    expect(recent?.params.start_time).toBeUndefined();
  });

  it('do not delay searches of the last week', async () => {
    const platform = platformOf(() => undefined);
    fake.replies = Array.from({ length: 3 }, () => rawPage([rawPost({ id: '1' })]));
    await Promise.all(Array.from({ length: 3 }, () => platform.search(parseQuery('odds'), 10)));
    expect([pauses, fake.requests.length]).toEqual([[], 3]);
  });
});
