import { comboPositions } from '../../../schemas/primitives/combo-ids.js';
import type { ComboLifecycle } from '../../../schemas/types.gen.js';
import { addresses, contractAt } from '../contracts.js';
import type { SourceBlock } from '../source.js';
import { type ChainEvent, eventHeader } from './chain-event.js';
import type { DecodedLog, DecodedLogOf } from './read-log.js';
import type { TransactionActions } from './transaction-actions.js';
import type { Transfer } from './transfers.js';

type LifecycleFields = Omit<
  ComboLifecycle,
  'id' | 'block_number' | 'block_hash' | 'timestamp_ms' | 'tx_hash' | 'log_index' | 'user'
>;

const EMPTY_FIELDS: Omit<LifecycleFields, 'action'> = {
  condition_ids: [],
  event_ids: [],
  source_position_ids: [],
  destination_position_ids: [],
  legs: null,
  amount: null,
  payout: null,
  recipient: null,
};

/** User of an action: the initiator or, for calls through the Router, the recipient. */
const actorOf = (initiator: string, recipient: string | undefined): string =>
  initiator === addresses.comboRouter ? (recipient ?? initiator) : initiator;

interface LifecycleAction {
  readonly user: string | null;
  readonly body: LifecycleFields;
}

/** Lifecycle action of a log; null for other logs and for actions that another log of the transaction describes. */
function lifecycleActionOf(log: DecodedLog): LifecycleAction | null {
  const of = (user: string | null, action: string, body: Partial<LifecycleFields>): LifecycleAction => ({
    user,
    body: { ...EMPTY_FIELDS, ...body, action },
  });
  switch (log.event) {
    case 'comboPrepared':
      return of(null, 'Prepare', { condition_ids: [log.args.conditionId], legs: log.args.legs.map(String) });
    case 'comboSplit': {
      const { initiator, recipient, conditionId, amount } = log.args;
      const destination_position_ids = comboPositions(conditionId);
      return of(actorOf(initiator, recipient), 'Split', {
        condition_ids: [conditionId],
        destination_position_ids,
        amount,
      });
    }
    case 'comboMerge': {
      const { initiator, recipient, conditionId, amount } = log.args;
      const source_position_ids = comboPositions(conditionId);
      return of(actorOf(initiator, recipient), 'Merge', { condition_ids: [conditionId], source_position_ids, amount });
    }
    case 'comboRedeem': {
      const { initiator, recipient, positionId, amount, payout } = log.args;
      // The AutoRedeemer's own Redemption log names the user.
      if (initiator === addresses.autoRedeemer) return null;
      return of(actorOf(initiator, recipient), 'Redeem', {
        source_position_ids: [positionId.toString()],
        amount,
        payout,
      });
    }
    case 'comboRedemption': {
      const { from, positionId, payout } = log.args;
      return of(from, 'Redeem', { source_position_ids: [positionId.toString()], payout });
    }
    case 'comboSplitOnEvent':
    case 'comboConvert': {
      const { initiator, recipients, conditionId, eventId, amount } = log.args;
      const action = log.event === 'comboConvert' ? 'Convert' : 'HorizontalSplit';
      return of(actorOf(initiator, recipients[0]), action, {
        condition_ids: [conditionId],
        event_ids: [eventId],
        amount,
      });
    }
    case 'comboMergedOnEvent': {
      const { initiator, recipient, conditionId, eventId, amount } = log.args;
      return of(actorOf(initiator, recipient), 'HorizontalMerge', {
        condition_ids: [conditionId],
        event_ids: [eventId],
        amount,
      });
    }
    case 'comboSplitOnCondition':
    case 'comboMergedOnCondition':
    case 'comboExtract':
    case 'comboInject': {
      const { initiator, recipient, conditionId, conditionId1, conditionId2, amount } = log.args;
      const action = THREE_CONDITION_ACTIONS[log.event];
      return of(actorOf(initiator, recipient), action, {
        condition_ids: [conditionId, conditionId1, conditionId2],
        amount,
      });
    }
    case 'comboConvertToYesBasket': {
      const { initiator, recipients, conditionId, amount } = log.args;
      return of(actorOf(initiator, recipients[0]), 'ConvertToYesBasket', { condition_ids: [conditionId], amount });
    }
    case 'comboMergeFromYesBasket': {
      const { initiator, recipient, conditionId, amount } = log.args;
      return of(actorOf(initiator, recipient), 'MergeFromYesBasket', { condition_ids: [conditionId], amount });
    }
    case 'comboCompress':
    case 'comboWrap':
    case 'comboUnwrap': {
      const { initiator, recipient, fromId, toId, amount } = log.args;
      return of(actorOf(initiator, recipient), CHANGE_ACTIONS[log.event], {
        source_position_ids: [fromId.toString()],
        destination_position_ids: [toId.toString()],
        amount,
        payout: log.event === 'comboCompress' ? log.args.collateralOut : null,
      });
    }
    default:
      return null;
  }
}

const THREE_CONDITION_ACTIONS = {
  comboSplitOnCondition: 'Split',
  comboMergedOnCondition: 'Merge',
  comboExtract: 'Extract',
  comboInject: 'Inject',
} as const;
const CHANGE_ACTIONS = { comboCompress: 'Compress', comboWrap: 'Wrap', comboUnwrap: 'Unwrap' } as const;

const operatorNames: Readonly<Record<string, string>> = {
  [addresses.exchangeV3]: 'ExchangeV3',
  [addresses.autoRedeemer]: 'AutoRedeemer',
};

function decodeApproval(block: SourceBlock, txHash: string, log: DecodedLog): ChainEvent[] {
  if (log.event !== 'approvalForAll' && log.event !== 'erc20Approval') return [];
  const all = log.event === 'approvalForAll';
  const operator = all ? log.args.operator : log.args.spender;
  const target_role = all || operator === addresses.exchangeV3 ? operatorNames[operator] : undefined;
  if (target_role === undefined) return [];
  return [
    {
      kind: 'combo_approval',
      value: {
        ...eventHeader(block, txHash, log.logIndex),
        approval_type: all ? 'position_manager_approval_for_all' : 'collateral_allowance',
        owner: all ? log.args.account : log.args.owner,
        operator,
        approved: all ? log.args.approved : log.args.value > 0n,
        amount: all ? null : log.args.value.toString(),
        target_role,
      },
    },
  ];
}

/** Definition of a combo's condition or event id that a log contains; empty for other logs. */
function decodeDefinition(block: SourceBlock, txHash: string, log: DecodedLog): ChainEvent[] {
  const of = (subject_id: string, legs: readonly string[] | null, legacy_id: string | null): ChainEvent[] => [
    {
      kind: 'combo_definition',
      value: { ...eventHeader(block, txHash, log.logIndex, '-definition'), subject_id, legs, legacy_id },
    },
  ];
  switch (log.event) {
    case 'comboPrepared':
      return of(log.args.conditionId, log.args.legs.map(String), null);
    case 'comboMigrationRegistered':
      return of(log.args.conditionId, null, log.args.legacyConditionId);
    case 'comboEventPrepared':
      return of(log.args.eventId, null, log.args.legacyEventId);
    default:
      return [];
  }
}

/** Result of a condition, resolved by its module; empty for other logs. It has no question id: the id of the condition names its legs or event. */
function decodeResult(block: SourceBlock, txHash: string, log: DecodedLog): ChainEvent[] {
  if (log.event !== 'comboConditionResolved') return [];
  return [
    {
      kind: 'condition_resolved',
      value: {
        ...eventHeader(block, txHash, log.logIndex),
        condition_id: log.args.conditionId,
        oracle: log.contract.address,
        question_id: '',
        outcome_slot_count: log.args.result.length,
        payout_numerators: log.args.result.map(String),
      },
    },
  ];
}

/**
 * Events of one log of the combo protocol, of an approval for it, or of a combo redemption by the AutoRedeemer. Splits and merges by the
 * exchange are part of its match and yield no event; a definition precedes the step that uses it.
 */
export function decodeComboLog(block: SourceBlock, txHash: string, log: DecodedLog): ChainEvent[] {
  const chainEvents = [
    ...decodeDefinition(block, txHash, log),
    ...decodeResult(block, txHash, log),
    ...decodeApproval(block, txHash, log),
  ];
  const action = lifecycleActionOf(log);
  if (action === null || action.user === addresses.exchangeV3) return chainEvents;
  chainEvents.push({
    kind: 'combo_lifecycle',
    value: { ...eventHeader(block, txHash, log.logIndex, '-combo'), user: action.user, ...action.body },
  });
  return chainEvents;
}

/** Transfers of combo positions between two users: no mint, burn, match or watched contract at either end. */
export function decodeComboTransfer(
  block: SourceBlock,
  txHash: string,
  moved: Transfer,
  touched: Pick<TransactionActions, 'exchanges'>,
): ChainEvent[] {
  const ends = [moved.from, moved.to];
  if (ends.includes(addresses.zero) || ends.some((end) => contractAt(end) !== undefined)) return [];
  if (touched.exchanges.has(moved.operator)) return [];
  return moved.ids.map((id, index) => ({
    kind: 'combo_lifecycle',
    value: {
      ...eventHeader(block, txHash, moved.logIndex, moved.batch ? `-combo-${index}` : '-combo'),
      user: moved.from,
      ...EMPTY_FIELDS,
      action: 'Transfer',
      recipient: moved.to,
      source_position_ids: [id.toString()],
      destination_position_ids: [id.toString()],
      amount: moved.values[index] ?? 0n,
    },
  }));
}

/** Whether a transfer log is of combo positions rather than of ConditionalTokens. */
export const isComboTransfer = (log: DecodedLogOf<'transferSingle' | 'transferBatch'>): boolean =>
  log.contract.role === 'position_manager';
