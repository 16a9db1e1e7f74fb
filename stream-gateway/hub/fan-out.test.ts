import { afterEach, describe, expect, it } from 'vitest';
import { yieldToEventLoop } from '../../infra/event-loop.js';
import { plans } from '../../schemas/plans.js';
import type { MeterName } from '../metering/meter.js';
import { connectTestClient, type Frame, startTestGateway, streamEvent } from '../testing.js';

const cleanups: (() => Promise<void> | void)[] = [];
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
});

async function gateway(over: Parameters<typeof startTestGateway>[0] = {}) {
  const used = new Map<string, number>();
  const started = await startTestGateway({
    meter: {
      add({ accountId: account }: { readonly accountId: string }, meter: MeterName, bytes: number) {
        used.set(`${account} ${meter}`, (used.get(`${account} ${meter}`) ?? 0) + bytes);
      },
    },
    ...over,
  });
  cleanups.push(() => started.server.close());
  return { ...started, used };
}

async function client(server: { port: number }, options: Parameters<typeof connectTestClient>[1] = {}) {
  const connected = await connectTestClient(server, options);
  cleanups.push(() => connected.socket.terminate());
  const subscribe = async (type: string, filters: object = {}) => {
    connected.send({ action: 'subscribe', type, filters: { snapshot_count: 0, ...filters } });
    return connected.next();
  };
  return { ...connected, subscribe };
}

describe('fan-out', () => {
  it('keeps seq order between topic messages and direct sends, within one batch and over slices', async () => {
    const { server, publish } = await gateway();
    const one = await client(server);
    await one.subscribe('blocks');
    await one.subscribe('trades', { wallets: ['0xaa'] });
    await one.subscribe('redemptions', { min_size: 1 });
    const kinds = ['block', 'trade', 'redemption', 'block', 'settlement'];
    const pad = 'x'.repeat(3000);
    const events = Array.from({ length: 500 }, (_, at) => {
      const seq = at + 1;
      const kind = kinds[seq % kinds.length] as string;
      return streamEvent(seq, { kind, frame: JSON.stringify({ type: kind, seq, pad }) });
    });
    await publish(...events);
    await one.count(3 + events.length);
    expect(one.frames.slice(3).map(({ seq }) => seq)).toEqual(events.map(({ seq }) => seq));
  });

  it('sends an event once that an unfiltered and a filtered subscription match, and continues when one of them ends', async () => {
    const { server, publish } = await gateway();
    const one = await client(server);
    const whole = await one.subscribe('trades');
    await one.subscribe('trades', { wallets: ['0xaa'] });
    await publish(streamEvent(1), streamEvent(2, { wallets: ['0xbb'] }));
    one.send({ action: 'unsubscribe', subscription_id: whole.subscription_id });
    await one.count(5);
    await publish(streamEvent(3), streamEvent(4, { wallets: ['0xbb'] }), streamEvent(5));
    one.send({ action: 'ping' });
    await one.count(8);
    expect(one.frames.slice(2).map(({ seq, type }) => seq ?? type)).toEqual([1, 2, 'unsubscribed', 3, 5, 'pong']);
  });

  it('sends events published just before an unfiltered subscription ends, which its filtered ones rely on', async () => {
    let onNextMessage: () => void = () => undefined;
    const terms = {
      ...plans.enterprise,
      // Read when a message is handled, in the same tick as its effect.
      get filterItemsPerSubscription() {
        onNextMessage();
        return plans.enterprise.filterItemsPerSubscription;
      },
    };
    const { server, publish } = await gateway({
      verifyKey: (key) => ({ status: 'ok', accountId: key, keyHash: key, terms }),
    });
    const one = await client(server);
    const whole = await one.subscribe('trades');
    await one.subscribe('trades', { wallets: ['0xaa'] });
    let handled = 0;
    let published: Promise<void> | undefined;
    onNextMessage = () => {
      // The first read is on arrival, the second when the message is handled.
      if (++handled === 2) published = publish(streamEvent(1), streamEvent(2));
    };
    one.send({ action: 'unsubscribe', subscription_id: whole.subscription_id });
    await one.count(3);
    await published;
    one.send({ action: 'ping' });
    await one.count(6);
    expect(one.frames.slice(2).map(({ seq, type }) => seq ?? type)).toEqual([1, 2, 'unsubscribed', 'pong']);
  });

  it('counts each connection with an unfiltered subscription once in firehoses, until the subscription ends', async () => {
    const { server } = await gateway();
    const [one, two, three] = [await client(server), await client(server), await client(server)] as const;
    const counts = () => [server.connections(), server.firehoses()];
    await one.subscribe('trades', { wallets: ['0xaa'] });
    expect(counts()).toEqual([3, 0]);
    const first = await one.subscribe('trades');
    const second = await one.subscribe('global');
    // An empty list is no filter.
    const third = await one.subscribe('blocks', { event_types: [] });
    await two.subscribe('blocks');
    expect(counts()).toEqual([3, 2]);
    const end = async ({ subscription_id }: Frame) => {
      one.send({ action: 'unsubscribe', subscription_id });
      await one.next();
    };
    await end(first);
    expect(counts()).toEqual([3, 2]);
    await end(second);
    expect(counts()).toEqual([3, 2]);
    await end(third);
    expect(counts()).toEqual([3, 1]);
    two.socket.close();
    three.socket.close();
    await expect.poll(counts).toEqual([1, 0]);
  });

  it('sends only events as binary frames, each a complete DEFLATE stream', async () => {
    const { server, publish, load } = await gateway();
    load(streamEvent(1));
    const packed = await client(server, { compress: true });
    const plain = await client(server);
    for (const one of [packed, plain]) {
      one.send({ action: 'subscribe', type: 'trades' });
      one.send({ action: 'subscribe', type: 'redemptions', filters: { wallets: ['0xaa'], snapshot_count: 0 } });
      await one.count(3);
    }
    await publish(streamEvent(2), streamEvent(3, { kind: 'redemption' }));
    for (const one of [packed, plain]) {
      one.send({ action: 'ping' });
      one.send('nonsense');
      await one.count(7);
      const types = ['subscribed', 'snapshot', 'subscribed', 'trade', 'redemption', 'pong', 'error'];
      expect(one.frames.map(({ type }) => type)).toEqual(types);
    }
    expect(packed.raw.map(({ isBinary }) => isBinary)).toEqual([false, false, false, true, true, false, false]);
    expect(plain.raw.every(({ isBinary }) => !isBinary)).toBe(true);
    expect(packed.frames[3]).toEqual(plain.frames[3]);
  });

  it('meters encoded event bytes sent by topic, by filter and by replay, but no control frames', async () => {
    const { server, publish, used } = await gateway();
    const clients = [
      await client(server, { key: 'whole' }),
      await client(server, { key: 'packed', compress: true }),
      await client(server, { key: 'filtered' }),
      await client(server, { key: 'replayed' }),
    ] as const;
    const [whole, packed, filtered, replayed] = clients;
    for (const one of [whole, packed]) {
      await one.subscribe('global');
      await one.subscribe('chainlink');
    }
    await filtered.subscribe('trades', { wallets: ['0xaa'] });
    await filtered.subscribe('chainlink', { feeds: ['BTC/USD'] });
    const events = Array.from({ length: 40 }, (_, at) =>
      streamEvent(at + 1, at % 4 === 0 ? { kind: 'price_feed', feed: 'BTC/USD', usd: null, side: null } : {}),
    );
    await publish(...events.slice(0, 30));
    await replayed.subscribe('trades', { since_seq: 0 });
    await publish(...events.slice(30));
    const bytesOf = (one: (typeof clients)[number], priceFeeds: boolean) =>
      one.frames.reduce(
        (sum, frame, at) =>
          frame.seq !== undefined && (frame.type === 'price_feed') === priceFeeds
            ? sum + (one.raw[at]?.bytes ?? 0)
            : sum,
        0,
      );
    for (const one of [whole, packed, filtered]) await one.count(2 + 40);
    await replayed.count(1 + 30);
    for (const one of clients) {
      one.socket.close();
      await one.closed;
    }
    await yieldToEventLoop();
    const names = ['whole', 'packed', 'filtered', 'replayed'];
    for (const [at, one] of clients.entries()) {
      expect(used.get(`${names[at]} onchain`)).toBe(bytesOf(one, false));
      expect(used.get(`${names[at]} oracle_orderbook`) ?? 0).toBe(bytesOf(one, true));
    }
  });

  it('closes a connection whose session time is used up with an error frame with resets_at, then 4429', async () => {
    const listeners: ((resetsAtMs: number) => void)[] = [];
    let released = 0;
    const { server, publish } = await gateway({
      admission: {
        admit: async () => ({
          status: 'ok',
          permit: {
            onSessionTimeExhausted: (listener: (resetsAtMs: number) => void) => listeners.push(listener),
            onExcess: () => undefined,
            setTerms: () => undefined,
            release: () => released++,
          },
        }),
      } as never,
    });
    const one = await client(server);
    await one.subscribe('trades');
    await publish(streamEvent(1));
    listeners[0]?.(Date.UTC(2026, 10, 22));
    await one.count(3);
    expect(one.frames[2]).toMatchObject({ code: 'free_tier_limit_reached', resets_at: '2026-11-22T00:00:00.000Z' });
    expect((await one.closed).code).toBe(4429);
    expect(released).toBe(1);
    listeners[0]?.(0);
  });
});
