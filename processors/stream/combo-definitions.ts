import { COMBINATORIAL_MODULE, parseComboPosition } from '../../schemas/primitives/combo-ids.js';
import type { ComboDefinition } from '../../schemas/types.gen.js';
import type { MarketMetadata } from './catalog-model.js';
import type { Enrichment } from './frames/frame.js';

/** Legs and legacy ids of the combo protocol. A definition is a function of its id, so it stays valid when its block is retracted. */
export interface ComboDefinitions {
  apply(event: Pick<ComboDefinition, 'subject_id' | 'legs' | 'legacy_id'>): void;
  /**
   * Leg position ids of a combo; a position of another module is its only leg. undefined until the combo's Prepare event.
   */
  legsOf(conditionId: string, positionId: string): readonly string[] | undefined;
  /** The catalogue's market of a leg. */
  marketOfLeg(positionId: string, known: Enrichment): MarketMetadata | undefined;
}

export function createComboDefinitions(): ComboDefinitions {
  const legs = new Map<string, readonly string[]>();
  const legacy = new Map<string, string>();
  return {
    apply({ subject_id, legs: given, legacy_id }) {
      if (given !== null) legs.set(subject_id, given);
      if (legacy_id !== null) legacy.set(subject_id, legacy_id);
    },
    legsOf(conditionId, positionId) {
      const { moduleId } = parseComboPosition(positionId);
      return moduleId === COMBINATORIAL_MODULE ? legs.get(conditionId) : [positionId];
    },
    marketOfLeg(positionId, known) {
      const { conditionId, eventId, conditionIndex } = parseComboPosition(positionId);
      const condition = legacy.get(conditionId);
      if (condition !== undefined) return known.marketOfCondition(condition);
      const group = legacy.get(eventId);
      return group === undefined ? undefined : known.negRiskGroup(group)?.get(conditionIndex);
    },
  };
}
