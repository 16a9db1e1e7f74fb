import type { Logger } from '../../infra/telemetry/logger.js';
import type { Metrics } from '../../infra/telemetry/metrics.js';
import { keepFilled, type Pause } from '../cache/keep-filled.js';
import type { Sql, Tables } from '../tables/port.js';
import type { HeldLookup } from './held-lookup.js';

interface Market {
  readonly condition_id: string;
  readonly tokens: readonly string[];
}

/** Markets in the order of their volume, from a place of that order on. */
const marketsSql = (rows: number, offset: number): Sql => ({
  text: `SELECT condition_id, arrayMap(token -> toString(token), token_ids) AS tokens
      FROM markets FINAL
      ORDER BY volume DESC, condition_id
      LIMIT {rows:UInt32} OFFSET {offset:UInt32}`,
  params: { rows, offset },
});

/** Each page sorts the whole catalogue. */
const MARKETS_PER_PAGE = 10_000;
const MARKETS_AT_ONCE = 1_000;
/** As many as are held. */
const MOST_MARKETS = 100_000;
/** A pass takes less than a hundredth of a core. */
const REST = 30;

/** Takes everything about the largest markets into memory; what is there already costs nothing. Resolves with how many there are. */
export async function warmUp(deps: {
  readonly tables: Tables;
  /** What is held of conditions, and of tokens. */
  readonly ofConditions: readonly Pick<HeldLookup<unknown>, 'hold'>[];
  readonly ofTokens: readonly Pick<HeldLookup<unknown>, 'hold'>[];
  /** Waited for after each thousand markets: for as long as they took, twice over. */
  readonly pause: Pause;
}): Promise<number> {
  for (let offset = 0; offset < MOST_MARKETS; offset += MARKETS_PER_PAGE) {
    const page = await deps.tables.rows<Market>(marketsSql(MARKETS_PER_PAGE, offset));
    for (let at = 0; at < page.length; at += MARKETS_AT_ONCE) {
      const began = performance.now();
      const markets = page.slice(at, at + MARKETS_AT_ONCE);
      const tokens = markets.flatMap((market) => market.tokens);
      for (const { hold } of deps.ofConditions) await hold(markets.map((market) => market.condition_id));
      for (const { hold } of deps.ofTokens) await hold(tokens);
      await deps.pause(2 * (performance.now() - began));
    }
    if (page.length < MARKETS_PER_PAGE) return offset + page.length;
  }
  return MOST_MARKETS;
}

/** Warms up once a minute, less often where that takes long, until `signal` fires. Resolves then. */
export const keepWarm = (
  deps: Omit<Parameters<typeof warmUp>[0], 'pause'> & { readonly logger: Logger; readonly metrics: Metrics },
  signal: AbortSignal,
): Promise<void> =>
  keepFilled(
    {
      ...deps,
      what: 'what is known of the largest markets',
      gauge: {
        name: 'api_markets_warm',
        help: 'Markets of the catalogue that were last taken into memory ahead of questions',
      },
      fill: (pause) => warmUp({ ...deps, pause }),
      rest: REST,
    },
    signal,
  );
