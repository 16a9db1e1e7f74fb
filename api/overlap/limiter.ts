import { clientNetwork } from '../auth/client-ip.js';
import { type ConcurrencyLimiterOptions, createConcurrencyLimiter } from '../limits/concurrency-limiter.js';

/** Who sent a request: `accountId` is null without a key. */
export interface OverlapCaller {
  readonly accountId: string | null;
  readonly clientIp: string;
}

/**
 * Creates the limiter of one process: two requests at once, and one per account or client network. Requests without a key have at most one of the two
 * permits, so that they never keep accounts waiting for both.
 */
export function createOverlapLimiter(options: { readonly nowMs: () => number; readonly maxWaitMs: number }) {
  const common: Omit<ConcurrencyLimiterOptions, 'total'> = {
    perAccount: 1,
    message: 'Another overlap request is still running. Retry shortly.',
    accountScope: 'wallets_overlap',
    totalScope: 'wallets_overlap_total',
    ...options,
  };
  const all = createConcurrencyLimiter({ ...common, total: 2 });
  const keyless = createConcurrencyLimiter({ ...common, total: 1 });
  return {
    /** Runs `work` once a permit is free; throws ApiError when the wait exceeds the limit. */
    run<T>({ accountId, clientIp }: OverlapCaller, work: () => Promise<T>): Promise<T> {
      if (accountId !== null) return all.run(accountId, work);
      const network = `address ${clientNetwork(clientIp)}`;
      return keyless.run(network, () => all.run(network, work));
    },
  };
}
