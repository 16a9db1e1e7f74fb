import { isComboCondition } from '../../schemas/primitives/combo-ids.js';
import { topics } from '../../schemas/topics.js';
import type { Block } from '../../schemas/types.gen.js';
import { conditionRows } from '../activity/condition-rows.js';
import {
  dateTime,
  lowCardinality,
  nullable,
  string,
  stringArray,
  uint16,
  uint32,
  uint64,
  uint64Array,
  uint256Array,
} from '../sink/columns.js';
import { defineTable, type Emit, type SinkDefinition } from '../sink/sink-definition.js';

const blocksTable = defineTable('blocks', {
  block_number: uint64,
  block_hash: string,
  parent_hash: string,
  timestamp: dateTime,
  tx_count: nullable(uint32),
  polymarket_tx_count: uint32,
  settlement_count: uint32,
  trade_volume: uint64,
  _offset: uint64,
});

/** Logs of a block by contract. */
const blockLogsTable = defineTable('block_logs', {
  block_number: uint64,
  timestamp: dateTime,
  contracts: stringArray,
  logs: uint64Array,
  decoded: uint64Array,
  records: uint64Array,
  _offset: uint64,
});

/** Logs whose event signature is unknown to the decoder. */
const unknownLogsTable = defineTable('unknown_logs', {
  block_number: uint64,
  log_index: uint32,
  timestamp: dateTime,
  tx_hash: string,
  address: lowCardinality,
  topics: stringArray,
  data: string,
  _offset: uint64,
});

const conditionColumns = {
  condition_id: string,
  oracle: string,
  question_id: string,
  outcome_slot_count: uint16,
};
const logPositionColumns = {
  block_number: uint64,
  log_index: uint32,
  timestamp: dateTime,
  tx_hash: string,
  _offset: uint64,
};

const conditionsTable = defineTable('conditions', { ...conditionColumns, ...logPositionColumns });
const resolutionsTable = defineTable('resolutions', {
  ...conditionColumns,
  payout_numerators: uint256Array,
  ...logPositionColumns,
});

function emitBlockLogs(block: Block, offset: number, emit: Emit): void {
  if (block.contracts === null) return;
  emit(blockLogsTable, {
    block_number: block.block_number,
    timestamp: block.timestamp_ms,
    contracts: block.contracts.map(({ address }) => address),
    logs: block.contracts.map(({ logs }) => logs),
    decoded: block.contracts.map(({ decoded }) => decoded),
    records: block.contracts.map(({ records }) => records),
    _offset: offset,
  });
}

/** Final blocks, prepared and resolved conditions, their tokens and set operations; logs of unknown events. */
export const chainSink: SinkDefinition = {
  name: 'chain',
  topic: topics.chainFinal,
  plans: topics.plansChain,
  tables: [blocksTable, blockLogsTable, conditionsTable, resolutionsTable, unknownLogsTable, ...conditionRows.tables],
  retainsAllRows: true,
  kinds: new Set(['block', 'unknown_log', ...conditionRows.kinds]),
  rows(event, { offset }, emit) {
    conditionRows.emit(event, offset, emit);
    switch (event.kind) {
      case 'block':
        emit(blocksTable, { ...event.value, timestamp: event.value.timestamp_ms, _offset: offset });
        emitBlockLogs(event.value, offset, emit);
        break;
      case 'condition_prepared':
        emit(conditionsTable, { ...event.value, timestamp: event.value.timestamp_ms, _offset: offset });
        break;
      case 'condition_resolved':
        // The table lists markets; token_settlements has the result of a combo.
        if (isComboCondition(event.value.condition_id)) break;
        emit(resolutionsTable, { ...event.value, timestamp: event.value.timestamp_ms, _offset: offset });
        break;
      case 'unknown_log':
        emit(unknownLogsTable, { ...event.value, timestamp: event.value.timestamp_ms, _offset: offset });
        break;
    }
  },
};
