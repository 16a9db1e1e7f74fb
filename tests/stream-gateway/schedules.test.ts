import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { StreamEvent } from '../../schemas/types.gen.js';
import { defaultPeerLimits } from '../../stream-gateway/hub/peer.js';
import { connectTestClient, type Frame } from '../../stream-gateway/testing.js';
import { anyEvent, anySubscription, naiveMatch, type SubscribeRequest } from './naive.js';
import { createStream, FIRST_SEQ, followWithGateway } from './stream.js';

const CLIENTS = 3;
const client = fc.integer({ min: 0, max: CLIENTS - 1 });

type Step =
  | { readonly do: 'publish'; readonly events: readonly Partial<StreamEvent>[] }
  | { readonly do: 'subscribe'; readonly client: number; readonly request: SubscribeRequest; readonly snapshot: number }
  | { readonly do: 'replay'; readonly client: number; readonly request: SubscribeRequest; readonly back: number }
  | { readonly do: 'unsubscribe'; readonly client: number; readonly which: number | null }
  | { readonly do: 'reconnect'; readonly client: number }
  | { readonly do: 'stall' | 'read'; readonly client: number };

const step: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.record({
      do: fc.constant('publish' as const),
      events: fc.array(anyEvent, { maxLength: 25, size: 'max' }),
    }),
  },
  {
    weight: 3,
    arbitrary: fc.record({
      do: fc.constant('subscribe' as const),
      client,
      request: anySubscription,
      snapshot: fc.constantFrom(0, 0, 1, 5, 500),
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      do: fc.constant('replay' as const),
      client,
      request: anySubscription,
      back: fc.integer({ min: 0, max: 80 }),
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      do: fc.constant('unsubscribe' as const),
      client,
      which: fc.option(fc.integer({ min: 0, max: 5 }), { nil: null }),
    }),
  },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('reconnect' as const), client }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constantFrom('stall' as const, 'read' as const), client }) },
);

/** Snapshot window in events; memory has fewer, so that snapshots also read the log. */
const WINDOW = 60;
const MEMORY = 25;

/** Expected state of a client, derived from the filter rules only. `from`: events with a greater seq are delivered. */
interface Expected {
  readonly subscriptions: { id: string; readonly subscription: SubscribeRequest; readonly from: number }[];
  seqs: number[];
}

describe('gateway under random schedules', () => {
  it('delivers exactly the events that a direct implementation of the filters selects, in order, once', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 1, maxLength: 60, size: 'max' }), async (steps) => {
        const stream = await createStream();
        await stream.append({});
        const gateway = await followWithGateway(stream, {
          recentEvents: MEMORY,
          limits: {
            snapshotWindowEvents: WINDOW,
            peer: { ...defaultPeerLimits, replayHighWaterBytes: 2_000, replayLowWaterBytes: 500 },
          },
        });
        const connect = () => connectTestClient(gateway.server);
        const clients = await Promise.all(Array.from({ length: CLIENTS }, connect));
        const expected: Expected[] = clients.map(() => ({ subscriptions: [], seqs: [] }));
        const stalled = clients.map(() => false);
        const at = (index: number) => clients[index] as (typeof clients)[number];
        const expectedOf = (index: number) => expected[index] as Expected;
        const seqsOf = (frames: readonly Frame[]) =>
          frames.filter(({ seq }) => seq !== undefined).map(({ seq }) => seq as number);
        const eventFrames = (index: number) => at(index).frames.filter(({ seq }) => seq !== undefined).length;
        const resumeReading = (index: number) => {
          if (stalled[index]) at(index).socket.resume();
          stalled[index] = false;
        };
        /** Waits until the client has received all expected events. */
        const settle = async (index: number) => {
          resumeReading(index);
          while (eventFrames(index) < expectedOf(index).seqs.length) await at(index).count(at(index).frames.length + 1);
        };
        const sendAndAwait = async (index: number, message: object, type: string): Promise<Frame> => {
          const one = at(index);
          const from = one.frames.length;
          one.send(message);
          for (let seen = from; ; seen++) {
            await one.count(seen + 1);
            if (one.frames[seen]?.type === type) return one.frames[seen] as Frame;
          }
        };
        const matching = (request: SubscribeRequest, after: number) =>
          stream.events.filter((event) => event.seq > after && naiveMatch(request, event));
        const startSubscription = (index: number, request: SubscribeRequest, id: string, from: number) => {
          const { subscriptions } = expectedOf(index);
          // A connection has one chainlink selection: a new one replaces it.
          if (request.type === 'chainlink') {
            const other = subscriptions.findIndex((subscription) => subscription.subscription.type === 'chainlink');
            if (other >= 0) subscriptions.splice(other, 1);
          }
          subscriptions.push({ id, subscription: request, from });
        };

        try {
          for (const one of steps) {
            if (one.do === 'publish') {
              const before = stream.events.length;
              await stream.append(...one.events);
              await gateway.published();
              for (const event of stream.events.slice(before)) {
                for (const { subscriptions, seqs } of expected) {
                  if (subscriptions.some(({ subscription: request }) => naiveMatch(request, event)))
                    seqs.push(event.seq);
                }
              }
              continue;
            }
            if (one.do === 'stall') {
              at(one.client).socket.pause();
              stalled[one.client] = true;
              continue;
            }
            await settle(one.client);
            const { subscriptions, seqs } = expectedOf(one.client);
            if (one.do === 'subscribe') {
              const { request } = one;
              const filters = { ...request.filters, snapshot_count: one.snapshot };
              const from = at(one.client).frames.length;
              const ack = await sendAndAwait(
                one.client,
                { action: 'subscribe', type: request.type, filters },
                'subscribed',
              );
              startSubscription(one.client, request, ack.subscription_id as string, stream.head());
              if (one.snapshot === 0 || request.type === 'chainlink') continue;
              await at(one.client).count(from + 2);
              const snapshot = at(one.client).frames[from + 1] as Frame & { events: Frame[]; count: number };
              const newest = matching(request, stream.head() - WINDOW).slice(-one.snapshot);
              expect(snapshot.type).toBe('snapshot');
              expect(snapshot.events.map(({ seq }) => seq)).toEqual(newest.map(({ seq }) => seq));
              expect(snapshot.count).toBe(newest.length);
            } else if (one.do === 'replay') {
              const { request } = one;
              const since = Math.max(FIRST_SEQ - 1, stream.head() - one.back);
              const filters = { ...request.filters, since_seq: since };
              const ack = await sendAndAwait(
                one.client,
                { action: 'subscribe', type: request.type, filters },
                'subscribed',
              );
              startSubscription(one.client, request, ack.subscription_id as string, since);
              const others = subscriptions.filter(({ id }) => id !== ack.subscription_id);
              const notDelivered = matching(request, since).filter(
                (event) =>
                  !others.some(({ subscription: other, from }) => event.seq > from && naiveMatch(other, event)),
              );
              seqs.push(...notDelivered.map(({ seq }) => seq));
              await settle(one.client);
              // If no event of the replay is sent, only a response to a later message shows that the replay has ended.
              await sendAndAwait(one.client, { action: 'ping' }, 'pong');
            } else if (one.do === 'unsubscribe') {
              const ended = one.which === null ? undefined : subscriptions[one.which];
              if (one.which !== null && ended === undefined) continue;
              const message = { action: 'unsubscribe', ...(ended && { subscription_id: ended.id }) };
              const response = await sendAndAwait(one.client, message, 'unsubscribed');
              expect(response.subscription_id).toBe(ended?.id);
              if (ended === undefined) subscriptions.length = 0;
              else subscriptions.splice(subscriptions.indexOf(ended), 1);
            } else if (one.do === 'reconnect') {
              expect(seqsOf(at(one.client).frames)).toEqual(seqs);
              at(one.client).socket.terminate();
              clients[one.client] = await connect();
              expected[one.client] = { subscriptions: [], seqs: [] };
            }
          }
          for (let index = 0; index < CLIENTS; index++) {
            await settle(index);
            await sendAndAwait(index, { action: 'ping' }, 'pong');
            expect(seqsOf(at(index).frames)).toEqual(expectedOf(index).seqs);
          }
          expect(await gateway.metric('gateway_dropped_frames_total')).toBe(0);
        } finally {
          for (const { socket } of clients) socket.terminate();
          await gateway.close();
        }
      }),
      { numRuns: 40, interruptAfterTimeLimit: 200_000, markInterruptAsFailure: true },
    );
  }, 240_000);
});
