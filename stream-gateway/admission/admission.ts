import type { PlanTerms } from '../../schemas/plans.js';

/** Permission for one connection to be open. */
export interface ConnectionPermit {
  /** Calls the listener once when the plan's session time of this UTC day is used up. `resetsAtMs`: Unix ms of the reset. */
  readonly onSessionTimeExhausted: (listener: (resetsAtMs: number) => void) => void;
  /** Calls the listener once when the account has changed to a plan with fewer connections and this one is among the newest. */
  readonly onExcess: (listener: () => void) => void;
  /** Applies the terms of another plan: the cap and the session time of this and all later connections. */
  setTerms(terms: PlanTerms): void;
  /** Call when the connection is closed. Safe to repeat. */
  release(): void;
}

export type AdmissionResult =
  | { readonly status: 'ok'; readonly permit: ConnectionPermit }
  | { readonly status: 'too_many' }
  | { readonly status: 'session_used_up'; readonly resetsAtMs: number };

/** Enforces the connection cap and session time of an account's plan. */
export interface Admission {
  /** The promise never rejects; it may wait for the log. The caller must release the permit even if the client has disconnected meanwhile. */
  admit(account: { readonly accountId: string; readonly terms: PlanTerms }): Promise<AdmissionResult>;
}
