import type { AccountCommand, AccountState, Outcome } from '../../schemas/types.gen.js';
import { accountHandlers, IP_RETENTION_DAYS, utcDay } from './account-handlers.js';
import { type CommandContext, type CommandHandlers, type CommandResult, reject } from './command-result.js';
import { keyHandlers } from './key-handlers.js';
import { packageHandlers } from './package-handlers.js';
import { poolHandlers } from './pool-handlers.js';
import { type AccountsState, applyChange, type EntityChange, entityOf, takeExpired } from './state.js';
import { userHandlers } from './user-handlers.js';

/** Number of later outcomes, or milliseconds of command time, after which an outcome is removed. */
export const MAX_OUTCOMES = 10_000;
const OUTCOME_RETENTION_MS = 24 * 3_600_000;

/** Sessions, links and replaced keys that one command removes at most; later commands remove the others. */
const MAX_EXPIRED_PER_COMMAND = 100;

const handlers: CommandHandlers = {
  ...accountHandlers,
  ...keyHandlers,
  ...poolHandlers,
  ...userHandlers,
  ...packageHandlers,
};
type AnyHandler = (state: AccountsState, command: unknown, context: CommandContext) => CommandResult;

/** Outcome and entity changes of a command. Pure. A command that this version does not know is rejected. */
function evaluateCommand(state: AccountsState, { command, issued_at_ms: atMs, author }: AccountCommand): CommandResult {
  const [[name, value] = ['', undefined]] = Object.entries(command);
  const handler = (handlers as Readonly<Record<string, AnyHandler>>)[name.slice('oddstream.'.length)];
  return handler === undefined ? reject('unsupported_command', null) : handler(state, value, { atMs, author });
}

function entityOfState(state: AccountState['state']): string {
  if ('oddstream.Account' in state) return entityOf.account(state['oddstream.Account'].account_id);
  if ('oddstream.Key' in state) return entityOf.key(state['oddstream.Key'].key_hash);
  if ('oddstream.IpDay' in state)
    return entityOf.ipDay(state['oddstream.IpDay'].ip_hash, state['oddstream.IpDay'].utc_day);
  if ('oddstream.Pool' in state) return entityOf.pool(state['oddstream.Pool'].key_hash);
  if ('oddstream.User' in state) return entityOf.user(state['oddstream.User'].user_id);
  if ('oddstream.Session' in state) return entityOf.session(state['oddstream.Session'].session_hash);
  if ('oddstream.OneTimeLink' in state) return entityOf.link(state['oddstream.OneTimeLink'].link_hash);
  if ('oddstream.Checkout' in state) return entityOf.checkout(state['oddstream.Checkout'].checkout_id);
  if ('oddstream.Grant' in state) return entityOf.grant(state['oddstream.Grant'].grant_id);
  if ('oddstream.LedgerEntry' in state) {
    const { account_id, seq } = state['oddstream.LedgerEntry'];
    return entityOf.ledgerEntry(account_id, seq);
  }
  if ('oddstream.UsageSettlement' in state) {
    const { account_id, meter } = state['oddstream.UsageSettlement'];
    return entityOf.settlement(account_id, meter);
  }
  throw new Error('An outcome has no entity');
}

/** Tombstones for outcomes and first-wins records that no later command needs, and for what has expired. */
function expiredEntries(state: AccountsState, atMs: number): EntityChange[] {
  const expired: string[] = [];
  let surplus = state.outcomes.size - MAX_OUTCOMES;
  const { outcomeOrder } = state;
  for (let oldest = outcomeOrder.first(); oldest !== undefined; oldest = outcomeOrder.first()) {
    if (surplus <= 0 && oldest.value.atMs > atMs - OUTCOME_RETENTION_MS) break;
    expired.push(oldest.entity);
    outcomeOrder.removeFirst();
    surplus -= 1;
  }
  if (state.ipDays.size > 0) {
    const firstDay = utcDay(atMs - IP_RETENTION_DAYS * 24 * 3_600_000);
    for (const [entity, { utc_day: day }] of state.ipDays) {
      if (day >= firstDay) break;
      expired.push(entity);
    }
  }
  expired.push(...takeExpired(state, atMs, MAX_EXPIRED_PER_COMMAND));
  return expired.map((entity) => ({ entity, value: null }));
}

/**
 * Applies one command to the state and returns the records to append to accounts.state: changed entities, the outcome, and tombstones of
 * expired entries. Empty for a command that was decided before. All times come from the command, so the result is deterministic.
 */
export function applyCommand(state: AccountsState, command: AccountCommand): readonly EntityChange[] {
  const outcomeEntity = entityOf.outcome(command.id);
  if (state.outcomes.has(outcomeEntity)) return [];
  const result = evaluateCommand(state, command);
  const outcome: Outcome = {
    accepted: result.code === 'ok',
    code: result.code,
    account_id: result.accountId,
    pool: result.pool ?? null,
    user_id: result.userId ?? null,
  };
  const record = (entity: string, value: AccountState['state']): EntityChange => ({
    entity,
    value: { entity, updated_at_ms: command.issued_at_ms, command_id: command.id, state: value },
  });
  const changes = [
    ...result.changes.map((value) => record(entityOfState(value), value)),
    ...(result.removed ?? []).map((entity) => ({ entity, value: null })),
    record(outcomeEntity, { 'oddstream.Outcome': outcome }),
  ];
  for (const change of changes) applyChange(state, change);
  const forgotten = expiredEntries(state, command.issued_at_ms);
  for (const change of forgotten) applyChange(state, change);
  return [...changes, ...forgotten];
}
