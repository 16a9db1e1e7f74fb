import type { Logger } from '../../infra/telemetry/logger.js';
import type { Metrics } from '../../infra/telemetry/metrics.js';
import { runRefreshLoop, type Throttle } from '../cache/refresh-loop.js';
import type { Sql, Tables } from '../tables/port.js';
import type { Period, PnlSeries } from './series.js';

/** Wallets with the most positions in the newest snapshot; none without a snapshot. */
const largestWalletsSql = (rows: number): Sql => ({
  text: `SELECT wallet FROM leaderboards
      WHERE board = 'positions' AND rank <= {rows:UInt32}
        AND taken_at = (SELECT max(taken_at) FROM leaderboards WHERE board = 'positions')
      ORDER BY rank`,
  params: { rows },
});

const MAX_WALLETS = 2_000;

/** Computes the PnL series of the largest wallets into the cache. Resolves with the number of cached series; a failure of one wallet is reported when it is requested. */
export async function prefetchLargestWallets(deps: {
  readonly tables: Tables;
  readonly profitSeries: Pick<PnlSeries, 'prefetch'>;
  readonly period: Period;
  /** Called after each wallet; rejects when the pass must stop. */
  readonly pause: Throttle;
}): Promise<number> {
  const wallets = await deps.tables.rows<{ wallet: string }>(largestWalletsSql(MAX_WALLETS));
  let ready = 0;
  for (const { wallet } of wallets) {
    ready += await deps.profitSeries.prefetch(wallet, deps.period).then(
      () => 1,
      () => 0,
    );
    await deps.pause(1);
  }
  return ready;
}

/** Prefetches once a minute until `signal` aborts, then resolves; cached series are not computed again. */
export const runPnlSeriesPrefetch = (
  deps: Omit<Parameters<typeof prefetchLargestWallets>[0], 'pause'> & {
    readonly logger: Logger;
    readonly metrics: Metrics;
  },
  signal: AbortSignal,
): Promise<void> =>
  runRefreshLoop(
    {
      ...deps,
      name: 'PnL series of the largest wallets',
      gauge: {
        name: 'api_cache_warmup_pnl_series',
        help: 'Largest wallets whose PnL series the last prefetch pass cached',
      },
      refresh: (pause) => prefetchLargestWallets({ ...deps, pause }),
    },
    signal,
  );
