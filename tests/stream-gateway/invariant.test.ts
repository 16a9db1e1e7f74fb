import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { yieldToEventLoop } from '../../infra/event-loop.js';
import type { StreamEvent } from '../../schemas/types.gen.js';
import { connectTestClient } from '../../stream-gateway/testing.js';
import { anyEvent, anySubscription, naiveMatch, type SubscribeRequest } from './naive.js';
import { createStream, FIRST_SEQ, followWithGateway } from './stream.js';

const EPOCH = 'ab00000000000001';
const CLIENTS = 2;
/** Long frames fill the buffers of a connection that is not read. */
const PAD = 'x'.repeat(256 * 1024);
const client = fc.integer({ min: 0, max: CLIENTS - 1 });
const items = fc.record({
  wallets: fc.uniqueArray(fc.constantFrom('0xaa', '0xbb', '0xcc', '0xdd'), { maxLength: 2 }),
  tokens: fc.uniqueArray(fc.constantFrom('1', '2', '3', '4'), { maxLength: 2 }),
});
type Items = { readonly wallets: readonly string[]; readonly tokens: readonly string[] };

type Step =
  | { readonly do: 'publish'; readonly events: readonly Partial<StreamEvent>[] }
  | { readonly do: 'flood'; readonly count: number }
  | { readonly do: 'update'; readonly client: number; readonly add: Items; readonly remove: Items }
  | { readonly do: 'stall' | 'read' | 'reconnect'; readonly client: number }
  | { readonly do: 'restart' | 'replayed' | 'caughtUp' };
const step: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.record({ do: fc.constant('publish' as const), events: fc.array(anyEvent, { maxLength: 25 }) }),
  },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('flood' as const), count: fc.integer({ min: 40, max: 80 }) }) },
  { weight: 4, arbitrary: fc.record({ do: fc.constant('update' as const), client, add: items, remove: items }) },
  {
    weight: 5,
    arbitrary: fc.record({ do: fc.constantFrom('stall' as const, 'stall' as const, 'read' as const), client }),
  },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('reconnect' as const), client }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('restart' as const) }) },
);
/** A schedule with a restart, an update and a skipped range: drawn ones may lack one of these. */
const COMPLETE: [SubscribeRequest[], Step[]] = [
  [
    { type: 'trades', filters: {} },
    { type: 'settlements', filters: { wallets: ['0xaa', '0xcc'] } },
  ],
  [
    {
      do: 'publish',
      events: [
        { kind: 'trade', wallets: ['0xaa'] },
        { kind: 'settlement', wallets: ['0xbb'] },
      ],
    },
    // A replay waits for its reader; only live events are skipped.
    { do: 'replayed' },
    { do: 'stall', client: 0 },
    { do: 'flood', count: 80 },
    { do: 'read', client: 0 },
    // The frame skipped follows what was buffered; the restart must not come before it.
    { do: 'caughtUp' },
    { do: 'update', client: 1, add: { wallets: ['0xbb'], tokens: [] }, remove: { wallets: ['0xaa'], tokens: [] } },
    {
      do: 'publish',
      events: [
        { kind: 'settlement', wallets: ['0xaa'] },
        { kind: 'settlement', wallets: ['0xbb'] },
      ],
    },
    { do: 'restart' },
    { do: 'publish', events: [{ kind: 'settlement', wallets: ['0xcc'] }] },
  ],
];
/** Chain events only: a chainlink subscription cannot be updated. */
const subscription = anySubscription.filter(({ type }) => type !== 'chainlink');

/** Kinds of frames that are not events of the stream. */
const CONTROL = new Set(['subscribed', 'updated', 'heartbeat', 'skipped', 'caught_up', 'fell_behind', 'error']);
let restarts = 0;
let skips = 0;
let updates = 0;

describe('a filtered stream', () => {
  it('equals the whole stream filtered afterwards, over replays, restarts, updates and skipped ranges', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(subscription, { minLength: CLIENTS, maxLength: CLIENTS }),
        fc.array(step, { minLength: 5, maxLength: 30, size: 'max' }),
        async (requests, steps) => {
          const stream = await createStream();
          await stream.append({});
          const options = {
            recentEvents: 60,
            epoch: () => EPOCH,
            limits: {
              heartbeatMs: 20,
              tickMs: 20,
              drainMs: 20,
              peer: { maxBufferedBytes: 4_000_000, replayHighWaterBytes: 1_000_000, replayLowWaterBytes: 250_000 },
            },
          };
          let gateway = await followWithGateway(stream, options);

          const follow = async (request: SubscribeRequest) => {
            /** Filters with the seq after which they apply. */
            const segments = [{ afterSeq: FIRST_SEQ - 1, filters: request.filters }];
            const skipped: { from: number; to: number }[] = [];
            const received: number[] = [];
            let position = FIRST_SEQ - 1;
            let connection: Awaited<ReturnType<typeof connectTestClient>> | null = null;
            let processed = 0;
            let unexpectedClose: number | null = null;
            let id = '';
            let isLive = false;
            let pending: Readonly<Record<string, unknown>> | null = null;
            const read = () => {
              const frames = connection?.frames ?? [];
              for (; processed < frames.length; processed++) {
                const { type, seq, ...frame } = frames[processed] as { type: string; seq?: number } & Record<
                  string,
                  unknown
                >;
                if (type === 'error') throw new Error(JSON.stringify(frame));
                if (type === 'caught_up') isLive = true;
                if (type === 'subscribed') id = frame.subscription_id as string;
                if (type === 'skipped') {
                  skipped.push({ from: frame.from_seq as number, to: frame.to_seq as number });
                  position = frame.to_seq as number;
                }
                if (type === 'updated') {
                  if (pending !== null) segments.push({ afterSeq: seq as number, filters: pending });
                  pending = null;
                }
                if (!CONTROL.has(type)) received.push(seq as number);
                if (seq !== undefined) position = Math.max(position, seq);
              }
            };
            const until = async (condition: () => boolean) => {
              for (const deadline = Date.now() + 20_000; ; await yieldToEventLoop()) {
                read();
                if (condition()) return;
                if (unexpectedClose !== null) throw new Error(`closed with ${unexpectedClose}`);
                if (Date.now() > deadline) throw new Error(`nothing after ${position} of ${stream.head()}`);
              }
            };
            const connect = async () => {
              connection = await connectTestClient(gateway.server, { query: '&notices=1' });
              const opened = connection;
              void opened.closed.then(({ code }) => {
                if (opened === connection) unexpectedClose = code;
              });
              processed = 0;
              id = '';
              isLive = false;
              const filters = { ...segments.at(-1)?.filters, since_seq: `${EPOCH}:${position}` };
              connection.send({ action: 'subscribe', type: request.type, filters, on_slow: 'skip' });
            };
            const disconnect = () => {
              read();
              const ended = connection;
              connection = null;
              ended?.socket.terminate();
            };
            await connect();
            return {
              stall: () => connection?.socket.pause(),
              resume: () => connection?.socket.resume(),
              disconnect,
              connect,
              replayed: () => until(() => isLive),
              caughtUp: () => until(() => position >= stream.head()),
              async update(add: Items, remove: Items) {
                connection?.socket.resume();
                await until(() => id !== '');
                const filters = segments.at(-1)?.filters ?? {};
                const changed = Object.fromEntries(
                  (['wallets', 'tokens'] as const).map((name) => {
                    const list = ((filters[name] ?? []) as string[]).filter((item) => !remove[name].includes(item));
                    return [name, [...list, ...add[name].filter((item) => !list.includes(item))]];
                  }),
                );
                const emptied = (name: 'wallets' | 'tokens') =>
                  (filters[name] as string[] | undefined)?.length && changed[name]?.length === 0;
                const none = [add, remove].every(({ wallets, tokens }) => wallets.length + tokens.length === 0);
                if (none || emptied('wallets') || emptied('tokens')) return;
                pending = { ...filters, ...changed };
                connection?.send({ action: 'update', subscription_id: id, add, remove });
                await until(() => pending === null);
                updates++;
              },
              check() {
                const filtersAt = (seq: number) => segments.findLast(({ afterSeq }) => afterSeq < seq)?.filters ?? {};
                const expected = stream.events.filter(
                  (event) =>
                    !skipped.some(({ from, to }) => event.seq >= from && event.seq <= to) &&
                    naiveMatch({ type: request.type, filters: filtersAt(event.seq) }, event),
                );
                skips += skipped.length;
                // The first event precedes the subscription.
                expect(received).toEqual(expected.map(({ seq }) => seq));
              },
            };
          };

          const clients = await Promise.all(requests.map(follow));
          const at = (index: number) => clients[index] as (typeof clients)[number];
          try {
            for (const one of steps) {
              if (one.do === 'publish') await stream.append(...one.events);
              else if (one.do === 'flood') {
                const frame = (seq: number) => JSON.stringify({ type: 'trade', seq, PAD });
                for (let sent = 0; sent < one.count; sent++) {
                  const usd = 5_000_000_000n;
                  await stream.append({
                    wallets: ['0xaa', '0xbb'],
                    tokens: ['1', '2'],
                    usd,
                    frame: frame(stream.head() + 1),
                  });
                }
                await gateway.published();
              } else if (one.do === 'update') await at(one.client).update(one.add, one.remove);
              else if (one.do === 'stall') at(one.client).stall();
              else if (one.do === 'read') at(one.client).resume();
              else if (one.do === 'replayed') for (const each of clients) await each.replayed();
              else if (one.do === 'caughtUp') for (const each of clients) await each.caughtUp();
              else if (one.do === 'reconnect') {
                at(one.client).disconnect();
                await at(one.client).connect();
              } else {
                for (const each of clients) each.disconnect();
                await gateway.close();
                gateway = await followWithGateway(stream, options);
                for (const each of clients) await each.connect();
                restarts++;
              }
              await yieldToEventLoop();
            }
            await gateway.published();
            for (const each of clients) each.resume();
            for (const each of clients) {
              await each.caughtUp();
              each.check();
            }
            expect(await gateway.metric('gateway_dropped_frames_total')).toBe(0);
          } finally {
            for (const each of clients) each.disconnect();
            await gateway.close();
          }
        },
      ),
      { examples: [COMPLETE], numRuns: 20, interruptAfterTimeLimit: 300_000, markInterruptAsFailure: true },
    );
    // The schedules must have covered what the test is about.
    expect(restarts).toBeGreaterThan(0);
    expect(skips).toBeGreaterThan(0);
    expect(updates).toBeGreaterThan(0);
  }, 340_000);
});
