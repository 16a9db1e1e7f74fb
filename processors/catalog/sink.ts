import { topics } from '../../schemas/topics.js';
import type { CatalogMarket } from '../../schemas/types.gen.js';
import type { Emit, LogPosition, SinkDefinition } from '../sink/sink-definition.js';
import { eventsTable, marketsTable, seriesTable, tagsTable, tokenQuotesTable, tokensTable } from './columns.js';

/** Parses a decimal of the catalogue; null when the text is no number. */
function parsePublished(text: string | undefined): number | null {
  const value = text === undefined || text.trim() === '' ? Number.NaN : Number(text);
  return Number.isFinite(value) ? value : null;
}

/** Best bid and ask of an outcome. The catalogue has those of the first outcome; those of the second are 1 minus ask and bid, to six decimals. */
function quoteOf(market: CatalogMarket, outcomeIndex: number): { bid: number | null; ask: number | null } {
  const { best_bid: bid, best_ask: ask } = market;
  // The catalogue publishes an empty order book as bid 0 and ask 1, or without quotes.
  if (market.closed || bid === null || ask === null || bid <= 0 || ask >= 1 || bid > ask)
    return { bid: null, ask: null };
  const mirror = (price: number) => Math.round((1 - price) * 1e6) / 1e6;
  return outcomeIndex === 0 ? { bid, ask } : { bid: mirror(ask), ask: mirror(bid) };
}

/** Whether the prices are placeholders: before the first quote the catalogue publishes 0.5 for every outcome, without volume and liquidity. */
const isPlaceholder = (market: CatalogMarket): boolean =>
  market.volume === 0 && market.liquidity === 0 && market.outcome_prices.every((price) => Number(price) === 0.5);

function emitMarket(market: CatalogMarket, { offset, timestampMs }: LogPosition, emit: Emit): void {
  emit(marketsTable, {
    ...market,
    start_at: market.start_ms,
    end_at: market.end_ms,
    event_start_at: market.event_start_ms,
    created_at: market.created_ms,
    closed_at: market.closed_ms,
    _offset: offset,
  });
  const placeholder = isPlaceholder(market);
  market.token_ids.forEach((tokenId, index) => {
    emit(tokensTable, {
      token_id: tokenId,
      condition_id: market.condition_id,
      outcome_index: index,
      outcome: market.outcomes[index] ?? '',
      market_slug: market.slug,
      event_id: market.event_id,
      event_slug: market.event_slug,
      _offset: offset,
    });
    emit(tokenQuotesTable, {
      token_id: tokenId,
      condition_id: market.condition_id,
      outcome_index: index,
      price: placeholder ? null : parsePublished(market.outcome_prices[index]),
      ...quoteOf(market, index),
      updated_at: timestampMs,
      _offset: offset,
    });
  });
}

/** The venue's catalogue. A market also produces one row per outcome token. Tombstones do not change the tables, so that history stays readable. */
export const catalogSink: SinkDefinition = {
  name: 'catalog',
  topic: topics.catalog,
  plans: topics.plansCatalog,
  tables: [eventsTable, marketsTable, tokensTable, tokenQuotesTable, seriesTable, tagsTable],
  retainsAllRows: false,
  kinds: new Set(['catalog_event', 'catalog_market', 'catalog_series', 'catalog_tag']),
  rows(event, position, emit) {
    const { offset } = position;
    switch (event.kind) {
      case 'catalog_event':
        emit(eventsTable, {
          ...event.value,
          start_at: event.value.start_ms,
          end_at: event.value.end_ms,
          created_at: event.value.created_ms,
          _offset: offset,
        });
        break;
      case 'catalog_market':
        emitMarket(event.value, position, emit);
        break;
      case 'catalog_series':
        emit(seriesTable, { ...event.value, _offset: offset });
        break;
      case 'catalog_tag':
        emit(tagsTable, { ...event.value, _offset: offset });
        break;
    }
  },
};
