import { ApiError } from '../errors/failure.js';

/** Lets only so much of costly work run at once, per account and in all. */
export interface Turns {
  /** Runs `work` when its turn comes; throws ApiError when that takes too long. */
  take<T>(accountId: string, work: () => Promise<T>): Promise<T>;
}

export interface TurnsOptions {
  readonly perAccount: number;
  readonly total: number;
  readonly waitMs: number;
  /** Text of both refusals. */
  readonly message: string;
  readonly accountScope: string;
  readonly totalScope: string;
  readonly nowMs: () => number;
}

const RETRY_MS = 1_000;

/** Counted per process; who waits longest goes first among those whose account has room. */
export function createTurns(options: TurnsOptions): Turns {
  const { perAccount, total, message } = options;
  const running = new Map<string, number>();
  let all = 0;
  const waiting = new Set<{ readonly accountId: string; readonly go: () => void }>();

  const accountFull = (accountId: string): boolean => (running.get(accountId) ?? 0) >= perAccount;
  const free = (accountId: string): boolean => all < total && !accountFull(accountId);
  const begin = (accountId: string): void => {
    all += 1;
    running.set(accountId, (running.get(accountId) ?? 0) + 1);
  };
  const end = (accountId: string): void => {
    all -= 1;
    const left = (running.get(accountId) ?? 1) - 1;
    if (left === 0) running.delete(accountId);
    else running.set(accountId, left);
    for (const waiter of waiting) {
      if (!free(waiter.accountId)) continue;
      begin(waiter.accountId);
      waiter.go();
    }
  };
  const refusal = (accountId: string): ApiError => {
    if (!accountFull(accountId)) {
      return new ApiError({ kind: 'overloaded', message, scope: options.totalScope, retryAfterS: RETRY_MS / 1000 });
    }
    const nowMs = options.nowMs();
    return new ApiError({
      kind: 'rate_limited',
      message,
      scope: options.accountScope,
      retryAtMs: nowMs + RETRY_MS,
      nowMs,
      limitPerMinute: perAccount,
    });
  };
  const turn = (accountId: string): Promise<void> =>
    new Promise((resolve, reject) => {
      const waiter = {
        accountId,
        go: () => {
          clearTimeout(timer);
          waiting.delete(waiter);
          resolve();
        },
      };
      const timer = setTimeout(() => {
        waiting.delete(waiter);
        reject(refusal(accountId));
      }, options.waitMs);
      waiting.add(waiter);
    });

  return {
    async take(accountId, work) {
      if (free(accountId)) begin(accountId);
      else await turn(accountId);
      try {
        return await work();
      } finally {
        end(accountId);
      }
    },
  };
}
