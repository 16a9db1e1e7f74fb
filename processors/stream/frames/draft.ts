import type { AnyEvent } from '../../../schemas/codec.js';
import { blockDraft, retractDraft } from './block.js';
import { depositDraft } from './deposit.js';
import type { Draft, Enrichment } from './frame.js';
import { oracleDraft } from './oracle.js';
import { positionChangeDraft, positionsConvertedDraft, splitOrMergeDraft } from './positions.js';
import { priceFeedDraft } from './price-feed.js';
import { redemptionDraft } from './redemption.js';
import { settlementDraft } from './settlement.js';
import { statusUpdateDraft } from './status-update.js';
import { tradeDraft } from './trade.js';

/** The stream event of an input event; null for kinds without a stream event. Pure function. */
export function draftOf(event: AnyEvent, known: Enrichment): Draft | null {
  switch (event.kind) {
    case 'settlement':
      return settlementDraft(event.value, known);
    case 'status_update':
      return statusUpdateDraft(event.value, known);
    case 'trade':
      return tradeDraft(event.value, known);
    case 'block':
      return blockDraft(event.value);
    case 'retract':
      return retractDraft(event.value);
    case 'price_tick':
      return priceFeedDraft(event.value);
    case 'redemption':
      return redemptionDraft(event.value, known);
    case 'oracle':
      return oracleDraft(event.value, known);
    case 'position_split':
    case 'position_merge':
      return splitOrMergeDraft(event.kind, event.value, known);
    case 'position_change':
      return positionChangeDraft(event.value, known);
    case 'positions_converted':
      return positionsConvertedDraft(event.value, known);
    case 'deposit':
      return depositDraft(event.value);
    default:
      return null;
  }
}
