import { splitEvenly } from '../../schemas/accounting/conversion.js';
import type { AnyEvent } from '../../schemas/codec.js';
import { comboPositions, isComboCondition } from '../../schemas/primitives/combo-ids.js';
import { addresses, collateralOfOracle } from '../../schemas/primitives/venue.js';
import type {
  ConditionPrepared,
  ConditionResolved,
  EventKind,
  PositionSplit,
  PositionsConverted,
  Redemption,
} from '../../schemas/types.gen.js';
import { bool, dateTime, enum8, int64, string, uint8, uint32, uint64, uint64Array, uint256 } from '../sink/columns.js';
import { defineTable, type Emit } from '../sink/sink-definition.js';
import { conditionOfQuestion, createTokens, isOfVenueCollateral } from './tokens.js';

export const conditionEventsTable = defineTable('condition_events', {
  condition_id: string,
  block_number: uint64,
  log_index: uint32,
  timestamp: dateTime,
  tx_hash: string,
  kind: enum8('split', 'merge', 'conversion', 'redemption'),
  wallet: string,
  token_id: uint256,
  amount: uint64,
  amounts: uint64Array,
  collateral: int64,
  _offset: uint64,
});

const conditionTokensTable = defineTable('condition_tokens', {
  token_id: uint256,
  condition_id: string,
  outcome_index: uint8,
  question_id: string,
  neg_risk: bool,
  timestamp: dateTime,
  _offset: uint64,
});

const tokenSettlementsTable = defineTable('token_settlements', {
  token_id: uint256,
  condition_id: string,
  outcome_index: uint8,
  numerator: uint256,
  denominator: uint256,
  timestamp: dateTime,
  _offset: uint64,
});

/** If several logs name a token, the row of the last one remains; the rows differ only in `_offset`. A condition has a pair for each collateral that was used with it. */
const chainTokensTable = defineTable(
  'chain_tokens',
  {
    token_id: uint256,
    other_token_id: uint256,
    condition_id: string,
    outcome_index: uint8,
    neg_risk: bool,
    _offset: uint64,
  },
  { replaced: true },
);

type Row = Parameters<typeof conditionEventsTable.write>[1];

/** Rows of venue contracts are retained: they also move collateral, on behalf of wallets. */
const logPositionOf = (
  event: Pick<PositionSplit, 'block_number' | 'log_index' | 'timestamp_ms' | 'tx_hash'>,
  offset: number,
) => ({
  block_number: event.block_number,
  log_index: event.log_index,
  timestamp: event.timestamp_ms,
  tx_hash: event.tx_hash,
  _offset: offset,
});

const tokens = createTokens();

function fullSetRow(event: PositionSplit, offset: number, kind: 'split' | 'merge'): Row | null {
  if (!isOfVenueCollateral(event)) return null;
  return {
    ...logPositionOf(event, offset),
    condition_id: event.condition_id,
    kind,
    wallet: event.stakeholder,
    token_id: tokens.pairOf(event.collateral_token, event.condition_id)[0],
    amount: event.amount,
    amounts: [],
    collateral: kind === 'split' ? event.amount : -event.amount,
  };
}

function redemptionRow(event: Redemption, offset: number): Row | null {
  const combo = isComboCondition(event.condition_id);
  if (!isOfVenueCollateral(event)) return null;
  return {
    ...logPositionOf(event, offset),
    condition_id: event.condition_id,
    kind: 'redemption',
    wallet: event.redeemer,
    token_id: combo
      ? (comboPositions(event.condition_id)[0] as string)
      : tokens.pairOf(event.collateral_token, event.condition_id)[0],
    amount: event.payout,
    amounts: event.amounts ?? [],
    collateral: -event.payout,
  };
}

const MAX_QUESTIONS = 256;

/** Conditions of a conversion: those whose NO was given, and those of the other questions as far as their number is known. */
function convertedConditions(fact: PositionsConverted): { readonly given: string[]; readonly others: string[] } {
  const bits = BigInt(fact.index_set);
  const given: string[] = [];
  const others: string[] = [];
  for (let index = 0; index < MAX_QUESTIONS; index++) {
    if (((bits >> BigInt(index)) & 1n) === 1n) given.push(conditionOfQuestion(fact.market_id, index));
    else if (index < (fact.question_count ?? 0)) others.push(conditionOfQuestion(fact.market_id, index));
  }
  return { given, others };
}

/**
 * A conversion releases (n - 1) x amount of collateral, split equally over the n conditions whose NO shares it takes, as in the venue's own open interest.
 * The sets that the adapter splits in the other questions are of wrapped collateral that it mints without backing: the collateral of the given NO backs
 * them, so counting them would raise the sum over the questions above the collateral of the market.
 */
function conversionRows(event: PositionsConverted, conditions: readonly string[], offset: number): Row[] {
  const converted = conditions.map((condition_id) => ({
    condition_id,
    token_id: tokens.pairOf(addresses.wrappedCollateral, condition_id)[1],
  }));
  const released = splitEvenly(-event.amount * BigInt(Math.max(converted.length - 1, 0)), converted.length);
  return converted.map((one, i) => ({
    ...logPositionOf(event, offset),
    ...one,
    kind: 'conversion',
    wallet: event.stakeholder,
    amount: event.amount,
    amounts: [],
    collateral: released[i] ?? 0n,
  }));
}

function emitChainTokens(collateral: string, conditionId: string, offset: number, emit: Emit): void {
  const [first, second] = tokens.pairOf(collateral, conditionId);
  const common = {
    condition_id: conditionId,
    neg_risk: collateral === addresses.wrappedCollateral,
    _offset: offset,
  };
  emit(chainTokensTable, { ...common, token_id: first, other_token_id: second, outcome_index: 0 });
  emit(chainTokensTable, { ...common, token_id: second, other_token_id: first, outcome_index: 1 });
}

/** Emits the tokens of the condition of a split or redemption of the venue's collateral. */
function emitSetTokens(event: PositionSplit | Redemption, offset: number, emit: Emit): void {
  if (!isComboCondition(event.condition_id) && isOfVenueCollateral(event))
    emitChainTokens(event.collateral_token, event.condition_id, offset, emit);
}

const ofCondition = (event: ConditionPrepared | ConditionResolved, offset: number) => ({
  condition_id: event.condition_id,
  timestamp: event.timestamp_ms,
  _offset: offset,
});

function emitPreparedTokens(event: ConditionPrepared, offset: number, emit: Emit): void {
  if (event.outcome_slot_count !== 2) return;
  const collateral = collateralOfOracle(event.oracle);
  const neg_risk = collateral === addresses.wrappedCollateral;
  emitChainTokens(collateral, event.condition_id, offset, emit);
  const common = { ...ofCondition(event, offset), question_id: event.question_id, neg_risk };
  tokens.pairOf(collateral, event.condition_id).forEach((token_id, outcome_index) => {
    emit(conditionTokensTable, { ...common, token_id, outcome_index });
  });
}

function emitSettlements(event: ConditionResolved, offset: number, emit: Emit): void {
  if (event.outcome_slot_count !== 2) return;
  const combo = isComboCondition(event.condition_id);
  const collateral = collateralOfOracle(event.oracle);
  if (!combo) emitChainTokens(collateral, event.condition_id, offset, emit);
  const pair = combo ? comboPositions(event.condition_id) : tokens.pairOf(collateral, event.condition_id);
  const denominator = String(event.payout_numerators.reduce((sum, one) => sum + BigInt(one), 0n));
  pair.forEach((token_id, outcome_index) => {
    const numerator = event.payout_numerators[outcome_index] ?? '0';
    emit(tokenSettlementsTable, { ...ofCondition(event, offset), token_id, outcome_index, numerator, denominator });
  });
}

/** Set operations per condition, and the tokens of conditions; written by the chain sink, which reads the same records. */
export const conditionRows = {
  tables: [conditionEventsTable, conditionTokensTable, tokenSettlementsTable, chainTokensTable],
  kinds: [
    'position_split',
    'position_merge',
    'redemption',
    'positions_converted',
    'condition_prepared',
    'condition_resolved',
  ] as const satisfies readonly EventKind[],
  emit(event: AnyEvent, offset: number, emit: Emit): void {
    const put = (row: Row | null) => {
      if (row !== null) emit(conditionEventsTable, row);
    };
    switch (event.kind) {
      case 'position_split':
        put(fullSetRow(event.value, offset, 'split'));
        emitSetTokens(event.value, offset, emit);
        break;
      case 'position_merge':
        put(fullSetRow(event.value, offset, 'merge'));
        emitSetTokens(event.value, offset, emit);
        break;
      case 'redemption':
        put(redemptionRow(event.value, offset));
        emitSetTokens(event.value, offset, emit);
        break;
      case 'positions_converted': {
        const { given, others } = convertedConditions(event.value);
        conversionRows(event.value, given, offset).forEach(put);
        for (const one of [...given, ...others]) emitChainTokens(addresses.wrappedCollateral, one, offset, emit);
        break;
      }
      case 'condition_prepared':
        emitPreparedTokens(event.value, offset, emit);
        break;
      case 'condition_resolved':
        emitSettlements(event.value, offset, emit);
        break;
    }
  },
};
