import type { Config } from '../../infra/config/config.js';
import type { Logger } from '../../infra/telemetry/logger.js';
import type { Metrics } from '../../infra/telemetry/metrics.js';
import type { Codec } from '../../schemas/codec.js';
import type { SourceLog } from '../shared/owned-log.js';
import { chainTrades } from './chain-trades.js';
import type { BookFeed, FeedEvents } from './feed.js';
import { createSyntheticFeed, type RecordedTrade } from './synthetic-feed.js';
import { createVenueFeed } from './venue-feed.js';

/** Opens the venue's market channel, or, with recorded input, synthetic books around its trades. */
export function openBookFeed(deps: {
  sources: Config['sources'];
  log: Pick<SourceLog, 'read' | 'bounds'>;
  codec: Codec;
  metrics: Metrics;
  logger: Logger;
}): (events: FeedEvents, signal: AbortSignal) => BookFeed {
  const { sources, log, codec, metrics } = deps;
  return (events, signal) => {
    if (sources.mode === 'live')
      return createVenueFeed({
        url: sources.orderbookWsUrl,
        restUrl: sources.orderbookRestUrl,
        events,
        logger: deps.logger.child({ source: 'orderbook' }),
        metrics,
        signal,
      });
    const trades = async function* (own: AbortSignal): AsyncIterable<RecordedTrade> {
      for await (const { token_id: tokenId, side, usdc, shares } of chainTrades(log, codec, own))
        yield { tokenId, side, usdc, shares };
    };
    return createSyntheticFeed({ events, trades, signal });
  };
}
