import type { Logger } from '../../infra/telemetry/logger.js';
import type { Metrics } from '../../infra/telemetry/metrics.js';
import { runRefreshLoop, type Throttle } from '../cache/refresh-loop.js';
import type { Sql, Tables } from '../tables/port.js';
import type { Period, PnlSeries } from './series.js';

/** Wallets with the most positions, of the newest picture of them; none while there is no picture. */
const largestWalletsSql = (rows: number): Sql => ({
  text: `SELECT wallet FROM leaderboards
      WHERE board = 'positions' AND rank <= {rows:UInt32}
        AND taken_at = (SELECT max(taken_at) FROM leaderboards WHERE board = 'positions')
      ORDER BY rank`,
  params: { rows },
});

const MAX_WALLETS = 2_000;

/** Puts the series of the largest wallets together ahead of questions. Resolves with how many are ready; whoever asks for another is told what failed. */
export async function prefetchLargestWallets(deps: {
  readonly tables: Tables;
  readonly profitSeries: Pick<PnlSeries, 'prefetch'>;
  readonly period: Period;
  /** Called after each wallet; rejects when this is to end. */
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

/** Does so once a minute until `signal` fires; what is held already costs nothing. Resolves then. */
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
      name: 'series of profits of the largest wallets',
      gauge: {
        name: 'api_cache_warmup_pnl_series',
        help: 'Largest wallets whose profit over time was last put together ahead of questions',
      },
      refresh: (pause) => prefetchLargestWallets({ ...deps, pause }),
    },
    signal,
  );
