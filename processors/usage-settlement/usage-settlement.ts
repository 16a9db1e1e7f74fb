import { setTimeout as sleep } from 'node:timers/promises';
import { createCapacityView } from '../../infra/accounts/capacity-view.js';
import { type AccountCommands, createAccountCommands } from '../../infra/accounts/commands.js';
import type { ClickHouse } from '../../infra/clickhouse/client.js';
import { partitionsOf } from '../../infra/log/partitions.js';
import type { Log, LogRecord } from '../../infra/log/port.js';
import type { Logger } from '../../infra/telemetry/logger.js';
import type { Metrics } from '../../infra/telemetry/metrics.js';
import { createOnUnreadable } from '../../infra/telemetry/unreadable-records.js';
import type { Codec } from '../../schemas/codec.js';
import { accountMeters, monthlyAllowance } from '../../schemas/packages.js';
import { servicePeriod } from '../../schemas/service-period.js';
import { topics } from '../../schemas/topics.js';
import { tryDecode } from '../../schemas/try-decode.js';
import type { Account, AccountMeter, PeriodUsage } from '../../schemas/types.gen.js';
import { runConcurrently } from '../run-concurrently.js';
import { followTopic, loadTopic } from '../stream/follow-topic.js';
import { isDue } from './is-due.js';
import { type AccountPeriods, readUsageProgress, readUsageTotals, type UsageTotals } from './usage-totals.js';

const INTERVAL_MS = 10_000;
const ACCOUNTS_PER_STATEMENT = 500;
/** An account that stays busy and is far from its limits is looked at this often, after some looks at every interval. */
const CALM_INTERVAL_MS = 60_000;
const FIRST_LOOKS = 3;
/** Share of the allowance from which an account is looked at every time. */
const CLOSE_TO_LIMIT = 0.5;
/** Late totals of a period come within hours, unless a process could not write for longer. */
const LATE_TOTALS_MS = 2 * 86_400_000;
/** A total that the table has not got by then was rejected. */
const MAX_WAIT_FOR_TABLE_MS = 3_600_000;

interface Changed {
  sinceMs: number;
  /** Position behind the newest total of the account, by partition of the log; the table must have reached it. */
  readonly behind: Map<number, number>;
  nextMs: number;
  looks: number;
  /** Changes of plan, limits or grants so far. */
  changes: number;
}

export interface UsageSettlementPass {
  /** Accounts whose totals were read. */
  readonly accounts: number;
  readonly commands: number;
}

/**
 * Compares the usage of accounts with their allowance and grants, and sends SettleUsage where it matters (`isDue`). Looks at accounts whose usage,
 * grants or plan have changed; after a start at all. Keeps nothing: what was settled is in accounts.state, and a repeated command changes nothing.
 */
export function createUsageSettlement(options: {
  log: Log;
  codec: Codec;
  clickhouse: Pick<ClickHouse, 'query'>;
  logger: Logger;
  metrics: Metrics;
  nowMs: () => number;
  intervalMs?: number;
}): {
  run(signal: AbortSignal): Promise<void>;
  pass(signal: AbortSignal): Promise<UsageSettlementPass>;
  load(signal: AbortSignal): Promise<number>;
} {
  const { log, codec, clickhouse, logger, nowMs } = options;
  const onUnreadable = createOnUnreadable(options);
  const commands: AccountCommands = createAccountCommands({ log, codec, now: nowMs });
  const sent = options.metrics.counter('usage_settlements_total', 'SettleUsage commands sent');
  const waiting = options.metrics.gauge('usage_settlement_accounts', 'Accounts whose usage is being settled');
  const accounts = new Map<string, Account>();
  const capacity = createCapacityView();
  const settledAtMs = new Map<string, number>();
  const changed = new Map<string, Changed>();

  const markChanged = (accountId: string): Changed => {
    const known = changed.get(accountId) ?? { sinceMs: nowMs(), behind: new Map(), nextMs: 0, looks: 0, changes: 0 };
    changed.set(accountId, known);
    return known;
  };

  /** An account whose plan, limits or grants have changed may be close to its limits now. */
  const lookAtOnce = (accountId: string): void => {
    const known = markChanged(accountId);
    known.nextMs = 0;
    known.looks = 0;
    known.changes += 1;
  };

  const applyState = ({ key, offset, value }: LogRecord): void => {
    const onFailure = (reason: string) => onUnreadable({ topic: topics.accountsState.name, offset }, reason);
    const event = value === null ? undefined : tryDecode(codec, value, onFailure);
    const state = event?.kind === 'account_state' ? event.value.state : null;
    capacity.apply(key, state);
    if (state === null || event?.kind !== 'account_state') {
      if (key.startsWith('account:')) accounts.delete(key.slice('account:'.length));
      return;
    }
    if ('oddstream.Account' in state) {
      accounts.set(state['oddstream.Account'].account_id, state['oddstream.Account']);
      lookAtOnce(state['oddstream.Account'].account_id);
    } else if ('oddstream.Grant' in state) lookAtOnce(state['oddstream.Grant'].account_id);
    else if ('oddstream.UsageSettlement' in state) settledAtMs.set(key, event.value.updated_at_ms);
  };
  const applyUsage = ({ offset, value }: LogRecord, partition: number): void => {
    const onFailure = (reason: string) => onUnreadable({ topic: topics.usage.name, offset }, reason);
    const event = value === null ? undefined : tryDecode(codec, value, onFailure);
    if (event?.kind !== 'usage') return;
    const known = markChanged(event.value.account_id);
    known.sinceMs = nowMs();
    known.behind.set(partition, offset + 1);
  };
  const followUsage = async (partition: number, fromOffset: number, signal: AbortSignal): Promise<void> => {
    const read = { topic: topics.usage.name, partition, from: { offset: fromOffset }, follow: true, signal };
    for await (const batch of log.read(read)) for (const record of batch.records) applyUsage(record, partition);
  };

  const isLimited = (account: Account) => accountMeters.some((meter) => monthlyAllowance(account, meter) !== null);
  const periodsOf = (account: Account, atMs: number): AccountPeriods => {
    const current = servicePeriod(account.created_at_ms, atMs);
    const before = servicePeriod(account.created_at_ms, current.startMs - 1);
    const isRecent = before.endMs === current.startMs && atMs - current.startMs < LATE_TOTALS_MS;
    // Of an ended period the terms of that time count, which are unknown once they have changed.
    const hasLateTotals = isRecent && account.terms_since_ms < current.startMs;
    return {
      accountId: account.account_id,
      current,
      previousStartMs: hasLateTotals ? before.startMs : current.startMs,
    };
  };
  const grantsOf = (accountId: string, meter: AccountMeter) =>
    capacity.grantsOf(accountId).filter((grant) => grant.meter === meter);

  /**
   * Charges usage before the expiry of a package to it, as of its last moment: a command of now would charge it to the next package. The hour of the
   * expiry counts as before it. Not once the terms have changed, since the allowance of then is no longer known. Returns the number of commands.
   */
  const settleExpired = async (account: Account, meter: AccountMeter, nowMs: number, signal: AbortSignal) => {
    const expired = grantsOf(account.account_id, meter).filter(
      ({ remaining, expires_at_ms: at }) => remaining > 0 && at <= nowMs && account.terms_since_ms < at,
    );
    let count = 0;
    for (const { expires_at_ms: at } of expired.sort((a, b) => a.expires_at_ms - b.expires_at_ms)) {
      const periods = periodsOf(account, at - 1);
      const totals = await readUsageTotals(clickhouse, [periods], signal, at - 1);
      const used = totals.find((one) => one.meter === meter)?.used ?? 0;
      if (used <= (monthlyAllowance(account, meter) ?? used)) continue;
      const command = { account_id: account.account_id, meter, period_start_ms: periods.current.startMs, used };
      await commands.send({ 'oddstream.SettleUsage': command }, { atMs: at - 1 });
      count += 1;
    }
    return count;
  };

  /** Sends what is due of a meter; returns whether some usage still waits. */
  const settle = async (account: Account, periods: AccountPeriods, totals: UsageTotals, atMs: number) => {
    const { meter } = totals;
    const id = account.account_id;
    const newest = capacity.settlement(id, meter);
    const of = (startMs: number): PeriodUsage | undefined =>
      [newest, newest?.previous].find((one): one is PeriodUsage => one?.period_start_ms === startMs);
    const common = { account, meter, settledAtMs: settledAtMs.get(`settled:${id}:${meter}`) ?? 0, nowMs: atMs };
    const { startMs } = periods.current;
    const running = { periodStartMs: startMs, used: totals.used, grants: grantsOf(id, meter) };
    // A late total is charged to grants of its own period only.
    const earlier = running.grants.filter((grant) => grant.granted_at_ms < startMs && grant.expires_at_ms > atMs);
    const ended = { periodStartMs: periods.previousStartMs, used: totals.previous, grants: earlier };
    let count = 0;
    let waits = false;
    for (const { periodStartMs, used, grants } of ended.periodStartMs < startMs ? [ended, running] : [running]) {
      const due = isDue({ ...common, used, grants, settled: of(periodStartMs) });
      if (due === 'later') waits = true;
      if (due !== 'due') continue;
      const command = { account_id: id, meter, period_start_ms: periodStartMs, used };
      await commands.send({ 'oddstream.SettleUsage': command });
      count += 1;
    }
    return { count, waits };
  };

  /** Accounts to look at now: changed ones, and those with a grant that has expired. */
  const accountsToRead = (atMs: number): readonly Account[] => {
    // After the clock was set back, a time beyond the interval is of the clock before.
    const isDueAt = (nextMs: number) => nextMs <= atMs || nextMs > atMs + CALM_INTERVAL_MS;
    const ids = [...changed].filter(([, { nextMs }]) => isDueAt(nextMs)).map(([id]) => id);
    return ids.flatMap((id) => {
      const account = accounts.get(id);
      if (account !== undefined && isLimited(account)) return [account];
      changed.delete(id);
      return [];
    });
  };
  const noteExpired = (atMs: number) => {
    for (const accountId of accounts.keys())
      if (capacity.grantsOf(accountId).some(({ remaining, expires_at_ms: at }) => remaining > 0 && at <= atMs))
        markChanged(accountId);
  };
  const isClose = (account: Account, { meter, used }: UsageTotals) => {
    const allowance = monthlyAllowance(account, meter);
    return allowance !== null && used >= allowance * CLOSE_TO_LIMIT;
  };

  const pass = async (signal: AbortSignal): Promise<UsageSettlementPass> => {
    const atMs = nowMs();
    noteExpired(atMs);
    const due = accountsToRead(atMs);
    if (due.length === 0) return { accounts: 0, commands: 0 };
    const changesBefore = new Map(due.map(({ account_id: id }) => [id, changed.get(id)?.changes]));
    // Before the totals, which are then at least as new.
    const progress = await readUsageProgress(clickhouse, signal);
    let count = 0;
    for (let from = 0; from < due.length && !signal.aborted; from += ACCOUNTS_PER_STATEMENT) {
      const chunk = due.slice(from, from + ACCOUNTS_PER_STATEMENT);
      const periods = chunk.map((account) => periodsOf(account, atMs));
      const totals = await readUsageTotals(clickhouse, periods, signal);

      for (const [n, account] of chunk.entries()) {
        const id = account.account_id;
        const mine = totals.filter(({ accountId }) => accountId === id);
        let waits = false;
        for (const meter of accountMeters) {
          const known = mine.find((one) => one.meter === meter);
          const one = known ?? { accountId: id, meter, used: 0, previous: 0 };
          count += await settleExpired(account, meter, atMs, signal);
          const result = await settle(account, periods[n] as AccountPeriods, one, atMs);
          count += result.count;
          waits ||= result.waits;
        }
        const state = changed.get(id);
        // What has changed during the pass is looked at in the next one.
        if (state === undefined || state.changes !== changesBefore.get(id)) continue;
        const isComplete = [...state.behind].every(([partition, next]) => (progress.get(partition) ?? 0) >= next);
        if (!waits && (isComplete || atMs - state.sinceMs > MAX_WAIT_FOR_TABLE_MS)) changed.delete(id);
        else {
          state.looks += 1;
          const isCalm = state.looks > FIRST_LOOKS && !mine.some((one) => isClose(account, one));
          state.nextMs = isCalm ? atMs + CALM_INTERVAL_MS : 0;
        }
      }
    }
    sent.inc(count);
    waiting.set(changed.size);
    return { accounts: due.length, commands: count };
  };

  const load = (signal: AbortSignal) => loadTopic(log, topics.accountsState.name, applyState, signal);
  return {
    load,
    pass,
    async run(signal) {
      const usageFrom = await Promise.all(
        (await partitionsOf(log, topics.usage)).map(
          async (partition) => (await log.bounds(topics.usage.name, partition)).next,
        ),
      );
      const next = await load(signal);
      if (signal.aborted) return;
      // Totals from before the start may not be in the table yet.
      for (const { behind } of changed.values())
        for (const [partition, offset] of usageFrom.entries()) behind.set(partition, offset);
      await runConcurrently(signal, (inner) => [
        followTopic(log, topics.accountsState.name, next, applyState, inner),
        ...usageFrom.map((offset, partition) => followUsage(partition, offset, inner)),
        (async () => {
          while (!inner.aborted) {
            await pass(inner).catch((error) => {
              if (!inner.aborted) logger.warn({ err: error }, 'usage cannot be settled now, trying again');
            });
            await sleep(options.intervalMs ?? INTERVAL_MS, undefined, { signal: inner }).catch(() => undefined);
          }
        })(),
      ]);
    },
  };
}
