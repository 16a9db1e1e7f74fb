import { afterEach, describe, expect, it } from 'vitest';
import { startTestGateway } from '../../stream-gateway/testing.js';
import { startTcpProxy } from '../support/anvil.js';
import { whyNoPython } from '../support/python.js';
import { startPythonClient, stopPythonClients } from '../support/python-client.js';
import { recordedStream } from '../support/recorded-stream.js';

const FROM = Date.UTC(2026, 10, 21, 15, 4, 0);
const noPython = whyNoPython('the Python clients');
afterEach(stopPythonClients);

/** Starts a client; `until` waits for a condition and fails with what the client has printed. */
async function start(script: string, ...args: readonly string[]) {
  const client = await startPythonClient(script, ...args);
  const until = (what: string, condition: () => boolean) =>
    expect
      .poll(condition)
      .toBe(true)
      .catch((error: unknown) => {
        throw new Error(`${what}: ${String(error)} ${client.errors()} ${JSON.stringify(client.lines.at(-1))}`);
      });
  return { ...client, until };
}

describe('Python clients without code of this repository', () => {
  it('the official client of the reference service and one that uses every option get the same trades', async () => {
    const missing = await noPython;
    if (missing !== null) return expect(missing).toMatch(/Python/);
    const events = (await recordedStream(FROM, FROM + 60_000)).filter(({ kind }) => kind !== 'price_feed');
    const first = events[0]?.seq ?? 0;
    const sources = { freshness: () => [], all: () => [] };
    const { server, publish } = await startTestGateway({
      epoch: () => '00ff00ff00ff00ff',
      sources,
      limits: { heartbeatMs: 100 },
    });
    const proxy = await startTcpProxy(server.port);
    try {
      const address = `ws://127.0.0.1:${proxy.port}/ws`;
      const wallet = events.find(({ kind }) => kind === 'trade')?.wallets[0] ?? '';
      const subscribe = {
        action: 'subscribe',
        type: 'trades',
        on_slow: 'skip',
        end_of_block: true,
        filters: { wallets: [wallet], since_seq: 0 },
      };
      const reference = await start('reference_client.py', address, 'big');
      const client = await start('socket_client.py', `${address}?key=big&notices=1`, JSON.stringify(subscribe));
      const frames = () => client.lines.map(({ frame }) => frame as Record<string, unknown>);
      await client.until('subscription', () => frames().some(({ type }) => type === 'caught_up'));
      await reference.until('heartbeat', () => reference.lines.length > 0);
      const others = [...new Set(events.flatMap(({ wallets }) => wallets))].filter((other) => other !== wallet);
      const half = Math.floor(events.length / 2);
      for (const event of events.slice(0, half)) await publish(event);
      client.send({ update: { add: { wallets: others.slice(0, 50) }, remove: { wallets: [wallet] } } });
      await client.until('update', () => frames().some(({ type }) => type === 'updated'));
      const connected = reference.lines.length;
      proxy.interrupt();
      for (const event of events.slice(half)) await publish(event);
      proxy.resume();
      const head = events.at(-1)?.seq ?? 0;
      const heartbeat = ({ type, seq }: Record<string, unknown>) => type === 'heartbeat' && (seq as number) >= head;
      await client.until('the last position', () => frames().some(heartbeat));

      client.send({ update: { add: { wallets: [wallet] }, remove: { wallets: others.slice(0, 50) } } });
      await client.until('the second update', () => frames().filter(({ type }) => type === 'updated').length === 2);

      const updatedAt = frames().find(({ type }) => type === 'updated')?.seq as number;
      expect(updatedAt).toBe(events[half - 1]?.seq);
      const trades = ['settlement', 'trade', 'status_update'];
      const second = new Set(others.slice(0, 50));
      const expected = events.filter(
        ({ kind, seq, wallets }) =>
          trades.includes(kind) &&
          (seq <= updatedAt ? wallets.includes(wallet) : wallets.some((one) => second.has(one))),
      );
      const received = frames().filter(({ type }) => trades.includes(type as string));
      expect(received.map(({ seq }) => seq)).toEqual(expected.map(({ seq }) => seq));
      expect(first).toBeGreaterThan(0);

      // It resumes by the time of the last event, and drops what it has seen.
      const ofReference = () => reference.lines.filter(({ type }) => type !== undefined);
      const all = events.filter(({ kind }) => trades.includes(kind));
      await reference.until('events', () => ofReference().length >= half / 2);
      const known = new Set(all.map(({ kind, tx_hash }) => `${kind} ${tx_hash}`));
      for (const { type, tx_hash } of ofReference()) expect(known).toContain(`${type} ${tx_hash}`);
      // Only attempts to connect while the proxy is interrupted fail: none before, and none once it is connected again.
      const again = reference.lines.findIndex(({ error }, n) => n >= connected && error === undefined);
      const errorsOf = (lines: typeof reference.lines) =>
        lines.flatMap(({ error }) => (error === undefined ? [] : [String(error)]));
      expect(errorsOf([...reference.lines.slice(0, connected), ...reference.lines.slice(again)])).toEqual([]);
      for (const error of errorsOf(reference.lines)) expect(error).toMatch(/^WsError\(reconnect_failed\)/);
    } finally {
      await proxy.close();
      await server.close();
    }
  }, 180_000);
});
