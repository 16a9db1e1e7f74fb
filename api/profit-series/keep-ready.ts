import type { Logger } from '../../infra/telemetry/logger.js';
import type { Metrics } from '../../infra/telemetry/metrics.js';
import { keepFilled, type Pause } from '../cache/keep-filled.js';
import type { Sql, Tables } from '../tables/port.js';
import type { Period, ProfitSeries } from './series.js';

/** Wallets with the most positions, of the newest picture of them; none while there is no picture. */
const largestSql = (rows: number): Sql => ({
  text: `SELECT wallet FROM leaderboards
      WHERE board = 'positions' AND rank <= {rows:UInt32}
        AND taken_at = (SELECT max(taken_at) FROM leaderboards WHERE board = 'positions')
      ORDER BY rank`,
  params: { rows },
});

const MOST_WALLETS = 2_000;

/** Puts the series of the largest wallets together ahead of questions. Resolves with how many are ready; whoever asks for another is told what failed. */
export async function readyLargest(deps: {
  readonly tables: Tables;
  readonly profitSeries: Pick<ProfitSeries, 'hold'>;
  readonly period: Period;
  /** Called after each wallet; rejects when this is to end. */
  readonly pause: Pause;
}): Promise<number> {
  const wallets = await deps.tables.rows<{ wallet: string }>(largestSql(MOST_WALLETS));
  let ready = 0;
  for (const { wallet } of wallets) {
    ready += await deps.profitSeries.hold(wallet, deps.period).then(
      () => 1,
      () => 0,
    );
    await deps.pause(1);
  }
  return ready;
}

/** Does so once a minute until `signal` fires; what is held already costs nothing. Resolves then. */
export const keepReady = (
  deps: Omit<Parameters<typeof readyLargest>[0], 'pause'> & { readonly logger: Logger; readonly metrics: Metrics },
  signal: AbortSignal,
): Promise<void> =>
  keepFilled(
    {
      ...deps,
      what: 'series of profits of the largest wallets',
      gauge: {
        name: 'api_profit_series_ready',
        help: 'Largest wallets whose profit over time was last put together ahead of questions',
      },
      fill: (pause) => readyLargest({ ...deps, pause }),
    },
    signal,
  );
