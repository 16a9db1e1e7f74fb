import type { AnyEvent } from '../../../schemas/codec.js';
import { isComboCondition } from '../../../schemas/primitives/combo-ids.js';
import { addresses } from '../../../schemas/primitives/venue.js';
import type { EventKind } from '../../../schemas/types.gen.js';
import type { MarketRequest } from '../source.js';

/** The condition or token of a chain event whose market is needed. */
export interface MarketReference {
  readonly by: MarketRequest['by'];
  readonly id: string;
  /** Resolution time of a short-form window, Unix ms. */
  readonly resolvedMs?: number;
}

/** Kinds of chain events that name a condition or a token; other kinds are not decoded. */
export const kindsWithMarketReference: ReadonlySet<EventKind> = new Set([
  'trade',
  'condition_prepared',
  'condition_resolved',
  'position_split',
  'position_merge',
  'redemption',
]);

/** Exchanges of this version trade combos, which are not markets of the catalog. */
const COMBO_EXCHANGE_VERSION = 3;

const ofCondition = (id: string): MarketReference | null => (isComboCondition(id) ? null : { by: 'condition', id });

/** The condition or token that the event names, or null. */
export function marketReferenceOf(event: AnyEvent): MarketReference | null {
  switch (event.kind) {
    case 'trade':
      return event.value.exchange_version === COMBO_EXCHANGE_VERSION ? null : { by: 'token', id: event.value.token_id };
    case 'condition_resolved': {
      const reference = ofCondition(event.value.condition_id);
      const upDown = event.value.oracle === addresses.cryptoOracle;
      return reference !== null && upDown ? { ...reference, resolvedMs: event.value.timestamp_ms } : reference;
    }
    case 'condition_prepared':
    case 'position_split':
    case 'position_merge':
    case 'redemption':
      return ofCondition(event.value.condition_id);
    default:
      return null;
  }
}
