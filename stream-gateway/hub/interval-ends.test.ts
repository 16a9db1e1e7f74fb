import { describe, expect, it } from 'vitest';
import { compileFilters } from '../filters/compile.js';
import { parseClientMessage } from '../protocol/messages.js';
import { createRecentEvents } from '../replay/recent-events.js';
import { liveEvent } from '../testing.js';
import { createHub, createMember, type Subscription } from './hub.js';
import type { LiveEvent } from './live-event.js';
import type { NativeTopics } from './native-topics.js';
import type { Peer } from './peer.js';

const filterOf = (type: string, filters: object) => {
  const message = parseClientMessage(JSON.stringify({ action: 'subscribe', type, filters }), 100);
  if (!('action' in message) || message.action !== 'subscribe') throw new Error('not a subscribe message');
  return compileFilters(message.preset, message.filters, { slugs: null, conditions: null });
};

describe('frames at the end of a block or window', () => {
  const trade = (seq: number, block: number) => liveEvent(seq, { block_number: block });
  const block = (seq: number, number: number) => liveEvent(seq, { block_number: number, kind: 'block', wallets: [] });
  const price = (seq: number, timestamp_ms: number) =>
    liveEvent(seq, { kind: 'price_feed', feed: 'BTC/USD', timestamp_ms });
  it.each([
    ['trades', { wallets: ['0xaa'] }, [trade(1, 7), block(2, 7)], [trade(3, 8), block(4, 8)]],
    [
      'chainlink',
      { feeds: ['BTC/USD'] },
      [price(1, 300_000), price(2, 600_000)],
      [price(3, 600_001), price(4, 900_000)],
    ],
  ])('are not sent to a subscription of %s whose events are skipped', async (type, filters, events, skippedEvents) => {
    const recent = createRecentEvents({ maxEvents: 10, maxBytes: 100_000 });
    const hub = createHub({ recent, natives: { publish: () => undefined } as unknown as NativeTopics });
    const sent: string[] = [];
    let slow = false;
    const offered = (event: LiveEvent) => {
      // What a peer with on_slow skip does when its buffer is full.
      if (slow) hub.deactivate(subscription);
      else sent.push(`event ${event.seq}`);
    };
    const peer = {
      sendEvents: (batch: readonly LiveEvent[]) => batch.forEach(offered),
      sendControl: (text: string) => sent.push(JSON.parse(text).type),
    } as unknown as Peer;
    const subscription: Subscription = {
      id: 'one',
      filter: filterOf(type, filters),
      member: createMember(peer),
      deliveredFrom: -1,
      items: 1,
      ends: { block: true, window: true },
    };
    hub.activate(subscription);
    await hub.publish(events);
    expect(sent.filter((one) => one.startsWith('end_of_'))).toHaveLength(1);
    hub.deactivate(subscription);
    sent.length = 0;
    slow = true;
    hub.activate(subscription);
    await hub.publish(skippedEvents);
    expect(sent).toEqual([]);
  });
});
