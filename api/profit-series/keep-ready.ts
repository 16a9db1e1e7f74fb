import { setTimeout as sleep } from 'node:timers/promises';
import type { Logger } from '../../infra/telemetry/logger.js';
import type { Metrics } from '../../infra/telemetry/metrics.js';
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

const MOST_WALLETS = 500;
const AGAIN_AFTER_MS = 60_000;
/** At most a seventh of a core. */
const REST = 6;

/** Puts the series of the largest wallets together ahead of questions. Resolves with how many are ready; whoever asks for another is told what failed. */
export async function readyLargest(deps: {
  readonly tables: Tables;
  readonly profitSeries: Pick<ProfitSeries, 'hold'>;
  readonly period: Period;
  /** Waited for after each wallet. */
  readonly pause: (ms: number) => Promise<void>;
}): Promise<number> {
  const wallets = await deps.tables.rows<{ wallet: string }>(largestSql(MOST_WALLETS));
  let ready = 0;
  for (const { wallet } of wallets) {
    const began = performance.now();
    ready += await deps.profitSeries.hold(wallet, deps.period).then(
      () => 1,
      () => 0,
    );
    await deps.pause(REST * (performance.now() - began));
  }
  return ready;
}

/** Does so once a minute until `signal` fires; what is held already costs nothing. Resolves then. */
export async function keepReady(
  deps: Omit<Parameters<typeof readyLargest>[0], 'pause'> & { readonly logger: Logger; readonly metrics: Metrics },
  signal: AbortSignal,
): Promise<void> {
  const ready = deps.metrics.gauge(
    'api_profit_series_ready',
    'Largest wallets whose profit over time was last put together ahead of questions',
  );
  const pause = (ms: number) => sleep(ms, undefined, { signal });
  while (!signal.aborted) {
    try {
      ready.set(await readyLargest({ ...deps, pause }));
    } catch (error) {
      if (!signal.aborted)
        deps.logger.debug({ err: error }, 'could not put series of profits together ahead of questions');
    }
    await pause(AGAIN_AFTER_MS).catch(() => undefined);
  }
}
