import type { AnyEvent } from '../../schemas/codec.js';
import type { StatusUpdate, Trade } from '../../schemas/types.gen.js';
import { createComboDefinitions } from './combo-definitions.js';
import { COMBO_EXCHANGE_VERSION, type ComboContext, comboExecutionDraft, comboStatusDraft } from './frames/combo.js';
import { comboApprovalDraft, comboLifecycleDraft } from './frames/combo-lifecycle.js';
import { draftOf } from './frames/draft.js';
import { fillDrafts } from './frames/fill.js';
import type { Draft, Enrichment } from './frames/frame.js';
import { priceFeedDraft } from './frames/price-feed.js';
import { createTwap } from './twap.js';

/**
 * The stream events of each input event, in order. Most events make one; a settlement is followed by its fills, a spot tick by its TWAPs,
 * and the fills of a combo transaction become one status when it is confirmed or its block ends.
 */
export interface Drafting {
  drafts(event: AnyEvent): readonly Draft[];
  /** An event whose stream events were made before this process started. */
  recall(event: AnyEvent): void;
  readonly definitions: ComboContext['definitions'];
}

export function createDrafting(known: Enrichment): Drafting {
  const definitions = createComboDefinitions();
  const combos: ComboContext = { known, definitions };
  const twap = createTwap();
  /** Combo fills of the block that is being read, by transaction. */
  const held = new Map<string, Trade[]>();
  /** Combo transactions of that block whose status is made. */
  const told = new Set<string>();

  const hold = (trade: Trade) => {
    const fills = held.get(trade.tx_hash) ?? [];
    if (told.has(trade.tx_hash)) return;
    if (!fills.some((fill) => fill.id === trade.id)) fills.push(trade);
    held.set(trade.tx_hash, fills);
  };
  const release = (txHash: string, pending: StatusUpdate | null): Draft[] => {
    const fills = held.get(txHash);
    held.delete(txHash);
    told.add(txHash);
    return fills === undefined ? [] : [comboStatusDraft(fills, pending, combos)];
  };

  const drafts = (event: AnyEvent): readonly Draft[] => {
    switch (event.kind) {
      case 'settlement':
        return event.value.exchange_version === COMBO_EXCHANGE_VERSION
          ? [comboExecutionDraft(event.value, combos)]
          : [draftOf(event, known) as Draft, ...fillDrafts(event.value, known)];
      case 'trade':
        if (event.value.exchange_version !== COMBO_EXCHANGE_VERSION) break;
        hold(event.value);
        return [];
      case 'status_update':
        if (held.has(event.value.tx_hash)) return release(event.value.tx_hash, event.value);
        if (told.has(event.value.tx_hash)) return [];
        break;
      case 'block': {
        const rest = [...held.keys()].flatMap((txHash) => release(txHash, null));
        told.clear();
        return [...rest, draftOf(event, known) as Draft];
      }
      case 'retract':
        held.clear();
        told.clear();
        break;
      case 'combo_definition':
        definitions.apply(event.value);
        return [];
      case 'combo_lifecycle':
        return [comboLifecycleDraft(event.value, combos)];
      case 'combo_approval':
        return [comboApprovalDraft(event.value)];
      case 'price_tick':
        return [priceFeedDraft(event.value), ...twap.apply(event.value).map(priceFeedDraft)];
      default:
        break;
    }
    const draft = draftOf(event, known);
    return draft === null ? [] : [draft];
  };

  return {
    drafts,
    recall(event) {
      drafts(event);
    },
    definitions,
  };
}
