import type { Codec } from '../../schemas/codec.js';
import { topics } from '../../schemas/topics.js';
import { tryDecode } from '../../schemas/try-decode.js';
import type { CatalogMarket } from '../../schemas/types.gen.js';
import type { SourceLog } from '../shared/owned-log.js';
import type { FollowedToken } from './order-books.js';

/**
 * Time after the end of a short-form market during which its books are still read. The end date of other markets is that of the event's schedule: the venue
 * trades many of them for hours or months longer, until the catalogue closes them.
 */
const AFTER_END_MS = 10 * 60_000;
/** A market at the bound is exchanged only if it falls this part of the bound below it, or another one rises so far above. */
const MARGIN = 0.1;

export interface FollowedTokens {
  /**
   * Tokens of open markets, those of the highest 24 h volume first; short-form markets that are running before all others. Whole markets only. Around the bound
   * the markets of the call before stay.
   */
  current(nowMs: number): readonly FollowedToken[];
  /** Follows the catalogue until the signal. */
  run(signal: AbortSignal): Promise<void>;
  /** Resolves when the catalogue that was in the log at the start is read. */
  ready(): Promise<void>;
}

type Market = Pick<
  CatalogMarket,
  | 'condition_id'
  | 'token_ids'
  | 'min_order_size'
  | 'tick_size'
  | 'neg_risk'
  | 'volume_24h'
  | 'end_ms'
  | 'event_start_ms'
  | 'crypto_duration'
>;

/** Copies the fields, so that the description and the raw text of a row are not kept in memory. */
const marketOf = (row: CatalogMarket): Market => ({
  condition_id: row.condition_id,
  token_ids: row.token_ids,
  min_order_size: row.min_order_size,
  tick_size: row.tick_size,
  neg_risk: row.neg_risk,
  volume_24h: row.volume_24h,
  end_ms: row.end_ms,
  event_start_ms: row.event_start_ms,
  crypto_duration: row.crypto_duration,
});

/** Those of the ranked markets that fit, in their order; within a tenth of the bound those of `before` go first. */
function chooseMarkets(ranked: readonly Market[], before: ReadonlySet<string>, maxTokens: number): readonly Market[] {
  let tokens = 0;
  const ends = ranked.map((market) => {
    tokens += market.token_ids.length;
    return { market, end: tokens };
  });
  const certain = ends.filter(({ end }) => end <= maxTokens * (1 - MARGIN));
  const near = ends.filter(({ end }) => end > maxTokens * (1 - MARGIN) && end <= maxTokens * (1 + MARGIN));
  const stays = ({ market }: { market: Market }) => before.has(market.condition_id);
  let room = maxTokens;
  return [...certain, ...near.filter(stays), ...near.filter((one) => !stays(one))].flatMap(({ market }) => {
    if (market.token_ids.length > room) return [];
    room -= market.token_ids.length;
    return [market];
  });
}

/** Chooses the tokens whose books are read from the catalogue in the log. At most `maxTokens`. */
export function createFollowedTokens(deps: {
  log: Pick<SourceLog, 'read' | 'bounds'>;
  codec: Codec;
  maxTokens: number;
  onUnreadable: (reason: string) => void;
}): FollowedTokens {
  const { log, codec, maxTokens } = deps;
  const topic = topics.catalog.name;
  const markets = new Map<string, Market>();
  /** Condition ids of the call before. */
  let before: ReadonlySet<string> = new Set();
  let loaded: () => void = () => undefined;
  const ready = new Promise<void>((resolve) => {
    loaded = resolve;
  });

  const apply = (key: string, value: Buffer | null) => {
    const event = value === null ? undefined : tryDecode(codec, value, deps.onUnreadable);
    if (event?.kind !== 'catalog_market') {
      markets.delete(key);
      return;
    }
    const market = event.value;
    if (market.closed || !market.active || market.archived || market.token_ids.length === 0) markets.delete(key);
    else markets.set(key, marketOf(market));
  };
  /** Games have a start and an end date too: hours or days in which all their markets would go before the most traded ones. */
  const isRunningWindow = (market: Market, nowMs: number) =>
    market.crypto_duration !== null &&
    market.event_start_ms !== null &&
    market.event_start_ms <= nowMs &&
    (market.end_ms ?? 0) > nowMs;

  return {
    ready: () => ready,
    current(nowMs) {
      for (const [key, { end_ms: endMs, crypto_duration: duration }] of markets)
        if (duration !== null && endMs !== null && endMs + AFTER_END_MS <= nowMs) markets.delete(key);
      const rank = (market: Market) => (isRunningWindow(market, nowMs) ? Number.POSITIVE_INFINITY : market.volume_24h);
      const ranked = [...markets.values()]
        .map((market) => ({ market, rank: rank(market) }))
        .sort((a, b) =>
          a.rank === b.rank ? (a.market.condition_id < b.market.condition_id ? -1 : 1) : a.rank > b.rank ? -1 : 1,
        )
        .map(({ market }) => market);
      const chosen = chooseMarkets(ranked, before, maxTokens);
      before = new Set(chosen.map(({ condition_id: id }) => id));
      return chosen.flatMap((market) =>
        market.token_ids.map((tokenId) => ({
          tokenId,
          market: market.condition_id,
          minOrderSize: market.min_order_size,
          tickSize: market.tick_size,
          negRisk: market.neg_risk,
        })),
      );
    },
    async run(signal) {
      let { earliest: next } = await log.bounds(topic, 0);
      for await (const { records, nextOffset } of log.read({
        topic,
        partition: 0,
        from: { offset: next },
        follow: false,
        signal,
      })) {
        for (const { key, value } of records) apply(key, value);
        next = nextOffset;
      }
      loaded();
      for await (const { records } of log.read({ topic, partition: 0, from: { offset: next }, follow: true, signal }))
        for (const { key, value } of records) apply(key, value);
    },
  };
}
