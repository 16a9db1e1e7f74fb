import type { Logger } from '../../infra/telemetry/logger.js';
import type { Metrics } from '../../infra/telemetry/metrics.js';
import { joinReasons } from '../shared/dead-letters.js';
import { pause } from '../shared/pause.js';
import type { BookFeed, FeedEvents } from './feed.js';
import { type ChannelTimes, type MarketChannel, openMarketChannel } from './market-channel.js';
import { createRestBooks } from './rest-books.js';

/** Tokens of one connection; the venue is said to allow about 500. */
const TOKENS_PER_CONNECTION = 400;
const FIRST_BACKOFF_MS = 500;
const MAX_BACKOFF_MS = 30_000;

interface Lane {
  readonly tokens: Set<string>;
  channel: MarketChannel | null;
  isOpen: boolean;
  readonly stop: AbortController;
}

/** The venue's market channel over several connections, each with up to 400 tokens, and its `GET /book`. Each connection reconnects by itself with backoff. */
export function createVenueFeed(deps: {
  /** WebSocket address of the market channel. */
  url: string;
  /** Base of the REST address. */
  restUrl: string;
  events: FeedEvents;
  logger: Logger;
  metrics: Metrics;
  signal: AbortSignal;
  tokensPerConnection?: number;
  times?: ChannelTimes;
  random?: () => number;
}): BookFeed {
  const { logger, signal, events, random = Math.random, tokensPerConnection = TOKENS_PER_CONNECTION } = deps;
  const reconnects = deps.metrics.counter('order_book_reconnects_total', 'Connections to the market channel ended');
  const open = deps.metrics.gauge('order_book_connections_open', 'Open connections to the market channel');
  const rest = createRestBooks({ baseUrl: deps.restUrl });
  const lanes: Lane[] = [];
  const running = new Set<Promise<void>>();
  const counts = () => ({ open: lanes.filter(({ isOpen }) => isOpen).length, all: lanes.length });

  const runLane = async (lane: Lane): Promise<void> => {
    const own = AbortSignal.any([signal, lane.stop.signal]);
    for (let failures = 0; !own.aborted; failures++) {
      let received = false;
      lane.channel = openMarketChannel({
        url: deps.url,
        // Tokens may be added and leave while the connection is opened.
        assetIds: () => [...lane.tokens],
        signal: own,
        ...(deps.times === undefined ? {} : { times: deps.times }),
        onOpen() {
          lane.isOpen = true;
          open.set(counts().open);
          events.onSubscribed([...lane.tokens]);
          events.onChange('connection open');
        },
        onFrame({ messages, errors, missed }, text) {
          if (errors.length > 0) events.onRejected(joinReasons(errors), text);
          if (messages.length > 0) {
            received = true;
            events.onMessages(messages);
          }
          if (missed.length > 0) events.onMissed(missed);
        },
      });
      const reason = await lane.channel.ended;
      if (received) failures = 0;
      lane.channel = null;
      if (lane.isOpen) {
        lane.isOpen = false;
        open.set(counts().open);
        // A feed that is stopped leaves its books as they are: the status of the source says that it has stopped.
        if (!own.aborted) events.onLost([...lane.tokens]);
      }
      if (own.aborted) return;
      reconnects.inc();
      events.onChange(reason);
      const waitMs = Math.min(MAX_BACKOFF_MS, FIRST_BACKOFF_MS * 2 ** Math.min(failures, 10)) * (0.5 + random() / 2);
      logger.warn({ reason, tokens: lane.tokens.size, waitMs: Math.round(waitMs) }, 'order book connection lost');
      await pause(waitMs, own);
    }
  };
  const addLane = (): Lane => {
    const lane: Lane = { tokens: new Set(), channel: null, isOpen: false, stop: new AbortController() };
    lanes.push(lane);
    return lane;
  };
  const laneOf = (tokenId: string) => lanes.find(({ tokens }) => tokens.has(tokenId));

  return {
    description: `market channel of ${new URL(deps.url).host}`,
    synthetic: false,
    fetchBook: rest.fetch,
    follow(tokens) {
      const wanted = new Set(tokens.map(({ tokenId }) => tokenId));
      const present = new Set<string>();
      for (const lane of [...lanes]) {
        const leaving = [...lane.tokens].filter((token) => !wanted.has(token));
        for (const token of leaving) lane.tokens.delete(token);
        for (const token of lane.tokens) present.add(token);
        lane.channel?.unsubscribe(leaving);
        if (lane.tokens.size > 0) continue;
        lanes.splice(lanes.indexOf(lane), 1);
        lane.stop.abort();
      }
      const missing = [...wanted].filter((token) => !present.has(token));
      for (let from = 0; from < missing.length; ) {
        const lane = lanes.find(({ tokens }) => tokens.size < tokensPerConnection);
        const target = lane ?? addLane();
        const added = missing.slice(from, from + tokensPerConnection - target.tokens.size);
        for (const token of added) target.tokens.add(token);
        from += added.length;
        if (lane !== undefined) {
          if (!lane.isOpen) continue;
          lane.channel?.subscribe(added);
          events.onSubscribed(added);
          continue;
        }
        const run: Promise<void> = runLane(target).finally(() => running.delete(run));
        running.add(run);
      }
    },
    resubscribe(tokenId) {
      const lane = laneOf(tokenId);
      lane?.channel?.unsubscribe([tokenId]);
      lane?.channel?.subscribe([tokenId]);
    },
    reconnect: (tokenId, reason) => laneOf(tokenId)?.channel?.close(reason),
    counts,
    async closed() {
      await Promise.all(running);
    },
  };
}
