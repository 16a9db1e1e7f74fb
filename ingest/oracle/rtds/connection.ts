import { WebSocket } from 'ws';
import { type DecodedFrame, decodeFrame } from './decode.js';
import { createStallDetector } from './stall-detector.js';
import { type Subscription, subscriptionFrame, subscriptionKey } from './subscriptions.js';

/** Maximum frame size; a dump of two minutes has about 20 KB. */
const MAX_FRAME_BYTES = 1024 * 1024;

export interface ConnectionTimes {
  /** Text PING interval. */
  readonly pingMs: number;
  /** Time without data after which a subscription is stale. */
  readonly staleMs: number;
  /** Opening handshake limit. */
  readonly openMs: number;
  /** Maximum lifetime of the connection. */
  readonly recycleMs: number;
}

/** Reason of a connection's end, and whether it delivered a price. */
export interface ConnectionEnd {
  readonly reason: string;
  readonly planned: boolean;
  readonly delivered: boolean;
}

export interface ConnectionEvents {
  open(): void;
  frame(frame: DecodedFrame, text: string): void;
  resubscribed(keys: readonly string[]): void;
}

/** One connection from open to close: subscribes, sends pings, detects stalls. Never throws; resolves with the reason of the end. */
export function runConnection(options: {
  url: string;
  subscriptions: readonly Subscription[];
  times: ConnectionTimes;
  events: ConnectionEvents;
  signal: AbortSignal;
  now: () => number;
}): Promise<ConnectionEnd> {
  const { subscriptions, times, events, signal, now } = options;
  const byKey = new Map(subscriptions.map((subscription) => [subscriptionKey(subscription), subscription]));
  const requestedTopics = [...new Set(subscriptions.map(({ topic }) => topic))];

  return new Promise((resolve) => {
    let delivered = false;
    let ended = false;
    const timers: NodeJS.Timeout[] = [];
    const stallDetector = { current: createStallDetector([...byKey.keys()], times.staleMs, now()) };
    const socket = new WebSocket(options.url, {
      handshakeTimeout: times.openMs,
      perMessageDeflate: false,
      maxPayload: MAX_FRAME_BYTES,
    });

    const end = (reason: string, planned = false) => {
      if (ended) return;
      ended = true;
      for (const timer of timers) clearInterval(timer);
      signal.removeEventListener('abort', onAbort);
      socket.terminate();
      resolve({ reason, planned, delivered });
    };
    const onAbort = () => end('stopped', true);
    const send = (text: string) => {
      if (socket.readyState === WebSocket.OPEN) socket.send(text);
    };
    const checkStall = () => {
      const action = stallDetector.current.check(now());
      if (action.type === 'reconnect') end(action.reason);
      if (action.type !== 'resubscribe') return;
      const stale = action.keys.flatMap((key) => byKey.get(key) ?? []);
      send(subscriptionFrame('unsubscribe', stale));
      send(subscriptionFrame('subscribe', stale));
      events.resubscribed(action.keys);
    };
    const onText = (text: string) => {
      const frame = decodeFrame(text, Date.now());
      for (const { subscription } of frame.prices) stallDetector.current.recordData(subscription, now());
      if (frame.prices.length > 0) delivered = true;
      events.frame(frame, text);
    };

    socket.on('open', () => {
      stallDetector.current = createStallDetector([...byKey.keys()], times.staleMs, now());
      timers.push(setInterval(() => send('PING'), times.pingMs));
      timers.push(setInterval(checkStall, Math.max(10, times.staleMs / 10)));
      timers.push(setTimeout(() => end('planned reconnect', true), times.recycleMs));
      for (const topic of requestedTopics) {
        send(
          subscriptionFrame(
            'subscribe',
            subscriptions.filter((subscription) => subscription.topic === topic),
          ),
        );
      }
      events.open();
    });
    socket.on('message', (data, isBinary) => {
      if (ended) return;
      const bytes = Array.isArray(data) ? Buffer.concat(data) : Buffer.from(data as ArrayBuffer);
      if (isBinary) {
        const text = bytes.toString('base64');
        events.frame({ kind: 'bad', prices: [], errors: ['A binary frame'] }, text);
      } else onText(bytes.toString('utf8'));
    });
    socket.on('close', (code) => end(`closed by the service (${code})`));
    socket.on('error', (error) => end(error.message));
    signal.addEventListener('abort', onAbort);
    if (signal.aborted) onAbort();
  });
}
