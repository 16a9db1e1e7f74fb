import { afterEach, expect, it, vi } from 'vitest';
// @ts-expect-error: a module of the browser, without types
import { openStream } from './browser/stream.js';

afterEach(() => {
  vi.unstubAllGlobals();
  vi.useRealTimers();
});

/** The sockets that the module has opened, and what it has sent over each. */
function stubSockets() {
  const sockets: {
    sent: { filters: object }[];
    onopen(): void;
    onmessage?(message: object): void;
    onclose?(event: object): void;
    close(): void;
  }[] = [];
  vi.stubGlobal(
    'WebSocket',
    class {
      sent: object[] = [];
      constructor() {
        sockets.push(this as never);
      }
      send = (text: string) => this.sent.push(JSON.parse(text));
      close() {
        this.sent.push({ closed: true });
      }
    },
  );
  return sockets;
}

it('openStream subscribes again with since_seq in place of since, and without it when the events after the last one are gone', async () => {
  const sockets = stubSockets();
  const message = { action: 'subscribe', type: 'trades', filters: { side: 'BUY', since: 5 } };
  const on = { bytes: () => undefined, frame: () => undefined, state: () => undefined };
  const stream = openStream({ url: 'ws://server/ws', message, on });
  const [socket] = sockets;
  const receive = async (frame: object) => {
    socket?.onmessage?.({ data: JSON.stringify(frame) });
    await new Promise((resolve) => setImmediate(resolve));
  };
  socket?.onopen();
  await receive({ type: 'error', code: 'since_seq_unavailable' });
  await receive({ type: 'trade', seq: 7 });
  socket?.onopen();
  await receive({ type: 'error', code: 'since_seq_unavailable' });
  stream.close();
  const subscriptions = socket?.sent.filter((one) => 'filters' in one).map(({ filters }) => filters);
  expect(subscriptions).toEqual([
    { side: 'BUY', since: 5 },
    { side: 'BUY', since_seq: 7 },
    { side: 'BUY', since: 5 },
  ]);
});

it('openStream connects again when a subscription is unavailable, with longer waits, and not once it is closed', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'setInterval', 'clearInterval', 'Date'] });
  const sockets = stubSockets();
  const states: string[][] = [];
  const on = { bytes: () => undefined, frame: () => undefined, state: (...state: string[]) => states.push(state) };
  const stream = openStream({ url: 'ws://server/ws', message: { action: 'subscribe', type: 'trades' }, on });
  const unavailable = async (index: number) => {
    const socket = sockets[index];
    socket?.onopen();
    socket?.onmessage?.({
      data: '{"type":"error","code":"unavailable","message":"The log cannot be read right now."}',
    });
    await new Promise((resolve) => setImmediate(resolve));
  };
  await unavailable(0);
  expect(states.at(-1)).toEqual(['waiting', 'unavailable: The log cannot be read right now.']);
  vi.advanceTimersByTime(1_000);
  await unavailable(1);
  vi.advanceTimersByTime(1_999);
  expect(sockets).toHaveLength(2);
  vi.advanceTimersByTime(1);
  expect(sockets).toHaveLength(3);
  const late = unavailable(2);
  stream.close();
  await late;
  vi.advanceTimersByTime(60_000);
  expect(sockets).toHaveLength(3);
});

it('openStream reports missed events when the server resumes later than after the last one, or not at all, and only then', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'setInterval', 'clearInterval', 'Date'] });
  const sockets = stubSockets();
  const missed = vi.fn();
  const message = { action: 'subscribe', type: 'trades', filters: {} };
  const on = { bytes: () => undefined, frame: () => undefined, state: () => undefined, missed };
  const stream = openStream({ url: 'ws://server/ws', message, further: [{ type: 'chainlink' }], on });
  const [socket] = sockets;
  const receive = async (frame: object) => {
    socket?.onmessage?.({ data: JSON.stringify(frame) });
    await new Promise((resolve) => setImmediate(resolve));
  };
  const acknowledge = (...warnings: string[]) => receive({ type: 'subscribed', epoch: 'a', warnings });
  socket?.onopen();
  await acknowledge('snapshot_count clamped to 10, the cap of your plan');
  await receive({ type: 'trade', seq: 7 });
  socket?.onopen();
  await acknowledge();
  await acknowledge('filters.slugs ignored: chainlink has none');
  expect(missed).toHaveBeenCalledTimes(0);
  socket?.onopen();
  await acknowledge('since_seq clamped to the last 30 s of your plan: the replay begins at seq 90');
  expect(missed).toHaveBeenCalledTimes(1);
  socket?.onopen();
  await receive({ type: 'error', code: 'since_seq_unavailable' });
  await acknowledge('snapshot_count clamped to 10, the cap of your plan');
  expect(missed).toHaveBeenCalledTimes(2);
  stream.close();
});

// docs/SOCKET.md: what to do after each close code.
it.each([
  ...[4402, 4403, 4409, 4429].map((code) => [code, 'closed'] as const),
  ...[1006, 1008, 1012, 1013, 4408].map((code) => [code, 'waiting'] as const),
])('openStream is, with the reason, after close code %i: %s', (code, expected) => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'setInterval', 'clearInterval', 'Date'] });
  const sockets = stubSockets();
  const states: string[][] = [];
  const on = { bytes: () => undefined, frame: () => undefined, state: (...state: string[]) => states.push(state) };
  const stream = openStream({ url: 'ws://server/ws', message: { action: 'subscribe', type: 'trades' }, on });
  sockets[0]?.onopen();
  sockets[0]?.onclose?.({ code, reason: 'the reason' });
  expect(states.at(-1)).toEqual([expected, `${code} the reason`]);
  vi.advanceTimersByTime(60_000);
  expect(sockets.length > 1).toBe(expected === 'waiting');
  stream.close();
});

it('openStream reconnects after 35 silent seconds without a close event, resumes in the same log, and hears the old connection no more', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'setInterval', 'clearInterval', 'Date'] });
  const sockets = stubSockets();
  const message = { action: 'subscribe', type: 'trades', filters: { side: 'BUY' } };
  const seqs: number[] = [];
  const states: string[] = [];
  const on = {
    bytes: () => undefined,
    frame: ({ seq }: { seq?: number }) => seq !== undefined && seqs.push(seq),
    state: (name: string) => states.push(name),
  };
  const stream = openStream({ url: 'ws://server/ws', message, on });
  const receive = async (at: number, frame: object) => {
    sockets[at]?.onmessage?.({ data: JSON.stringify(frame) });
    await new Promise((resolve) => setImmediate(resolve));
  };
  sockets[0]?.onopen();
  await receive(0, { type: 'subscribed', epoch: 'a' });
  await receive(0, { type: 'trade', seq: 7 });
  vi.advanceTimersByTime(35_000);
  expect(sockets).toHaveLength(1);
  vi.advanceTimersByTime(3_000);
  expect(sockets).toHaveLength(2);
  sockets[1]?.onopen();
  await receive(0, { type: 'trade', seq: 8 });
  await receive(1, { type: 'error', code: 'cursor_of_another_log' });
  await receive(1, { type: 'trade', seq: 3 });
  stream.close();
  vi.advanceTimersByTime(300_000);
  expect(sockets).toHaveLength(2);
  expect(seqs).toEqual([7, 3]);
  expect(sockets[1]?.sent.filter((one) => 'filters' in one).map(({ filters }) => filters)).toEqual([
    { side: 'BUY', since_seq: 'a:7' },
    { side: 'BUY' },
  ]);
  expect(states).toEqual(['connecting', 'open', 'waiting', 'connecting', 'open', 'closed']);
});
