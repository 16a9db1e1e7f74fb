import { setTimeout as sleep } from 'node:timers/promises';
import type { Logger } from '../../infra/telemetry/logger.js';
import type { Metrics } from '../../infra/telemetry/metrics.js';
import { commonLimits } from '../../schemas/plans.js';
import { MAX_LEAD_MS } from '../future-rows.js';
import type { Cycle, ScoreStore } from './score-store.js';
import { scoringFailureOf } from './scoring-failure.js';
import type { TrackedWallets } from './tracked-wallets.js';

export interface PoolScorer {
  /** Queues wallets that are new in any pool; those without recent scores are scored next. */
  added(wallets: readonly string[]): void;
  /** Scores new wallets and runs the cycles until the signal. Rejects on errors that no later attempt can get past. */
  run(signal: AbortSignal): Promise<void>;
}

export interface PoolScorerOptions {
  readonly store: ScoreStore;
  readonly tracked: Pick<TrackedWallets, 'size' | 'has' | 'all'>;
  readonly logger: Logger;
  readonly metrics: Metrics;
  readonly nowMs: () => number;
  /** From the start of a cycle to the start of the next; default: a day. */
  readonly cycleIntervalMs?: number;
  /** Wallets per statement; default: 50. */
  readonly chunkSize?: number;
  /** Time limit of the statement of a single wallet; default: 180 s. */
  readonly walletBudgetMs?: number;
  /** Waits `ms`, or less, or until the signal; never rejects. */
  readonly pause?: (ms: number, signal: AbortSignal) => Promise<unknown>;
}

const DAY_MS = 86_400_000;
const CHUNK_SIZE = 50;
/** A chunk beyond it is scored wallet by wallet, so that one wallet of it does not keep the others and new wallets waiting. */
const CHUNK_BUDGET_MS = 20_000;
const FIRST_RETRY_MS = 1_000;
const MAX_RETRY_MS = 30_000;
/** Longest single wait, so that a clock that is set back is noticed. */
const MAX_SLEEP_MS = 60_000;
/** Wallets per lookup of scores at the start. */
const LOOKUP_SIZE = 1_000;

/** A chunk or a wallet to score. */
interface Work {
  readonly wallets: readonly string[];
  /** Scores of this time or later make the work unnecessary. */
  readonly sinceMs: number;
  readonly reason: 'added' | 'cycle' | 'single';
  /** Removes the work from its queue. */
  done(): void;
}

/** The first `size` elements, without a copy of the rest. */
function take<T>(values: Iterable<T>, size: number): T[] {
  const taken: T[] = [];
  for (const value of values) {
    if (taken.length === size) break;
    taken.push(value);
  }
  return taken;
}

/**
 * Scores the wallets of all pools: new ones at once, all of them in a cycle per day, chunk by chunk and one statement at a time. The state of a
 * cycle is in the tables: a wallet with scores, or a failure, since the start of the cycle is done, so that a restart continues where the last
 * process ended. A chunk that fails is scored wallet by wallet after all other work; the failure of a wallet is recorded. While ClickHouse is
 * unreachable the work waits. A cycle that a clock started that ran ahead is replaced by a new one, without the scores of that time.
 */
export function createPoolScorer(options: PoolScorerOptions): PoolScorer {
  const { store, tracked, logger, nowMs } = options;
  const intervalMs = options.cycleIntervalMs ?? DAY_MS;
  const chunkSize = options.chunkSize ?? CHUNK_SIZE;
  const walletBudgetMs = options.walletBudgetMs ?? commonLimits.copyPnlRefreshBudgetMs;
  const pause =
    options.pause ?? ((ms, signal) => sleep(Math.min(ms, MAX_SLEEP_MS), undefined, { signal }).catch(() => undefined));
  const { metrics } = options;
  const scored = metrics.counter('copy_pnl_scored_wallets_total', 'Pool wallets scored', ['reason']);
  const failed = metrics.counter('copy_pnl_failed_wallets_total', 'Pool wallets whose scoring failed', ['error']);
  const trackedWallets = metrics.gauge('copy_pnl_tracked_wallets', 'Wallets in copy-PnL pools');
  const waitingWallets = metrics.gauge('copy_pnl_waiting_wallets', 'New pool wallets that are not scored yet');
  const chunkSeconds = metrics.gauge('copy_pnl_chunk_seconds', 'Duration of the last scoring statement');
  const cycleSeconds = metrics.gauge('copy_pnl_cycle_seconds', 'Duration of the last complete cycle');

  const newcomers = new Set<string>();
  /** Wallets of failed chunks, with the time since which their scores count. */
  const singles = new Map<string, number>();
  let cycle: Cycle | null = null;
  /** Wallets of the running cycle that are not handed out yet. */
  let due: readonly string[] = [];
  let wake: () => void = () => undefined;

  const nextWork = (): Work | null => {
    for (const wallet of newcomers) if (!tracked.has(wallet)) newcomers.delete(wallet);
    if (newcomers.size > 0) {
      const wallets = take(newcomers, chunkSize);
      const done = () => {
        for (const wallet of wallets) newcomers.delete(wallet);
      };
      return { wallets, sinceMs: nowMs() - intervalMs, reason: 'added', done };
    }
    if (cycle !== null && due.length > 0) {
      const wallets = due.slice(0, chunkSize);
      const done = () => {
        due = due.slice(wallets.length);
      };
      return { wallets, sinceMs: cycle.startedMs, reason: 'cycle', done };
    }
    const [single] = singles;
    if (single === undefined) return null;
    const [wallet, sinceMs] = single;
    return { wallets: [wallet], sinceMs, reason: 'single', done: () => singles.delete(wallet) };
  };

  /** Scores the wallets in one statement. Returns the failure, or null; throws while ClickHouse is unreachable. */
  const score = async (wallets: readonly string[], budgetMs: number, signal: AbortSignal): Promise<string | null> => {
    const startedMs = performance.now();
    try {
      await store.score(wallets, nowMs(), { budgetMs, signal });
      return null;
    } catch (error) {
      if (signal.aborted) throw error;
      const failure = scoringFailureOf(error, budgetMs);
      if (failure === null) throw error;
      logger.warn({ err: error, wallets: wallets.length, failure }, 'cannot score wallets of pools');
      return failure;
    } finally {
      chunkSeconds.set((performance.now() - startedMs) / 1000);
    }
  };

  const perform = async (work: Work, signal: AbortSignal): Promise<void> => {
    const { reason, sinceMs } = work;
    const candidates = work.wallets.filter((wallet) => tracked.has(wallet));
    // A wallet that failed in this cycle waits for the next one; one that was added again is tried again.
    const finished = await store.doneSince(candidates, sinceMs, reason === 'cycle');
    const wallets = candidates.filter(
      (wallet) => !finished.has(wallet) && (reason === 'single' || !singles.has(wallet)),
    );
    if (wallets.length > 0) {
      const isSingle = reason === 'single';
      const failure = await score(wallets, isSingle ? walletBudgetMs : CHUNK_BUDGET_MS, signal);
      if (failure === null) scored.inc({ reason }, wallets.length);
      else if (!isSingle) for (const wallet of wallets) singles.set(wallet, sinceMs);
      else
        for (const wallet of wallets) {
          await store.recordFailure(wallet, failure, nowMs());
          failed.inc({ error: failure });
        }
      logger[reason === 'added' ? 'info' : 'debug'](
        { wallets: wallets.length, reason, failure },
        'scored pool wallets',
      );
    }
    work.done();
  };

  const startCycle = async (startedMs: number): Promise<void> => {
    // Else their wallets would count as done in every cycle until the clock is as late again.
    await store.deleteFuture(startedMs);
    await store.writeCycle({ startedMs, completedMs: null });
    cycle = { startedMs, completedMs: null };
    due = tracked.all();
    logger.info({ wallets: due.length }, 'copy-pnl cycle started');
  };
  const completeCycle = async ({ startedMs }: Cycle): Promise<void> => {
    const completedMs = nowMs();
    await store.writeCycle({ startedMs, completedMs });
    cycle = { startedMs, completedMs };
    cycleSeconds.set((completedMs - startedMs) / 1000);
    logger.info({ wallets: tracked.size, tookMs: completedMs - startedMs }, 'copy-pnl cycle completed');
  };

  /** Continues the cycle of an earlier process. */
  const recover = async (): Promise<void> => {
    cycle = await store.newestCycle();
    const wallets = tracked.all();
    if (cycle?.completedMs === null) {
      due = wallets;
      logger.info({ wallets: due.length, startedMs: cycle.startedMs }, 'copy-pnl cycle continued');
    }
    for (let from = 0; from < wallets.length; from += LOOKUP_SIZE) {
      const some = wallets.slice(from, from + LOOKUP_SIZE);
      const known = await store.doneSince(some, 0, true);
      for (const wallet of some) if (!known.has(wallet)) newcomers.add(wallet);
    }
  };

  /** Whether the cycle was started before the clock was set back. */
  const isFuture = ({ startedMs }: Cycle): boolean => startedMs > nowMs() + MAX_LEAD_MS;

  /** Milliseconds until the next cycle; null: there is no wallet to run one for. */
  const msUntilCycle = (): number | null => {
    if (tracked.size === 0) return null;
    if (cycle === null || isFuture(cycle)) return 0;
    return Math.max(0, cycle.startedMs + intervalMs - nowMs());
  };

  /** One step. Returns the milliseconds to wait before the next one; null: until a wallet is added. */
  const step = async (signal: AbortSignal): Promise<number | null> => {
    trackedWallets.set(tracked.size);
    waitingWallets.set(newcomers.size);
    const isRunning = cycle !== null && cycle.completedMs === null && !isFuture(cycle);
    // Before new wallets are scored, so that their scores count in a cycle that is due.
    if (!isRunning && msUntilCycle() === 0) {
      await startCycle(nowMs());
      return 0;
    }
    const work = nextWork();
    if (work !== null) {
      await perform(work, signal);
      return 0;
    }
    if (cycle !== null && isRunning) {
      await completeCycle(cycle);
      return 0;
    }
    return msUntilCycle();
  };

  /** Waits for `ms`, for a new wallet or for the signal. */
  const waitForWork = async (ms: number | null, signal: AbortSignal): Promise<void> => {
    const woken = new AbortController();
    wake = () => woken.abort();
    // A wallet was added after the queue was read.
    if (newcomers.size > 0) return;
    const either = AbortSignal.any([signal, woken.signal]);
    await pause(Math.min(ms ?? DAY_MS, DAY_MS), either);
    wake = () => undefined;
  };

  return {
    added(wallets) {
      for (const wallet of wallets) newcomers.add(wallet);
      wake();
    },
    async run(signal) {
      let recovered = false;
      let retryMs = FIRST_RETRY_MS;
      while (!signal.aborted) {
        try {
          if (!recovered) await recover();
          recovered = true;
          const waitMs = await step(signal);
          retryMs = FIRST_RETRY_MS;
          if (waitMs !== 0) await waitForWork(waitMs, signal);
        } catch (error) {
          if (signal.aborted) return;
          // Rethrows errors that are not failures of ClickHouse.
          scoringFailureOf(error, walletBudgetMs);
          logger.warn({ err: error, retryMs }, 'copy-pnl scoring failed, trying again later');
          await pause(retryMs, signal);
          retryMs = Math.min(MAX_RETRY_MS, retryMs * 2);
        }
      }
    },
  };
}
