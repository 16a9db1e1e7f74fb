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

beforeEach(async () => {
  venue = await startFakeVenue();
  for (const tokenId of ['101', '102', '103']) venue.add('0xc1', tokenId);
  stop = new AbortController();
  subscribed = [];
  feed = createVenueFeed({
    url: venue.wsUrl,
    restUrl: venue.restUrl,
    events: {
      onMessages: () => undefined,
      onRejected: () => undefined,
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
});
