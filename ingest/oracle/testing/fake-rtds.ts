import type { AddressInfo } from 'node:net';
import { type WebSocket, WebSocketServer } from 'ws';

interface SubscriptionEntry {
  readonly topic: string;
  readonly type: string;
  readonly filters?: unknown;
}

/** One client of the fake service: its subscriptions, and fault injection for it. */
export interface FakeClient {
  /** Each subscribed `topic symbol`. */
  readonly subscribed: Set<string>;
  /** Number of subscription requests per `topic symbol`. */
  readonly subscribeCounts: Map<string, number>;
  readonly pings: () => number;
  /** Stops data but responds to pings: the known fault of the service. */
  stall(): void;
  sendRaw(text: string | Buffer): void;
  close(): void;
}

/** Fake of the venue's real-time service with fault injection. Responds to a subscription with a dump. */
export interface FakeRtds {
  readonly url: string;
  readonly clients: FakeClient[];
  /** All clients since the start, including closed ones. */
  readonly allClients: FakeClient[];
  /** Sends an update frame to every subscribed client that is not silenced. */
  publish(topic: string, symbol: string, payload: Record<string, unknown>): void;
  /** Rows of the dump a new subscription gets. */
  setDump(topic: string, symbol: string, rows: readonly Record<string, unknown>[]): void;
  rejectConnections(rejecting: boolean): void;
  stop(): Promise<void>;
}

export async function startFakeRtds(): Promise<FakeRtds> {
  let rejecting = false;
  const server = new WebSocketServer({ port: 0, host: '127.0.0.1', verifyClient: () => !rejecting });
  await new Promise<void>((resolve) => server.once('listening', resolve));
  const clients: (FakeClient & { readonly socket: WebSocket; readonly isSilent: () => boolean })[] = [];
  const allClients: FakeClient[] = [];
  const dumps = new Map<string, readonly Record<string, unknown>[]>();
  const envelope = (topic: string, type: string, payload: unknown) =>
    JSON.stringify({ connection_id: 'c-1', topic, type, timestamp: Date.now(), payload });

  server.on('connection', (socket) => {
    let stalled = false;
    let pings = 0;
    const client = {
      socket,
      subscribed: new Set<string>(),
      subscribeCounts: new Map<string, number>(),
      pings: () => pings,
      isSilent: () => stalled,
      stall: () => {
        stalled = true;
      },
      sendRaw: (text: string | Buffer) => socket.send(text),
      close: () => socket.close(1011),
    };
    clients.push(client);
    allClients.push(client);
    socket.on('close', () => clients.splice(clients.indexOf(client), 1));
    socket.on('message', (data) => {
      const text = String(data);
      if (text === 'PING') {
        pings++;
        socket.send('PONG');
        return;
      }
      const { action, subscriptions } = JSON.parse(text) as { action: string; subscriptions: SubscriptionEntry[] };
      for (const { topic, filters } of subscriptions) {
        const symbol = symbolOf(filters);
        if (symbol === null) continue;
        const key = `${topic} ${symbol}`;
        if (action === 'unsubscribe') client.subscribed.delete(key);
        if (action !== 'subscribe') continue;
        client.subscribed.add(key);
        client.subscribeCounts.set(key, (client.subscribeCounts.get(key) ?? 0) + 1);
        const data = dumps.get(key);
        if (data !== undefined && !stalled) socket.send(envelope(topic, 'subscribe', { symbol, data }));
      }
    });
  });

  return {
    url: `ws://127.0.0.1:${(server.address() as AddressInfo).port}`,
    clients,
    allClients,
    publish(topic, symbol, payload) {
      for (const client of clients) {
        if (client.isSilent() || !client.subscribed.has(`${topic} ${symbol}`)) continue;
        client.socket.send(envelope(topic, 'update', { symbol, ...payload }));
      }
    },
    setDump(topic, symbol, rows) {
      dumps.set(`${topic} ${symbol}`, rows);
    },
    rejectConnections(value) {
      rejecting = value;
    },
    async stop() {
      for (const socket of server.clients) socket.terminate();
      await new Promise<void>((resolve) => server.close(() => resolve()));
    },
  };
}

/** Like the service: a filter that is not a JSON object with a symbol, as a string, subscribes to nothing, without an error. */
function symbolOf(filters: unknown): string | null {
  if (typeof filters !== 'string') return null;
  try {
    const { symbol } = JSON.parse(filters) as { symbol?: unknown };
    return typeof symbol === 'string' ? symbol : null;
  } catch {
    return null;
  }
}
