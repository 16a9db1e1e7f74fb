import type { PlanTerms } from '../../schemas/plans.js';

/** The right of one connection to be open. */
export interface ConnectionPermit {
  /** Calls the listener once when the plan's session time of this UTC day is used up, with the time it starts anew. */
  readonly onSessionTimeExhausted: (listener: (resetsAtMs: number) => void) => void;
  /** The connection is closed. Safe to repeat. */
  release(): void;
}

export type AdmissionResult =
  | { readonly status: 'ok'; readonly permit: ConnectionPermit }
  | { readonly status: 'too_many' }
  | { readonly status: 'session_used_up'; readonly resetsAtMs: number };

/** Lets connections in as far as the account's plan goes, counted over all gateway processes. */
export interface Admission {
  /** Never rejects; may wait for the log. A connection that has gone away meanwhile must be released all the same. */
  admit(account: { readonly accountId: string; readonly terms: PlanTerms }): Promise<AdmissionResult>;
}
