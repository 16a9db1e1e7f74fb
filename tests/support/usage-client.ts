import { once } from 'node:events';
import WebSocket from 'ws';

/** Types of frames that are not billed. */
const control = new Set(['subscribed', 'unsubscribed', 'heartbeat', 'pong', 'error', 'warning', 'notice']);

export interface Received {
  readonly atMs: number;
  readonly meter: 'onchain_event_bytes' | 'orderbook_chainlink_bytes';
  readonly bytes: number;
}

export interface ByteCounter {
  readonly socket: WebSocket;
  readonly received: readonly Received[];
  readonly closed: Promise<{ readonly code: number; readonly atMs: number }>;
}

/** A subscriber that counts the billed bytes: UTF-8 length of text frames, length of binary frames as received. */
export async function countBytes(
  url: string,
  subscriptions: readonly object[],
  inflate?: (message: Buffer) => Buffer,
): Promise<ByteCounter> {
  const socket = new WebSocket(url, { perMessageDeflate: false });
  const received: Received[] = [];
  const closed = new Promise<{ code: number; atMs: number }>((resolve) => {
    socket.on('close', (code) => resolve({ code, atMs: Date.now() }));
  });
  socket.on('message', (data: Buffer, isBinary) => {
    const text = isBinary ? (inflate?.(data) ?? data) : data;
    const { type } = JSON.parse(text.toString('utf8')) as { type: string };
    if (control.has(type)) return;
    const meter = type === 'price_feed' ? 'orderbook_chainlink_bytes' : 'onchain_event_bytes';
    received.push({ atMs: Date.now(), meter, bytes: data.length });
  });
  await once(socket, 'open');
  socket.on('error', () => undefined);
  for (const subscription of subscriptions) socket.send(JSON.stringify({ action: 'subscribe', ...subscription }));
  return { socket, received, closed };
}

/** Sum per meter of the frames received up to a time. */
export function sumOf(
  received: readonly Received[],
  untilMs = Number.POSITIVE_INFINITY,
): Record<Received['meter'], number> {
  const sums = { onchain_event_bytes: 0, orderbook_chainlink_bytes: 0 };
  for (const one of received) if (one.atMs <= untilMs) sums[one.meter] += one.bytes;
  return sums;
}
