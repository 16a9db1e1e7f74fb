import type { Migration } from '../../infra/clickhouse/ddl.js';
import { events, markets, tokens } from './tables.js';

const BLOOM = 'bloom_filter(0.01) GRANULARITY 1';

/** Indexes for catalog lookups by columns other than the sorting keys. */
export const catalogLookupIndexes: Migration = {
  id: '0013_catalog_lookup_indexes',
  statements: (ddl) => [
    ...ddl.index({ name: 'tokens_event_slug', on: tokens, expression: 'event_slug', type: BLOOM }),
    ...ddl.index({ name: 'markets_neg_risk', on: markets, expression: 'neg_risk_market_id', type: BLOOM }),
    ...ddl.index({ name: 'markets_tags', on: markets, expression: 'tag_slugs', type: BLOOM }),
    ...ddl.index({ name: 'events_neg_risk', on: events, expression: 'neg_risk_market_id', type: BLOOM }),
  ],
};
