import { topics } from '../../schemas/topics.js';
import { dateTime, dateTime64, lowCardinality, string, uint16, uint64 } from '../sink/columns.js';
import { defineTable, type SinkDefinition } from '../sink/sink-definition.js';

const usageTable = defineTable('usage', {
  id: string,
  account_id: string,
  meter: lowCardinality,
  hour: dateTime,
  quantity: uint64,
  counted_at: dateTime64,
  process_id: string,
  _partition: uint16,
  _offset: uint64,
  key_id: string,
});

/** Totals of busy accounts are reported four times a second; a longer linger limits inserts (two per chunk and partition) that would delay queries. */
const LINGER_MS = 5_000;

/** Usage of accounts. Records are running totals: the greatest of an id replaces the others, so a repeated insert has no effect. */
export const usageSink: SinkDefinition = {
  name: 'usage',
  topic: topics.usage,
  plans: topics.plansUsage,
  tables: [usageTable],
  retainsAllRows: false,
  lingerMs: LINGER_MS,
  kinds: new Set(['usage']),
  rows(event, position, emit) {
    if (event.kind !== 'usage') return;
    const usage = event.value;
    emit(usageTable, {
      id: usage.id,
      account_id: usage.account_id,
      key_id: usage.key_id,
      meter: usage.meter,
      hour: usage.interval_start_ms,
      quantity: usage.quantity,
      counted_at: usage.interval_end_ms,
      process_id: usage.process_id,
      _partition: position.partition,
      _offset: position.offset,
    });
  },
};
