import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { yieldToEventLoop } from '../../infra/event-loop.js';
import type { StreamEvent } from '../../schemas/types.gen.js';
import { defaultPeerLimits } from '../../stream-gateway/hub/peer.js';
import { connectTestClient } from '../../stream-gateway/testing.js';
import { anyEvent, anySubscription, naiveMatch, type SubscribeRequest } from './naive.js';
import { createStream, FIRST_SEQ, followWithGateway } from './stream.js';

/** Behaviour of a client: it cuts connection n after `cutAfter[n]` frames; with `stalls` it pauses reading from time to time. */
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

/** Only a failing test waits this long. */
const STALL_MS = 60_000;

describe('resuming with since_seq', () => {
  it('delivers every matching event in order, once, over random cuts, stalls and restarts of the server', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.array(anyEvent, { minLength: 1, maxLength: 40, size: 'max' }), {
          minLength: 3,
          maxLength: 12,
          size: 'max',
        }),
        fc.array(clientBehavior, { minLength: 1, maxLength: 3 }),
        fc.nat(),
        async (batches, behaviors, restartSeed) => {
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
          let ended = false;
          let restarting: Promise<void> = Promise.resolve();

          const live = async ({ subscriptions, cutAfter, stalls }: ClientBehavior): Promise<readonly number[]> => {
            // A connection has one chainlink selection: the last one replaces the others.
            const effective = subscriptions.filter(
              (request, at) =>
                request.type !== 'chainlink' || subscriptions.slice(at + 1).every(({ type }) => type !== 'chainlink'),
            );
            const expected = () =>
              stream.events.filter((event) => effective.some((request) => naiveMatch(request, event)));
            const received: number[] = [];
            let [progress, progressMs] = [0, performance.now()];
            const checkProgress = (count: number) => {
              if (ended) throw new Error('The run has ended');
              if (!finished || count !== progress) [progress, progressMs] = [count, performance.now()];
              else if (performance.now() - progressMs > STALL_MS)
                throw new Error(`${count} of ${expected().length} events, then nothing for ${STALL_MS} ms`);
            };
            for (let round = 0; ; round++) {
              await restarting;
              checkProgress(received.length);
              const client = await connectTestClient(gateway.server).catch(() => null);
              if (client === null) {
                await yieldToEventLoop();
                continue;
              }
              let closed = false;
              void client.closed.then(() => {
                closed = true;
              });
              const since = received.at(-1) ?? FIRST_SEQ - 1;
              for (const request of effective) {
                client.send({
                  action: 'subscribe',
                  type: request.type,
                  filters: { ...request.filters, since_seq: since },
                });
              }
              const seqs = () => client.frames.flatMap(({ seq }) => (seq === undefined ? [] : [seq as number]));
              const limit = cutAfter[round] ?? Number.POSITIVE_INFINITY;
              const complete = () => finished && received.length + seqs().length >= expected().length;
              for (let iterations = 0; !closed && seqs().length < limit && !complete(); iterations++) {
                checkProgress(received.length + seqs().length);
                if (stalls && iterations % 50 === 20) client.socket.pause();
                if (stalls && iterations % 50 === 45) client.socket.resume();
                await yieldToEventLoop();
              }
              client.socket.terminate();
              received.push(...seqs());
              if (complete() && seqs().length < limit) return received;
            }
          };

          const clients = behaviors.map(live);
          for (const client of clients) client.catch(() => undefined);
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
            for (const [at, received] of results.entries()) {
              const subscriptions = (behaviors[at] as ClientBehavior).subscriptions;
              const effective = subscriptions.filter(
                (request, i) =>
                  request.type !== 'chainlink' || subscriptions.slice(i + 1).every(({ type }) => type !== 'chainlink'),
              );
              const matches = (event: StreamEvent) => effective.some((request) => naiveMatch(request, event));
              expect(received).toEqual(stream.events.filter(matches).map(({ seq }) => seq));
            }
          } finally {
            ended = true;
            await gateway.close();
          }
        },
      ),
      { numRuns: 15, interruptAfterTimeLimit: 200_000, markInterruptAsFailure: true },
    );
  }, 240_000);
});
