import { afterEach, describe, expect, it } from 'vitest';
import { createGatewayView } from '../../api/sources/gateway-view.js';
import { createMemoryLog } from '../../infra/log/testing.js';
import { createCodec } from '../../schemas/codec.js';
import { topics } from '../../schemas/topics.js';

const NOW = Date.UTC(2027, 4, 22);
const TOPIC = topics.gatewaySessions.name;
const codec = createCodec();

const controller = new AbortController();
afterEach(() => controller.abort());

const alive = (process: string, atMs: number, connections: number, firehoses: number) => ({
  key: `process:${process}`,
  value: codec.encode('gateway_session', {
    process_id: process,
    at_ms: atMs,
    fact: { 'oddstream.GatewayAlive': { instance: `place-${process}`, connections, firehoses } },
  }),
  timestampMs: atMs,
});

describe('createGatewayView', () => {
  it('sums the last report of each process without expired and ended ones, and counts unreadable records', async () => {
    const log = createMemoryLog();
    await log.ensureTopics([topics.gatewaySessions]);
    const session = {
      session_id: 's1',
      account_id: 'a1',
      stage: 'hold' as const,
      cap: null,
      timed: false,
      opened_ms: NOW,
      seen_ms: NOW,
      timed_from_ms: null,
    };
    await log.append(TOPIC, [
      alive('one', NOW - 4_000, 9, 8),
      alive('one', NOW - 2_000, 5, 2),
      alive('two', NOW - 1_000, 40, 1),
      alive('silent', NOW - 20_001, 700, 70),
      alive('ended', NOW, 3_000, 300),
      { key: 'process:ended', value: null, timestampMs: NOW },
      {
        key: 'session:s1',
        value: codec.encode('gateway_session', {
          process_id: 'one',
          at_ms: NOW,
          fact: { 'oddstream.ConnectionSession': session },
        }),
        timestampMs: NOW,
      },
      { key: 'process:three', value: Buffer.from('no event'), timestampMs: NOW },
    ]);
    const unreadable: unknown[] = [];
    const view = createGatewayView({
      log,
      codec,
      signal: controller.signal,
      onUnreadable: ({ topic, offset }) => unreadable.push([topic, offset]),
    });
    await view.ready();
    // 5 + 40 and 2 + 1: the newest report of `one`, and `two`.
    expect(view.load(NOW)).toEqual({ connections: 45, firehoses: 3 });
    expect(unreadable).toEqual([[TOPIC, 7]]);
    expect(view.load(NOW + 18_500)).toEqual({ connections: 40, firehoses: 1 });
    await log.append(TOPIC, [alive('one', NOW + 18_500, 6, 0)]);
    await expect.poll(() => view.load(NOW + 18_500)).toEqual({ connections: 46, firehoses: 1 });
  });
});
