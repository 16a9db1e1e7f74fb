import type { Caller } from '../auth/caller.js';
import { ApiError } from '../errors/failure.js';
import { rateLimitHeaders } from '../limits/rate-limit-headers.js';
import type { Sql, Tables } from '../tables/port.js';

/** Counts a successful search for the account's month. Must not throw. */
export type CountSearch = (caller: Caller) => void;

export interface Quota {
  readonly used: number;
  /** Part of `used` that other processes have counted. */
  readonly usedElsewhere: number;
  readonly limit: number;
  /** Start of the next month, Unix ms. */
  readonly resetMs: number;
}

/** Searches of accounts per calendar month (UTC). */
export interface SearchQuota {
  read(caller: Caller, nowMs: number): Promise<Quota>;
  /**
   * Runs `work` and counts it unless it throws. Throws ApiError rate_limited without running it when the month's searches, with those that run now, are used
   * up. `quota` is the state before.
   */
  spend<T>(
    caller: Caller,
    quota: Quota,
    nowMs: number,
    work: () => Promise<T>,
  ): Promise<{ readonly result: T; readonly used: number }>;
}

export const quotaHeaders = ({ used, limit }: Pick<Quota, 'used' | 'limit'>): Readonly<Record<string, string>> => ({
  'x-quota-used': String(used),
  'x-quota-limit': String(limit),
});

const monthOf = (nowMs: number): { readonly startMs: number; readonly endMs: number } => {
  const date = new Date(nowMs);
  const [year, month] = [date.getUTCFullYear(), date.getUTCMonth()];
  return { startMs: Date.UTC(year, month, 1), endMs: Date.UTC(year, month + 1, 1) };
};

const usedElsewhereSql = (accountId: string, processId: string, month: { startMs: number; endMs: number }): Sql => ({
  text: `SELECT toString(sum(quantity)) AS used FROM usage FINAL
    WHERE account_id = {account:String} AND meter = 'social_searches' AND process_id != {process:String}
      AND hour >= toDateTime({start:UInt32}, 'UTC') AND hour < toDateTime({end:UInt32}, 'UTC')`,
  params: { account: accountId, process: processId, start: month.startMs / 1000, end: month.endMs / 1000 },
});

/**
 * Creates the quota of one API process: its own searches are counted exactly, those of other processes and of its predecessors come from the usage table,
 * some seconds late.
 */
export function createSearchQuota(deps: {
  readonly tables: Pick<Tables, 'rows'>;
  /** Id under which `count` records the usage of this process. */
  readonly processId: string;
  readonly count: CountSearch;
}): SearchQuota {
  let monthStartMs = 0;
  let own = new Map<string, number>();
  const running = new Map<string, number>();
  const ownOf = (accountId: string, startMs: number): number => {
    // A search that began before the month and ends in it must not bring the former month back.
    if (startMs > monthStartMs) [monthStartMs, own] = [startMs, new Map()];
    return own.get(accountId) ?? 0;
  };
  const add = (counts: Map<string, number>, accountId: string, change: number) => {
    const next = (counts.get(accountId) ?? 0) + change;
    if (next === 0) counts.delete(accountId);
    else counts.set(accountId, next);
  };

  return {
    async read({ accountId, terms }, nowMs) {
      const month = monthOf(nowMs);
      const [row] = await deps.tables.rows<{ used: string }>(usedElsewhereSql(accountId, deps.processId, month));
      const usedElsewhere = Number(row?.used ?? 0);
      const used = usedElsewhere + ownOf(accountId, month.startMs);
      return { used, usedElsewhere, limit: terms.socialSearchesPerMonth, resetMs: month.endMs };
    },
    async spend(caller, quota, nowMs, work) {
      const { accountId } = caller;
      // Searches of this process may have ended since the quota was read.
      const used = () => quota.usedElsewhere + ownOf(accountId, monthOf(nowMs).startMs);
      const before = used();
      if (before + (running.get(accountId) ?? 0) >= quota.limit)
        throw new ApiError({
          kind: 'rate_limited',
          retryAtMs: quota.resetMs,
          nowMs,
          limitPerMinute: 0,
          message: 'monthly quota exceeded',
          headers: {
            ...quotaHeaders({ used: before, limit: quota.limit }),
            ...rateLimitHeaders({ limit: quota.limit, remaining: 0, resetMs: quota.resetMs }),
          },
        });
      add(running, accountId, 1);
      try {
        const result = await work();
        add(own, accountId, 1);
        deps.count(caller);
        return { result, used: used() };
      } finally {
        add(running, accountId, -1);
      }
    },
  };
}
