import type { AnyEvent } from '../../../schemas/codec.js';
import { addresses } from '../../../schemas/primitives/venue.js';
import type { EventKind } from '../../../schemas/types.gen.js';
import type { Wanted } from '../source.js';

/** What a fact of the chain says a market is needed for. */
export interface IdOnChain {
  readonly by: Wanted['by'];
  readonly id: string;
  /** When the short-form window was resolved, Unix ms. */
  readonly resolvedMs?: number;
}

/** The kinds of facts that name a condition or a token; the others need not be decoded. */
export const kindsWithIds: ReadonlySet<EventKind> = new Set([
  'trade',
  'condition_prepared',
  'condition_resolved',
  'position_split',
  'position_merge',
  'redemption',
]);

/** Exchanges of this version trade combos, which are no markets of the catalogue. */
const COMBO_EXCHANGE = 3;

/** The condition or token that the fact names, or null. */
export function idOf(event: AnyEvent): IdOnChain | null {
  switch (event.kind) {
    case 'trade':
      return event.value.exchange_version === COMBO_EXCHANGE ? null : { by: 'token', id: event.value.token_id };
    case 'condition_resolved': {
      const id = { by: 'condition', id: event.value.condition_id } as const;
      const shortForm = event.value.oracle === addresses.cryptoOracle;
      return shortForm ? { ...id, resolvedMs: event.value.timestamp_ms } : id;
    }
    case 'condition_prepared':
    case 'position_split':
    case 'position_merge':
    case 'redemption':
      return { by: 'condition', id: event.value.condition_id };
    default:
      return null;
  }
}
