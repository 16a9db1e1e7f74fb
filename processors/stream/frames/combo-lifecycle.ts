import {
  comboModuleName,
  comboModuleOf,
  comboPositions,
  parseComboPosition,
} from '../../../schemas/primitives/combo-ids.js';
import type { ComboApproval, ComboLifecycle } from '../../../schemas/types.gen.js';
import { type ComboContext, comboFilters, legFrames, legsOf, outcomeSide } from './combo.js';
import { toUnits } from './enrichment.js';
import { chainDraft, type Draft, distinct } from './frame.js';

const usdc = (name: 'amount' | 'payout', amount: bigint | null): Record<string, unknown> =>
  amount === null ? {} : { [`${name}_e6`]: amount.toString(), [`${name}_usdc`]: toUnits(amount) };

/** A lifecycle event of a combo position, with the fields of its log only. Size in USD is the payout, or else the amount. */
export function comboLifecycleDraft(event: ComboLifecycle, context: ComboContext): Draft {
  const positions = distinct(...event.source_position_ids, ...event.destination_position_ids);
  const first = positions[0];
  const conditionIds =
    event.condition_ids.length > 0
      ? event.condition_ids
      : distinct(...positions.map((position) => parseComboPosition(position).conditionId));
  const conditionId = conditionIds[0];
  const pair = conditionId === undefined ? undefined : comboPositions(conditionId);
  const legIds =
    event.legs ??
    (conditionId === undefined ? undefined : context.definitions.legsOf(conditionId, first ?? (pair?.[0] as string)));
  const legs = legsOf(legIds ?? [], context);
  const moduleId = conditionId === undefined ? undefined : comboModuleOf(conditionId);
  const side = positions.length === 1 ? outcomeSide(positions[0] as string) : undefined;
  const draft = chainDraft(
    'combo_lifecycle',
    event,
    {
      status: 'confirmed',
      detected_at: event.timestamp_ms,
      action: event.action,
      user: event.user,
      ...(event.recipient === null ? {} : { recipient: event.recipient }),
      ...(conditionId === undefined ? {} : { combo_condition_id: conditionId }),
      condition_ids: conditionIds,
      event_ids: event.event_ids,
      ...(moduleId === undefined
        ? {}
        : { module_id: moduleId, module_name: comboModuleName(moduleId) ?? `module ${moduleId}` }),
      ...(pair === undefined ? {} : { yes_position_id: pair[0], no_position_id: pair[1] }),
      position_ids: positions,
      source_position_ids: event.source_position_ids,
      destination_position_ids: event.destination_position_ids,
      leg_position_ids: legs.map((leg) => leg.positionId),
      legs: legFrames(legs),
      ...usdc('amount', event.amount),
      ...usdc('payout', event.payout),
      ...(side === undefined ? {} : { side }),
    },
    {
      wallets: distinct(event.user, event.recipient),
      ...(side === undefined ? {} : { side }),
      ...comboFilters({ conditionIds, eventIds: event.event_ids, positionIds: [...positions, ...(pair ?? [])] }, legs, {
        action: event.action,
        direction: null,
      }),
    },
  );
  const usd = event.payout ?? event.amount;
  return usd === null ? draft : { ...draft, usd };
}

/** A wallet approved the combo exchange or the AutoRedeemer for its positions or collateral. */
export function comboApprovalDraft(event: ComboApproval): Draft {
  return chainDraft(
    'combo_approval',
    event,
    {
      status: 'confirmed',
      detected_at: event.timestamp_ms,
      approval_type: event.approval_type,
      owner: event.owner,
      operator: event.operator,
      approved: event.approved,
      ...(event.amount === null ? {} : { amount_e6: event.amount }),
      target_role: event.target_role,
    },
    {
      wallets: [event.owner],
      combo: { condition_ids: [], leg_position_ids: [], event_ids: [], module_ids: [], action: null, direction: null },
    },
  );
}
