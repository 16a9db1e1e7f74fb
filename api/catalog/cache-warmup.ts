import type { Logger } from '../../infra/telemetry/logger.js';
import type { Metrics } from '../../infra/telemetry/metrics.js';
import { runRefreshLoop, type Throttle } from '../cache/refresh-loop.js';
import type { Sql, Tables } from '../tables/port.js';
import type { CachedLookup } from './cached-lookup.js';

interface Market {
  readonly condition_id: string;
  readonly tokens: readonly string[];
}

/** Markets by volume, largest first, from an offset on. */
const marketsSql = (rows: number, offset: number): Sql => ({
  text: `SELECT condition_id, arrayMap(token -> toString(token), token_ids) AS tokens
      FROM markets FINAL
      ORDER BY volume DESC, condition_id
      LIMIT {rows:UInt32} OFFSET {offset:UInt32}`,
  params: { rows, offset },
});

/** Large pages: every page sorts the whole catalogue. */
const MARKETS_PER_PAGE = 10_000;
const MARKET_BATCH = 1_000;

/** Loads the metadata of the largest markets into the caches; cached entries are not read again. Resolves with the number of markets. */
export async function warmUpCache(deps: {
  readonly tables: Tables;
  /** Number of markets. */
  readonly most: number;
  /** Caches by condition id, and by token id. */
  readonly ofConditions: readonly Pick<CachedLookup<unknown>, 'prefetch'>[];
  readonly ofTokens: readonly Pick<CachedLookup<unknown>, 'prefetch'>[];
  /** Called after each thousand markets with twice the time that they took. */
  readonly pause: Throttle;
}): Promise<number> {
  for (let offset = 0; offset < deps.most; offset += MARKETS_PER_PAGE) {
    const rows = Math.min(MARKETS_PER_PAGE, deps.most - offset);
    const page = await deps.tables.rows<Market>(marketsSql(rows, offset));
    for (let at = 0; at < page.length; at += MARKET_BATCH) {
      const began = performance.now();
      const markets = page.slice(at, at + MARKET_BATCH);
      const tokens = markets.flatMap((market) => market.tokens);
      for (const { prefetch } of deps.ofConditions) await prefetch(markets.map((market) => market.condition_id));
      for (const { prefetch } of deps.ofTokens) await prefetch(tokens);
      await deps.pause(2 * (performance.now() - began));
    }
    if (page.length < rows) return offset + page.length;
  }
  return deps.most;
}

/** Warms up once a minute, less often if a pass takes long, until `signal` aborts. Resolves then. */
export const runCacheWarmup = (
  deps: Omit<Parameters<typeof warmUpCache>[0], 'pause'> & { readonly logger: Logger; readonly metrics: Metrics },
  signal: AbortSignal,
): Promise<void> => runRefreshLoop({ ...deps, refresh: (pause) => warmUpCache({ ...deps, pause }) }, signal);
