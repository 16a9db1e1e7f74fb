import type { PlanTerms } from '../../schemas/plans.js';

/** The right of one connection to be open. */
export interface Slot {
  /** Calls the listener once when the plan's session time of this UTC day is used up, with the time it starts anew. */
  readonly exhausted: (listener: (resetsAtMs: number) => void) => void;
  /** The connection is closed. Safe to repeat. */
  release(): void;
}

export type Admitted =
  | { readonly status: 'ok'; readonly slot: Slot }
  | { readonly status: 'too_many' }
  | { readonly status: 'session_used_up'; readonly resetsAtMs: number };

/** Lets connections in as far as the account's plan goes, counted over all gateway processes. */
export interface Admission {
  /** Never rejects; may wait for the log. A connection that has gone away meanwhile must be released all the same. */
  admit(account: { readonly accountId: string; readonly terms: PlanTerms }): Promise<Admitted>;
}
