import { topics } from '../../schemas/topics.js';
import { isOfVenueCollateral } from '../activity/tokens.js';
import {
  dateTime,
  enum8,
  InvalidColumnValueError,
  nullable,
  string,
  stringArray,
  uint32,
  uint64,
} from '../sink/columns.js';
import { defineTable, type SinkDefinition } from '../sink/sink-definition.js';

const logPositionColumns = {
  block_number: uint64,
  log_index: uint32,
  timestamp: dateTime,
  tx_hash: string,
};

const walletEventsTable = defineTable('wallet_events', {
  wallet: string,
  kind: enum8('split', 'merge', 'conversion', 'redemption'),
  ...logPositionColumns,
  subject_id: string,
  amount: uint64,
  index_sets: stringArray,
  source: nullable(string),
  _offset: uint64,
});

const collateralFlowsTable = defineTable('collateral_flows', {
  wallet: string,
  ...logPositionColumns,
  direction: enum8('deposit', 'withdrawal'),
  counterparty: string,
  asset: string,
  amount: uint64,
  _offset: uint64,
});

interface LogPositionFields {
  readonly block_number: number;
  readonly log_index: number;
  readonly timestamp_ms: number;
  readonly tx_hash: string;
}

const toLogPosition = (event: LogPositionFields) => ({
  block_number: event.block_number,
  log_index: event.log_index,
  timestamp: event.timestamp_ms,
  tx_hash: event.tx_hash,
});

/** Hex bit mask as decimal text. Throws InvalidColumnValueError. */
function bitMaskToDecimal(hex: string): string {
  if (!/^0x[0-9a-f]{1,64}$/i.test(hex)) throw new InvalidColumnValueError(`${hex.slice(0, 100)} is no bit mask`);
  return BigInt(hex).toString();
}

/** Splits, merges, conversions and redemptions of wallets in the venue's collateral, and their deposits and withdrawals of collateral. */
export const walletEventsSink: SinkDefinition = {
  name: 'wallet_events',
  topic: topics.chainFinal,
  plans: topics.plansWalletEvents,
  tables: [walletEventsTable, collateralFlowsTable],
  retainsAllRows: true,
  kinds: new Set(['position_split', 'position_merge', 'positions_converted', 'redemption', 'deposit']),
  rows(event, { offset }, emit) {
    switch (event.kind) {
      case 'position_split':
      case 'position_merge':
        if (!isOfVenueCollateral(event.value)) break;
        emit(walletEventsTable, {
          ...toLogPosition(event.value),
          wallet: event.value.stakeholder,
          kind: event.kind === 'position_split' ? 'split' : 'merge',
          subject_id: event.value.condition_id,
          amount: event.value.amount,
          index_sets: [],
          source: null,
          _offset: offset,
        });
        break;
      case 'positions_converted':
        emit(walletEventsTable, {
          ...toLogPosition(event.value),
          wallet: event.value.stakeholder,
          kind: 'conversion',
          subject_id: event.value.market_id,
          amount: event.value.amount,
          index_sets: [bitMaskToDecimal(event.value.index_set)],
          source: null,
          _offset: offset,
        });
        break;
      case 'redemption':
        if (!isOfVenueCollateral(event.value)) break;
        emit(walletEventsTable, {
          ...toLogPosition(event.value),
          wallet: event.value.redeemer,
          kind: 'redemption',
          subject_id: event.value.condition_id,
          amount: event.value.payout,
          index_sets: event.value.index_sets.map(String),
          source: event.value.source,
          _offset: offset,
        });
        break;
      case 'deposit':
        emit(collateralFlowsTable, {
          ...toLogPosition(event.value),
          // Both ramps log the recipient; no log of a withdrawal contains the wallet whose collateral is burned.
          wallet: event.value.to,
          counterparty: event.value.from,
          direction: event.value.direction,
          asset: event.value.asset,
          amount: event.value.amount,
          _offset: offset,
        });
        break;
    }
  },
};
