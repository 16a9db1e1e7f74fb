import type { EventRow } from '../../catalog/events.sql.js';
import type { EventMarket } from '../../positions/event-markets.js';
import { type OutcomePrices, outcomePricesFrom } from '../../positions/outcome-prices.js';
import { numericId } from '../../tables/catalog-id.js';
import { inEventOrder } from '../../tables/event-order.js';
import { boolFrom, isoFrom } from '../../tables/values.js';
import type { SeriesRow } from './catalog.sql.js';

const numericPrices = (prices: OutcomePrices) => {
  const { outcomePrices, ...rest } = outcomePricesFrom(prices);
  return { outcomePrices: outcomePrices.map(Number), ...rest };
};

/** Serializes an event of /v1/crypto/markets with its markets; prices are numbers. */
export function periodicEvent(event: EventRow, markets: readonly EventMarket[]) {
  return {
    id: numericId(event.id),
    slug: event.slug,
    title: event.title,
    startDate: isoFrom(event.start_ms),
    endDate: isoFrom(event.end_ms),
    active: boolFrom(event.active),
    volume: event.volume,
    volume24hr: event.volume_24h,
    liquidity: event.liquidity,
    openInterest: event.open_interest,
    seriesSlug: event.series_slug ?? '',
    markets: inEventOrder(markets, event.market_condition_ids).map((market) => ({
      id: numericId(market.id),
      question: market.question,
      conditionId: market.condition_id,
      outcomes: [...market.outcomes],
      ...numericPrices(market.prices),
      volume: market.volume,
      liquidity: market.liquidity,
      active: boolFrom(market.active),
      closed: market.closed,
      groupItemTitle: market.group_item_title ?? '',
    })),
  };
}

/** Serializes an entry of /v1/crypto/active from the window's event, or from its market without one. `outcomes` is JSON text. */
export function activeEntry(market: EventMarket, event: EventRow | undefined) {
  return {
    id: numericId(event?.id ?? market.event_id ?? market.id),
    slug: market.slug,
    title: event?.title ?? market.event_title ?? market.question,
    active: boolFrom(event?.active ?? market.active),
    closed: market.closed || (event !== undefined && boolFrom(event.closed)),
    startDate: isoFrom(event?.start_ms ?? market.start_ms),
    endDate: isoFrom(event?.end_ms ?? market.end_ms),
    markets: [
      {
        question: market.question,
        conditionId: market.condition_id,
        outcomes: `[${market.outcomes.map((outcome) => JSON.stringify(outcome)).join(', ')}]`,
        ...numericPrices(market.prices),
        tokenId: market.tokens[0] ?? '',
        active: boolFrom(market.active),
        closed: market.closed,
      },
    ],
  };
}

/** The catalogue calls the hourly recurrence by name; the API lists it as 1h. */
export const recurrenceFrom = (recurrence: string): string => (recurrence === 'hourly' ? '1h' : recurrence);

/** Serializes a series. */
export function seriesEntry(row: SeriesRow) {
  return {
    id: numericId(row.id),
    slug: row.slug,
    title: row.title,
    recurrence: recurrenceFrom(row.recurrence),
    active: boolFrom(row.active),
    eventCount: row.event_count,
  };
}
