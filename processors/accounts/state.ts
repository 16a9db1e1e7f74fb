import type { Account, AccountState, IpDay, Key, Outcome, Pool } from '../../schemas/types.gen.js';

/** A record of accounts.state: a new value of an entity, or null for its removal. */
export interface EntityChange {
  readonly entity: string;
  readonly value: AccountState | null;
}

/** State of the accounts processor by entity. Outcomes are in order of their decision. */
export interface AccountsState {
  readonly accounts: Map<string, Account>;
  readonly keys: Map<string, Key>;
  readonly ipDays: Map<string, IpDay>;
  readonly pools: Map<string, Pool>;
  readonly outcomes: Map<string, { readonly outcome: Outcome; readonly atMs: number }>;
}

export const entityOf = {
  account: (accountId: string) => `account:${accountId}`,
  key: (keyHash: string) => `key:${keyHash}`,
  ipDay: (ipHash: string, utcDay: string) => `ip-day:${ipHash}:${utcDay}`,
  pool: (keyHash: string) => `pool:${keyHash}`,
  outcome: (commandId: string) => `outcome:${commandId}`,
};

export function createAccountsState(): AccountsState {
  return { accounts: new Map(), keys: new Map(), ipDays: new Map(), pools: new Map(), outcomes: new Map() };
}

/** Applies a change to the state, both for new changes and for records loaded at start. */
export function applyChange(state: AccountsState, { entity, value }: EntityChange): void {
  if (value === null) {
    state.accounts.delete(entity);
    state.keys.delete(entity);
    state.ipDays.delete(entity);
    state.pools.delete(entity);
    state.outcomes.delete(entity);
    return;
  }
  if ('oddstream.Account' in value.state) state.accounts.set(entity, value.state['oddstream.Account']);
  else if ('oddstream.Key' in value.state) state.keys.set(entity, value.state['oddstream.Key']);
  else if ('oddstream.IpDay' in value.state) state.ipDays.set(entity, value.state['oddstream.IpDay']);
  else if ('oddstream.Pool' in value.state) state.pools.set(entity, value.state['oddstream.Pool']);
  else state.outcomes.set(entity, { outcome: value.state['oddstream.Outcome'], atMs: value.updated_at_ms });
}
