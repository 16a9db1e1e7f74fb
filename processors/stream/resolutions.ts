import { oldestTenth } from '../../schemas/primitives/oldest.js';
import type { ConditionResolved, Retract } from '../../schemas/types.gen.js';

/** Payout numerators of resolved conditions: from final blocks, or from the head until the block is final. */
export interface Resolutions {
  payouts(conditionId: string): readonly string[] | undefined;
  applyFinal(event: ConditionResolved): void;
  applyHead(event: ConditionResolved): void;
  retract(event: Retract): void;
}

const MAX_HEAD = 50_000;

export function createResolutions(): Resolutions {
  const shared = new Map<string, readonly string[]>();
  const final = new Map<string, readonly string[]>();
  const head = new Map<string, ConditionResolved>();
  /** Interns payout lists: nearly all conditions pay [1,0] or [0,1]. */
  const intern = (payouts: readonly string[]): readonly string[] => {
    const key = payouts.join();
    const found = shared.get(key);
    if (found !== undefined) return found;
    shared.set(key, payouts);
    return payouts;
  };
  return {
    payouts: (conditionId) => final.get(conditionId) ?? head.get(conditionId)?.payout_numerators,
    applyFinal(event) {
      final.set(event.condition_id, intern(event.payout_numerators));
      head.delete(event.condition_id);
    },
    applyHead(event) {
      if (final.has(event.condition_id)) return;
      head.set(event.condition_id, event);
      for (const oldest of oldestTenth(head, MAX_HEAD)) head.delete(oldest);
    },
    retract(event) {
      const orphans = new Set(event.block_hashes);
      for (const [conditionId, resolved] of head) if (orphans.has(resolved.block_hash)) head.delete(conditionId);
    },
  };
}
