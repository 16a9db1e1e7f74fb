import type {
  Account,
  AccountState,
  Checkout,
  Grant,
  IpDay,
  Key,
  OneTimeLink,
  Outcome,
  Pool,
  Session,
  UsageSettlement,
  User,
} from '../../schemas/types.gen.js';
import { createExpiryQueue, type ExpiryQueue } from './expiry-queue.js';
import { createOutcomeOrder, type OutcomeOrder } from './outcome-order.js';

/** A record of accounts.state: a new value of an entity, or null for its removal. */
export interface EntityChange {
  readonly entity: string;
  readonly value: AccountState | null;
}

interface OutcomeEntry {
  readonly outcome: Outcome;
  readonly atMs: number;
}

/** State of the accounts processor by entity. Ledger entries are written and never read. */
export interface AccountsState {
  readonly accounts: Map<string, Account>;
  readonly keys: Map<string, Key>;
  readonly ipDays: Map<string, IpDay>;
  readonly pools: Map<string, Pool>;
  readonly users: Map<string, User>;
  readonly sessions: Map<string, Session>;
  readonly links: Map<string, OneTimeLink>;
  readonly checkouts: Map<string, Checkout>;
  readonly grants: Map<string, Grant>;
  readonly settlements: Map<string, UsageSettlement>;
  readonly outcomes: Map<string, OutcomeEntry>;
  /** Outcomes, oldest first. */
  readonly outcomeOrder: OutcomeOrder<OutcomeEntry>;
  /** Entities of each account, by kind (`key`, `user`, `session`, `grant`, ...). */
  readonly entitiesOf: Map<string, Map<string, Set<string>>>;
  /** Entities of users by email, and by identity of a provider. */
  readonly userByLogin: Map<string, string>;
  /** Entities of one-time links by email, oldest first. */
  readonly linksByEmail: Map<string, Set<string>>;
  /** Sessions, one-time links and replaced keys; contains entries of entities that were removed. */
  readonly expiries: ExpiryQueue;
}

export const entityOf = {
  account: (accountId: string) => `account:${accountId}`,
  key: (keyHash: string) => `key:${keyHash}`,
  ipDay: (ipHash: string, utcDay: string) => `ip-day:${ipHash}:${utcDay}`,
  pool: (keyHash: string) => `pool:${keyHash}`,
  user: (userId: string) => `user:${userId}`,
  session: (sessionHash: string) => `session:${sessionHash}`,
  link: (linkHash: string) => `link:${linkHash}`,
  checkout: (checkoutId: string) => `checkout:${checkoutId}`,
  grant: (grantId: string) => `grant:${grantId}`,
  ledgerEntry: (accountId: string, seq: number) => `ledger:${accountId}:${seq}`,
  settlement: (accountId: string, meter: string) => `settled:${accountId}:${meter}`,
  outcome: (commandId: string) => `outcome:${commandId}`,
};

export function createAccountsState(): AccountsState {
  const outcomes = new Map<string, OutcomeEntry>();
  return {
    accounts: new Map(),
    keys: new Map(),
    ipDays: new Map(),
    pools: new Map(),
    users: new Map(),
    sessions: new Map(),
    links: new Map(),
    checkouts: new Map(),
    grants: new Map(),
    settlements: new Map(),
    outcomes,
    outcomeOrder: createOutcomeOrder(outcomes),
    entitiesOf: new Map(),
    userByLogin: new Map(),
    linksByEmail: new Map(),
    expiries: createExpiryQueue(),
  };
}

const kindOf = (entity: string): string => entity.slice(0, entity.indexOf(':'));

/** The account, unless it is unknown or deleted. */
export function openAccount(state: AccountsState, accountId: string): Account | undefined {
  const account = state.accounts.get(entityOf.account(accountId));
  return account?.deleted_at_ms === null ? account : undefined;
}

/** Entities of one kind that belong to an account, in order of their newest record: the order in which a restart loads them. */
export function entitiesOf(state: AccountsState, accountId: string, kind: string): readonly string[] {
  return [...(state.entitiesOf.get(accountId)?.get(kind) ?? [])];
}

/** Entities of the one-time links of an email, oldest first. */
export function linkEntitiesOf(state: AccountsState, email: string | undefined): readonly string[] {
  return [...(state.linksByEmail.get(email ?? '') ?? [])];
}

function mapOf(state: AccountsState, entity: string) {
  switch (kindOf(entity)) {
    case 'account':
      return state.accounts;
    case 'key':
      return state.keys;
    case 'pool':
      return state.pools;
    case 'user':
      return state.users;
    case 'session':
      return state.sessions;
    case 'link':
      return state.links;
    case 'checkout':
      return state.checkouts;
    case 'grant':
      return state.grants;
    case 'settled':
      return state.settlements;
    default:
      return undefined;
  }
}

/** How a user is found at sign-in. */
export const emailLogin = (email: string): string => `email ${email}`;
export const identityLogin = (identity: string): string => `identity ${identity}`;

const loginsOf = ({ email, identities }: User): readonly string[] => [
  emailLogin(email),
  ...identities.map(identityLogin),
];

function remove(state: AccountsState, entity: string): void {
  state.ipDays.delete(entity);
  state.outcomes.delete(entity);
  const user = state.users.get(entity);
  for (const login of user === undefined ? [] : loginsOf(user)) state.userByLogin.delete(login);
  const link = state.links.get(entity);
  if (link !== undefined) {
    const links = state.linksByEmail.get(link.email);
    links?.delete(entity);
    if (links?.size === 0) state.linksByEmail.delete(link.email);
  }
  const entities = mapOf(state, entity);
  const accountId = entities?.get(entity)?.account_id;
  if (accountId !== undefined) state.entitiesOf.get(accountId)?.get(kindOf(entity))?.delete(entity);
  entities?.delete(entity);
}

/** Unix ms at which an entity is removed; null: never. A grant expires through the ledger. */
function expiryOf(value: object): number | null {
  if ('grant_id' in value) return null;
  const { expires_at_ms: expiresAtMs = null } = value as { readonly expires_at_ms?: number | null };
  return expiresAtMs;
}

function put<T extends { readonly account_id: string }>(
  state: AccountsState,
  entities: Map<string, T>,
  entity: string,
  value: T,
): void {
  const expiresAtMs = expiryOf(value);
  if (expiresAtMs !== null) state.expiries.add(entity, expiresAtMs);
  entities.set(entity, value);
  const kinds = state.entitiesOf.get(value.account_id) ?? new Map<string, Set<string>>();
  const kind = kindOf(entity);
  state.entitiesOf.set(value.account_id, kinds.set(kind, (kinds.get(kind) ?? new Set<string>()).add(entity)));
}

/** Removes up to `most` entries of `expiries` that are due at `atMs` and returns the entities that still exist and have expired. */
export function takeExpired(state: AccountsState, atMs: number, most: number): readonly string[] {
  const expired = new Set<string>();
  while (expired.size < most) {
    const first = state.expiries.first();
    if (first === undefined || first.expiresAtMs > atMs) break;
    state.expiries.removeFirst();
    const current = mapOf(state, first.entity)?.get(first.entity);
    if (current !== undefined && expiryOf(current) === first.expiresAtMs) expired.add(first.entity);
  }
  return [...expired];
}

/** Applies a change to the state, both for new changes and for records loaded at start. */
export function applyChange(state: AccountsState, { entity, value: change }: EntityChange): void {
  // Also before a new value: its account and its place in the order of entities are those of the newest record, as after a restart.
  remove(state, entity);
  if (change === null) return;
  const value = change.state;
  if ('oddstream.Account' in value) put(state, state.accounts, entity, value['oddstream.Account']);
  else if ('oddstream.Key' in value) put(state, state.keys, entity, value['oddstream.Key']);
  else if ('oddstream.IpDay' in value) state.ipDays.set(entity, value['oddstream.IpDay']);
  else if ('oddstream.Pool' in value) put(state, state.pools, entity, value['oddstream.Pool']);
  else if ('oddstream.Session' in value) put(state, state.sessions, entity, value['oddstream.Session']);
  else if ('oddstream.OneTimeLink' in value) {
    const link = value['oddstream.OneTimeLink'];
    put(state, state.links, entity, link);
    const links = state.linksByEmail.get(link.email) ?? new Set();
    state.linksByEmail.set(link.email, links.add(entity));
  } else if ('oddstream.Checkout' in value) put(state, state.checkouts, entity, value['oddstream.Checkout']);
  else if ('oddstream.Grant' in value) put(state, state.grants, entity, value['oddstream.Grant']);
  else if ('oddstream.UsageSettlement' in value)
    put(state, state.settlements, entity, value['oddstream.UsageSettlement']);
  else if ('oddstream.Outcome' in value) {
    const entry = { outcome: value['oddstream.Outcome'], atMs: change.updated_at_ms };
    state.outcomes.set(entity, entry);
    state.outcomeOrder.add(entity, entry);
  } else if ('oddstream.User' in value) {
    put(state, state.users, entity, value['oddstream.User']);
    for (const login of loginsOf(value['oddstream.User'])) state.userByLogin.set(login, entity);
  }
}
