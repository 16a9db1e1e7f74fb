import { topics } from '../../schemas/topics.js';
import { dateTime64, decimal38, lowCardinality, nullable, string, uint16, uint64 } from '../sink/columns.js';
import { defineTable, type SinkDefinition } from '../sink/sink-definition.js';

const price = decimal38(18);
/** Feeds tick once a second: every insert has two ticks of each, and subscribers read them from the stream. */
const LINGER_MS = 1_500;

/** A repeated tick of a feed has the id of the first one and replaces it. */
const ticksTable = defineTable(
  'ticks',
  {
    id: string,
    feed: lowCardinality,
    twap_window_s: uint16,
    timestamp_ms: dateTime64,
    price,
    bid: nullable(price),
    ask: nullable(price),
    source: lowCardinality,
    received_at: dateTime64,
    _partition: uint16,
    _offset: uint64,
  },
  { keyed: true },
);

/** Oracle prices; the materialized view of tables.ts aggregates spot prices into 5-minute candles on insert. */
export const oracleSink: SinkDefinition = {
  name: 'oracle',
  topic: topics.oracleTicks,
  plans: topics.plansOracle,
  lingerMs: LINGER_MS,
  tables: [ticksTable],
  retainsAllRows: true,
  kinds: new Set(['price_tick']),
  rows(event, position, emit) {
    if (event.kind !== 'price_tick') return;
    const tick = event.value;
    emit(ticksTable, {
      id: tick.id,
      feed: tick.feed,
      twap_window_s: tick.twap_window_s ?? 0,
      timestamp_ms: tick.timestamp_ms,
      price: tick.price,
      bid: tick.bid,
      ask: tick.ask,
      source: tick.source,
      received_at: tick.received_at_ms,
      _partition: position.partition,
      _offset: position.offset,
    });
  },
};
