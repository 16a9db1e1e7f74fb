import { afterEach, describe, expect, it } from 'vitest';
import { connectTestClient, startTestGateway, streamEvent } from '../testing.js';

const cleanups: (() => Promise<void> | void)[] = [];
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
});

describe('ends of blocks', () => {
  it.each([
    ['memory', 1_000],
    ['the log', 2],
  ])('have a number after a replay from %s that begins between two blocks', async (_from, recentEvents) => {
    const { load, server } = await startTestGateway({ recentEvents });
    cleanups.push(() => server.close());
    const of = (seq: number, number: number, kind: string) =>
      streamEvent(seq, { kind, block_number: number, wallets: ['0xaa'] });
    load(of(1, 7, 'trade'));
    load(of(2, 7, 'block'));
    load(of(3, 8, 'trade'));
    load(of(4, 8, 'retract'));
    load(of(5, 8, 'trade'));
    load(of(6, 8, 'block'));
    for (const [since_seq, ends] of [
      [1, [null, 1]],
      [2, [1]],
      [3, [1]],
      [4, [1]],
      [5, [null]],
    ] as const) {
      const one = await connectTestClient(server);
      cleanups.push(() => one.socket.terminate());
      const filters = { event_types: ['trade'], since_seq, end_of_block: true };
      one.send({ action: 'subscribe', type: 'global', filters });
      const received = () => one.frames.flatMap(({ type, events }) => (type === 'end_of_block' ? [events] : []));
      await expect.poll(received).toEqual(ends);
    }
  });
});
