import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { yieldToEventLoop } from '../../infra/event-loop.js';
import type { StreamEvent } from '../../schemas/types.gen.js';
import { defaultPeerLimits } from '../../stream-gateway/hub/peer.js';
import { connectTestClient } from '../../stream-gateway/testing.js';
import { anyEvent, anySubscription, naiveMatch, type SubscribeRequest } from './naive.js';
import { createStream, FIRST_SEQ, followWithGateway } from './stream.js';

/** How a client treats its connections: cut each after so many frames; read slowly or not. */
interface ClientBehavior {
  readonly subscriptions: readonly SubscribeRequest[];
  readonly cutAfter: readonly number[];
  readonly stalls: boolean;
}

const clientBehavior: fc.Arbitrary<ClientBehavior> = fc.record({
  subscriptions: fc.array(anySubscription, { minLength: 1, maxLength: 3 }),
  cutAfter: fc.array(fc.integer({ min: 1, max: 120 }), { maxLength: 4 }),
  stalls: fc.boolean(),
});

describe('since_seq', () => {
  it('gives a client every matching event in order, once, over any cuts, stalls and restarts of the server', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.array(anyEvent, { minLength: 1, maxLength: 40, size: 'max' }), {
          minLength: 3,
          maxLength: 12,
          size: 'max',
        }),
        fc.array(clientBehavior, { minLength: 1, maxLength: 3 }),
        fc.nat(),
        async (batches, habits, restartSeed) => {
          const stream = await createStream();
          await stream.append({});
          const options = {
            recentEvents: 30,
            limits: {
              peer: { ...defaultPeerLimits, replayHighWaterBytes: 4_000, replayLowWaterBytes: 1_000 },
              drainMs: 20,
            },
          };
          let gateway = await followWithGateway(stream, options);
          let finished = false;
          let restarting: Promise<void> = Promise.resolve();

          const live = async ({ subscriptions, cutAfter, stalls }: ClientBehavior): Promise<readonly number[]> => {
            // One selection of feeds per connection: the last one given holds.
            const held = subscriptions.filter(
              (ask, at) =>
                ask.type !== 'chainlink' || subscriptions.slice(at + 1).every(({ type }) => type !== 'chainlink'),
            );
            const due = () => stream.events.filter((event) => held.some((ask) => naiveMatch(ask, event)));
            const got: number[] = [];
            for (let round = 0; ; round++) {
              await restarting;
              const client = await connectTestClient(gateway.server).catch(() => null);
              if (client === null) {
                await yieldToEventLoop();
                continue;
              }
              let closed = false;
              void client.closed.then(() => {
                closed = true;
              });
              const since = got.at(-1) ?? FIRST_SEQ - 1;
              for (const ask of held) {
                client.send({ action: 'subscribe', type: ask.type, filters: { ...ask.filters, since_seq: since } });
              }
              const seqs = () => client.frames.flatMap(({ seq }) => (seq === undefined ? [] : [seq as number]));
              const limit = cutAfter[round] ?? Number.POSITIVE_INFINITY;
              const complete = () => finished && got.length + seqs().length >= due().length;
              for (let turns = 0; !closed && seqs().length < limit && !complete(); turns++) {
                if (stalls && turns % 50 === 20) client.socket.pause();
                if (stalls && turns % 50 === 45) client.socket.resume();
                await yieldToEventLoop();
              }
              client.socket.terminate();
              got.push(...seqs());
              if (complete() && seqs().length < limit) return got;
            }
          };

          const clients = habits.map(live);
          try {
            for (const [at, batch] of batches.entries()) {
              await stream.append(...batch);
              await yieldToEventLoop();
              if ((restartSeed + at) % 5 !== 0) continue;
              restarting = gateway.close().then(async () => {
                gateway = await followWithGateway(stream, options);
              });
              await restarting;
            }
            finished = true;
            const results = await Promise.all(clients);
            for (const [at, got] of results.entries()) {
              const asks = (habits[at] as ClientBehavior).subscriptions;
              const held = asks.filter(
                (ask, i) => ask.type !== 'chainlink' || asks.slice(i + 1).every(({ type }) => type !== 'chainlink'),
              );
              const matches = (event: StreamEvent) => held.some((ask) => naiveMatch(ask, event));
              expect(got).toEqual(stream.events.filter(matches).map(({ seq }) => seq));
            }
          } finally {
            await gateway.close();
          }
        },
      ),
      { numRuns: 15, interruptAfterTimeLimit: 100_000 },
    );
  }, 120_000);
});
