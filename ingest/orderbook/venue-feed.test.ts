import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { silentLogger } from '../../infra/telemetry/logger.js';
import { createMetrics } from '../../infra/telemetry/metrics.js';
import type { BookFeed } from './feed.js';
import { type FakeVenue, startFakeVenue } from './testing/fake-venue.js';
import { createVenueFeed } from './venue-feed.js';

let venue: FakeVenue;
let stop: AbortController;
let feed: BookFeed;
let subscribed: (readonly string[])[];
let rejected: string[];

beforeEach(async () => {
  venue = await startFakeVenue();
  for (const tokenId of ['101', '102', '103']) venue.add('0xc1', tokenId);
  stop = new AbortController();
  subscribed = [];
  rejected = [];
  feed = createVenueFeed({
    url: venue.wsUrl,
    restUrl: venue.restUrl,
    events: {
      onMessages: () => undefined,
      onRejected: (reason) => rejected.push(reason),
      onMissed: () => undefined,
      onChange: () => undefined,
      onSubscribed: (tokenIds) => subscribed.push(tokenIds),
      onLost: () => undefined,
    },
    logger: silentLogger(),
    metrics: createMetrics({ process: 'test', defaults: false }),
    signal: stop.signal,
  });
});
afterEach(async () => {
  stop.abort();
  await feed.closed();
  await venue.stop();
});

const follow = (...tokenIds: string[]) =>
  feed.follow(
    tokenIds.map((tokenId) => ({ tokenId, market: '0xc1', minOrderSize: null, tickSize: null, negRisk: false })),
  );

describe('createVenueFeed', () => {
  it('subscribes and reports tokens added during the handshake, and unsubscribes those that left during it', async () => {
    follow('101', '102');
    follow('102', '103');
    await expect.poll(() => venue.clients.map(({ tokens }) => [...tokens])).toEqual([['102', '103']]);
    expect(subscribed.flat().sort()).toEqual(['102', '103']);
  });

  it('reports one fault per frame and keeps its connection', async () => {
    follow('101');
    // The venue's market has no valid id, so the first book is rejected.
    await expect.poll(() => rejected).toEqual(['market is missing or malformed']);
    const nested = `${'['.repeat(100_000)}${']'.repeat(100_000)}`;
    venue.raw(JSON.stringify([...Array.from({ length: 1_000 }, () => null), { event_type: 'book' }]));
    venue.raw(
      `[${nested},{"event_type":"book","market":{"toString":1}},{"event_type":"price_change","market":${nested}}]`,
    );
    await expect.poll(() => rejected.length).toBe(3);
    expect(rejected.slice(1)).toEqual([
      '1001 faults: The message is no object; market is missing or malformed',
      '3 faults: The message is no object; market is missing or malformed',
    ]);
    expect(feed.counts()).toEqual({ open: 1, all: 1 });
    expect(venue.clients).toHaveLength(1);
  });
});
