import WebSocket from 'ws';

const RECONNECT_MS = 100;

/**
 * A subscriber of all trades that resumes at the next address when its connection ends. `times`: when each transaction arrived, performance.now.
 */
export function startFollower(addresses: readonly string[]) {
  const times = new Map<string, number>();
  let doubled = 0;
  let at = 0;
  let since: string | null = null;
  let epoch: string | null = null;
  let stopped = false;
  let subscribed = false;
  let socket: WebSocket;
  const connect = () => {
    socket = new WebSocket(addresses[at % addresses.length] as string, { perMessageDeflate: false });
    socket.on('open', () => {
      const filters = since === null ? { snapshot_count: 0 } : { since_seq: since };
      socket.send(JSON.stringify({ action: 'subscribe', type: 'trades', filters }));
    });
    socket.on('message', (data) => {
      const nowMs = performance.now();
      const frame = JSON.parse(String(data)) as {
        type: string;
        seq?: number;
        epoch?: string;
        data?: { tx_hash: string };
      };
      if (frame.type === 'subscribed') {
        subscribed = true;
        epoch = frame.epoch ?? epoch;
      }
      if (frame.type !== 'trade' || frame.data === undefined) return;
      since = epoch === null ? String(frame.seq) : `${epoch}:${frame.seq}`;
      if (times.has(frame.data.tx_hash)) doubled += 1;
      else times.set(frame.data.tx_hash, nowMs);
    });
    socket.on('error', () => undefined);
    socket.on('close', () => {
      if (stopped) return;
      at += 1;
      setTimeout(connect, RECONNECT_MS);
    });
  };
  connect();
  return {
    times,
    /** Index of the address of the current connection. */
    address: () => at % addresses.length,
    doubled: () => doubled,
    /** Whether a server has accepted its subscription. */
    subscribed: () => subscribed,
    stop() {
      stopped = true;
      socket.terminate();
    },
  };
}
