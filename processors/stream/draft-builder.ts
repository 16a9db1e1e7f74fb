import type { AnyEvent } from '../../schemas/codec.js';
import type { StatusUpdate, Trade } from '../../schemas/types.gen.js';
import { createComboDefinitions } from './combo-definitions.js';
import { COMBO_EXCHANGE_VERSION, type ComboContext, comboExecutionDraft, comboStatusDraft } from './frames/combo.js';
import { comboApprovalDraft, comboLifecycleDraft } from './frames/combo-lifecycle.js';
import { draftOf } from './frames/draft.js';
import { fillDrafts } from './frames/fill.js';
import type { Draft, Enrichment } from './frames/frame.js';
import { priceFeedDraft } from './frames/price-feed.js';
import { createTwapCalculator } from './twap.js';

/**
 * Builds the stream events of each input event, in order. Most events produce one; a settlement is followed by its fills, a spot tick by its TWAPs,
 * and the fills of a combo transaction become one status when it is confirmed or its block ends.
 */
export interface DraftBuilder {
  drafts(event: AnyEvent): readonly Draft[];
  /** Restores state from an event whose stream events were created before this process started. */
  restore(event: AnyEvent): void;
  readonly definitions: ComboContext['definitions'];
}

export function createDraftBuilder(known: Enrichment): DraftBuilder {
  const definitions = createComboDefinitions();
  const combos: ComboContext = { known, definitions };
  const twap = createTwapCalculator();
  /** Combo fills of the current block, by transaction. */
  const pendingFills = new Map<string, Trade[]>();
  /** Combo transactions of that block whose status event is already created. */
  const completedTxs = new Set<string>();

  const bufferFill = (trade: Trade) => {
    const fills = pendingFills.get(trade.tx_hash) ?? [];
    if (completedTxs.has(trade.tx_hash)) return;
    if (!fills.some((fill) => fill.id === trade.id)) fills.push(trade);
    pendingFills.set(trade.tx_hash, fills);
  };
  const completeTx = (txHash: string, pending: StatusUpdate | null): Draft[] => {
    const fills = pendingFills.get(txHash);
    pendingFills.delete(txHash);
    completedTxs.add(txHash);
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
        bufferFill(event.value);
        return [];
      case 'status_update':
        if (pendingFills.has(event.value.tx_hash)) return completeTx(event.value.tx_hash, event.value);
        if (completedTxs.has(event.value.tx_hash)) return [];
        break;
      case 'block': {
        const rest = [...pendingFills.keys()].flatMap((txHash) => completeTx(txHash, null));
        completedTxs.clear();
        return [...rest, draftOf(event, known) as Draft];
      }
      case 'retract':
        pendingFills.clear();
        completedTxs.clear();
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
    restore(event) {
      drafts(event);
    },
    definitions,
  };
}
