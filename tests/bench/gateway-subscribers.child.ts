import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import WebSocket from 'ws';

/** Opens `sockets` sockets that each send `subscriptions` subscriptions at once, and closes them after `ms`. */
export interface SubscribersCommand {
  readonly port: number;
  readonly sockets: number;
  readonly subscriptions: number;
  readonly ms: number;
}
/** Subscriptions acked or rejected within the time. */
export type SubscribersResult = number;

process.on('message', async ({ port, sockets, subscriptions, ms }: SubscribersCommand) => {
  const open = await Promise.all(
    Array.from({ length: sockets }, async () => {
      const socket = new WebSocket(`ws://127.0.0.1:${port}/ws?key=bench`, { perMessageDeflate: false });
      await once(socket, 'open');
      return socket;
    }),
  );
  let acked = 0;
  for (const [n, socket] of open.entries()) {
    socket.on('message', (data) => {
      const head = (data as Buffer).subarray(0, 20).toString();
      if (head.startsWith('{"type":"subscribed"') || head.startsWith('{"type":"error"')) acked += 1;
    });
    for (let i = 0; i < subscriptions; i++) {
      const wallets = [`0x${(n * subscriptions + i).toString(16).padStart(40, 'b')}`];
      socket.send(JSON.stringify({ action: 'subscribe', type: 'wallets', filters: { wallets } }));
    }
  }
  await sleep(ms);
  for (const socket of open) socket.terminate();
  process.send?.(acked);
});
process.send?.(0);
