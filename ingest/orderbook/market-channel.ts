import { WebSocket } from 'ws';
import { type DecodedVenueFrame, decodeVenueFrame } from './messages.js';

/** A snapshot of 400 books of 100 levels has about 4 MB. */
const MAX_FRAME_BYTES = 16 * 1024 * 1024;

/** All in milliseconds. */
export interface ChannelTimes {
  readonly openMs: number;
  /** Interval of text PINGs. */
  readonly pingMs: number;
  /** Without any frame for so long the connection is dead. */
  readonly deadMs: number;
}

const channelTimes: ChannelTimes = { openMs: 10_000, pingMs: 10_000, deadMs: 30_000 };

export interface MarketChannel {
  /** Subscribes tokens, or subscribes them again for a fresh book each. */
  subscribe(assetIds: readonly string[]): void;
  unsubscribe(assetIds: readonly string[]): void;
  close(reason: string): void;
  /** Resolves with the reason of the end. */
  readonly ended: Promise<string>;
}

/** One connection to the venue's market channel. Never throws. */
export function openMarketChannel(options: {
  url: string;
  /** Tokens to subscribe; asked when the connection is open. */
  assetIds: () => readonly string[];
  onOpen: () => void;
  onFrame: (frame: DecodedVenueFrame, text: string) => void;
  signal: AbortSignal;
  times?: ChannelTimes;
}): MarketChannel {
  const { signal, times = channelTimes } = options;
  const socket = new WebSocket(options.url, {
    handshakeTimeout: times.openMs,
    perMessageDeflate: false,
    maxPayload: MAX_FRAME_BYTES,
  });
  let close: (reason: string) => void = () => undefined;
  const ended = new Promise<string>((resolve) => {
    let isEnded = false;
    let newestMs = performance.now();
    const timers: NodeJS.Timeout[] = [];
    const onAbort = () => close('stopped');
    close = (reason) => {
      if (isEnded) return;
      isEnded = true;
      for (const timer of timers) clearInterval(timer);
      signal.removeEventListener('abort', onAbort);
      socket.terminate();
      resolve(reason);
    };
    socket.on('open', () => {
      newestMs = performance.now();
      socket.send(
        JSON.stringify({
          type: 'market',
          assets_ids: options.assetIds(),
          initial_dump: true,
          level: 2,
          custom_feature_enabled: true,
        }),
      );
      timers.push(setInterval(() => socket.send('PING'), times.pingMs));
      timers.push(
        setInterval(
          () => {
            if (performance.now() - newestMs > times.deadMs) close('no frame in time');
          },
          Math.max(10, times.deadMs / 10),
        ),
      );
      options.onOpen();
    });
    socket.on('message', (data, isBinary) => {
      if (isEnded) return;
      newestMs = performance.now();
      const text = (Array.isArray(data) ? Buffer.concat(data) : Buffer.from(data as ArrayBuffer)).toString('utf8');
      if (isBinary) options.onFrame({ messages: [], errors: ['A binary frame'], missed: [] }, text.slice(0, 1_000));
      else if (text !== 'PONG') options.onFrame(decodeVenueFrame(text, Date.now()), text);
    });
    socket.on('close', (code) => close(`closed by the venue (${code})`));
    socket.on('error', (error) => close(error.message));
    signal.addEventListener('abort', onAbort);
    if (signal.aborted) onAbort();
  });
  const send = (operation: 'subscribe' | 'unsubscribe', assetIds: readonly string[]) => {
    if (socket.readyState === WebSocket.OPEN && assetIds.length > 0)
      socket.send(JSON.stringify({ operation, assets_ids: assetIds, custom_feature_enabled: true }));
  };
  return {
    subscribe: (assetIds) => send('subscribe', assetIds),
    unsubscribe: (assetIds) => send('unsubscribe', assetIds),
    close: (reason) => close(reason),
    ended,
  };
}
