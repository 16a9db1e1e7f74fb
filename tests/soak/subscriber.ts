import WebSocket from 'ws';
import { createReceipts } from './receipts.js';

export interface SubscriberOptions {
  /** Address of the event socket with the key. */
  readonly address: string;
  readonly filters: { readonly tokens?: readonly string[]; readonly wallets?: readonly string[] };
  readonly onSlow: 'close' | 'skip';
  /** Reads for `readS`, then not for `pauseS`, and so on; absent: reads always. */
  readonly slow?: { readonly readS: number; readonly pauseS: number };
}

const SILENCE_MS = 30_000;
const RECONNECT_MS = 300;
/** The first subscribers of the product are connected within this time; only then a pause between frames counts. */
const SETTLED_MS = 10_000;

/** A client as the documentation recommends: resumes after every disconnect from its newest cursor, and reconnects when nothing comes. */
export function startSubscriber(options: SubscriberOptions) {
  const receipts = createReceipts();
  const startedMs = Date.now();
  let socket: WebSocket | null = null;
  let epoch: string | null = null;
  let position = -1;
  let connections = 0;
  let errors: string[] = [];
  let lastFrameMs = Date.now();
  let longestPauseMs = 0;
  let stopped = false;
  let paused = false;
  let timer: NodeJS.Timeout | undefined;

  const onMessage = (data: WebSocket.RawData) => {
    const now = Date.now();
    if (options.slow === undefined && now - startedMs > SETTLED_MS)
      longestPauseMs = Math.max(longestPauseMs, now - lastFrameMs);
    lastFrameMs = now;
    const bytes = data as Buffer;
    const frame = JSON.parse(bytes.toString()) as {
      type: string;
      seq?: number;
      epoch?: string;
      from_seq?: number;
      to_seq?: number;
    };
    if (frame.type === 'subscribed') epoch = frame.epoch ?? epoch;
    else if (frame.type === 'trade') receipts.event(frame.seq as number, bytes);
    else if (frame.type === 'skipped') receipts.skipped(frame.from_seq as number, frame.to_seq as number);
    else if (frame.type === 'error' && errors.length < 5) errors.push(bytes.toString());
    position = Math.max(position, (frame.type === 'skipped' ? frame.to_seq : frame.seq) ?? -1);
  };
  const connect = () => {
    if (stopped) return;
    connections += 1;
    const current = new WebSocket(options.address, { perMessageDeflate: false });
    socket = current;
    current.on('open', () => {
      if (paused) current.pause();
      const resume = position >= 0 && epoch !== null ? { since_seq: `${epoch}:${position}` } : { snapshot_count: 0 };
      current.send(
        JSON.stringify({
          action: 'subscribe',
          type: 'trades',
          on_slow: options.onSlow,
          filters: { ...options.filters, ...resume },
        }),
      );
    });
    current.on('message', onMessage);
    current.on('error', () => undefined);
    current.on('close', () => {
      if (!stopped) timer = setTimeout(connect, RECONNECT_MS * (1 + Math.random()));
    });
  };
  const watchdog = setInterval(() => {
    if (!paused && Date.now() - lastFrameMs > SILENCE_MS) {
      lastFrameMs = Date.now();
      socket?.terminate();
    }
  }, 1_000);
  let cycle: NodeJS.Timeout | undefined;
  const alternate = () => {
    const { slow } = options;
    if (slow === undefined) return;
    paused = !paused;
    if (paused) socket?.pause();
    else {
      lastFrameMs = Date.now();
      socket?.resume();
    }
    cycle = setTimeout(alternate, (paused ? slow.pauseS : slow.readS) * 1_000);
  };
  if (options.slow !== undefined) cycle = setTimeout(alternate, options.slow.readS * 1_000);
  connect();
  return {
    filters: options.filters,
    isSlow: options.slow !== undefined,
    receipts,
    get position() {
      return position;
    },
    get reconnects() {
      return connections - 1;
    },
    get errors() {
      return errors;
    },
    /** Longest time between two frames since the last call, ms; 0 for slow readers. */
    takeLongestPauseMs() {
      const result = options.slow === undefined ? Math.max(longestPauseMs, Date.now() - lastFrameMs) : 0;
      longestPauseMs = 0;
      return result;
    },
    /** A slow reader reads without pauses from now on. */
    catchUp() {
      clearTimeout(cycle);
      paused = false;
      lastFrameMs = Date.now();
      socket?.resume();
    },
    stop() {
      stopped = true;
      clearTimeout(cycle);
      clearTimeout(timer);
      clearInterval(watchdog);
      socket?.terminate();
      errors = [];
    },
  };
}
