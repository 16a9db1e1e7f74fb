import { afterEach, expect, it, vi } from 'vitest';
// @ts-expect-error: a module of the browser, without types
import { openStream } from './browser/stream.js';

afterEach(() => vi.unstubAllGlobals());

/** The sockets that the module has opened, and what it has sent over each. */
function stubSockets() {
  const sockets: { sent: { filters: object }[]; onopen(): void; onmessage(message: object): void; close(): void }[] =
    [];
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

it('openStream subscribes again without since_seq when the events after the last one are gone, and only then', async () => {
  const sockets = stubSockets();
  const message = { action: 'subscribe', type: 'trades', filters: { side: 'BUY' } };
  const on = { bytes: () => undefined, frame: () => undefined, state: () => undefined };
  const stream = openStream({ url: 'ws://server/ws', message, on });
  const [socket] = sockets;
  const receive = async (frame: object) => {
    socket?.onmessage({ data: JSON.stringify(frame) });
    await new Promise((resolve) => setImmediate(resolve));
  };
  socket?.onopen();
  await receive({ type: 'error', code: 'since_seq_unavailable' });
  await receive({ type: 'trade', seq: 7 });
  socket?.onopen();
  await receive({ type: 'error', code: 'since_seq_unavailable' });
  stream.close();
  const subscriptions = socket?.sent.filter((one) => 'filters' in one).map(({ filters }) => filters);
  expect(subscriptions).toEqual([{ side: 'BUY' }, { side: 'BUY', since_seq: 7 }, { side: 'BUY' }]);
});
