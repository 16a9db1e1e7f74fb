import { eventually, LOADING_INTERVAL_MS, type Product } from './product.js';

/** All columns of a table of candles, the rows of a bucket merged. */
const tokenCandles = (table: string): string =>
  `SELECT token_id, bucket, argMinMerge(open), max(high), min(low), argMaxMerge(close), sum(trades), sum(buys), sum(usdc), sum(buy_usdc), sum(shares),
    min(first_place), max(last_place), min(first_at), max(last_at) FROM ${table} GROUP BY token_id, bucket ORDER BY token_id, bucket`;
/** Sums per token. Merges remove the rows of a sum of zero. */
const tokenAmounts = (table: string): string =>
  `SELECT token_id, sum(amount) AS total FROM ${table} GROUP BY token_id HAVING total != 0 ORDER BY token_id`;

/**
 * A query per table that is filled from the log, with a defined order of its rows. Excludes times of the local clock, offsets, which
 * transaction markers shift on Kafka, and partitions, of which a log on one machine has one per topic. Sums are merged: unlike a row of the other
 * tables, which a merge removes, an insert that was repeated stays in them.
 */
const tableQueries: Readonly<Record<string, string>> = {
  fills: 'SELECT * EXCEPT (_offset) FROM fills ORDER BY block_number, log_index',
  fills_by_wallet: 'SELECT * EXCEPT (_offset) FROM fills_by_wallet ORDER BY wallet, block_number, log_index, role',
  fills_by_token: 'SELECT * EXCEPT (_offset) FROM fills_by_token ORDER BY token_id, block_number, log_index',
  fills_by_builder: 'SELECT * EXCEPT (_offset) FROM fills_by_builder ORDER BY builder, block_number, log_index',
  matches_by_day: 'SELECT * EXCEPT (_offset) FROM matches_by_day ORDER BY block_number, log_index',
  last_prices: 'SELECT * FROM last_prices FINAL ORDER BY token_id',
  token_volumes:
    'SELECT token_id, exchange_version, sum(trades), sum(buys), sum(usdc), sum(buy_usdc), sum(shares) FROM token_volumes GROUP BY token_id, exchange_version ORDER BY token_id, exchange_version',
  token_candles_1m: tokenCandles('token_candles_1m'),
  token_candles_1h: tokenCandles('token_candles_1h'),
  builder_volumes:
    'SELECT builder, sum(trades), sum(usdc), sum(maker_amount), sum(taker_amount), sum(buy_shares), sum(sell_shares), sum(fee), min(first_at), max(last_at) FROM builder_volumes GROUP BY builder ORDER BY builder',
  hourly_volumes:
    'SELECT hour, exchange_version, sum(trades), sum(usdc), sum(fee) FROM hourly_volumes GROUP BY hour, exchange_version ORDER BY hour, exchange_version',
  blocks: 'SELECT * EXCEPT (_offset) FROM blocks ORDER BY block_number',
  block_logs: 'SELECT * EXCEPT (_offset) FROM block_logs ORDER BY block_number',
  unknown_logs: 'SELECT * EXCEPT (_offset) FROM unknown_logs ORDER BY block_number, log_index',
  coverage_chain: 'SELECT * FROM coverage_chain FINAL ORDER BY source, bucket',
  coverage_feeds:
    'SELECT * EXCEPT (last_change) FROM coverage_feeds FINAL ORDER BY feed, twap_window_s, source, bucket',
  conditions: 'SELECT * EXCEPT (_offset) FROM conditions ORDER BY condition_id',
  resolutions: 'SELECT * EXCEPT (_offset) FROM resolutions ORDER BY condition_id',
  resolutions_by_time: 'SELECT * EXCEPT (_offset) FROM resolutions_by_time ORDER BY block_number, log_index',
  ticks: 'SELECT * EXCEPT (received_at, _offset, _partition) FROM ticks ORDER BY feed, twap_window_s, timestamp_ms, id',
  candles_5m: 'SELECT * FROM candles ORDER BY feed, bucket',
  events: 'SELECT * EXCEPT (_offset) FROM events FINAL ORDER BY id',
  markets: 'SELECT * EXCEPT (_offset) FROM markets FINAL ORDER BY condition_id',
  tokens: 'SELECT * EXCEPT (_offset) FROM tokens FINAL ORDER BY token_id',
  series: 'SELECT * EXCEPT (_offset) FROM series FINAL ORDER BY id',
  tags: 'SELECT * EXCEPT (_offset) FROM tags FINAL ORDER BY slug',
  tag_tokens: 'SELECT * EXCEPT (_offset) FROM tag_tokens FINAL ORDER BY tag, token_id',
  token_tags: 'SELECT * EXCEPT (_offset) FROM token_tags FINAL ORDER BY token_id',
  token_quotes: 'SELECT * EXCEPT (_offset, updated_at) FROM token_quotes FINAL ORDER BY token_id',
  condition_events: 'SELECT * EXCEPT (_offset) FROM condition_events ORDER BY condition_id, block_number, log_index',
  condition_tokens: 'SELECT * EXCEPT (_offset) FROM condition_tokens FINAL ORDER BY token_id',
  chain_tokens: 'SELECT * EXCEPT (_offset) FROM chain_tokens FINAL ORDER BY token_id',
  token_settlements: 'SELECT * EXCEPT (_offset) FROM token_settlements FINAL ORDER BY token_id',
  collateral_by_token: tokenAmounts('collateral_by_token'),
  wallet_events: 'SELECT * EXCEPT (_offset) FROM wallet_events ORDER BY wallet, kind, block_number, log_index',
  collateral_flows: 'SELECT * EXCEPT (_offset) FROM collateral_flows ORDER BY wallet, block_number, log_index',
  // The number of versions of a position depends on the batches of its records; its last version does not.
  positions: 'SELECT * EXCEPT (_offset, _partition) FROM positions FINAL ORDER BY wallet, token_id',
  positions_by_token: 'SELECT * EXCEPT (_offset, _partition) FROM positions_by_token FINAL ORDER BY token_id, wallet',
  pnl_events:
    'SELECT * EXCEPT (_offset, _partition) FROM pnl_events ORDER BY wallet, timestamp, block_number, log_index, id, leg',
  combo_events: 'SELECT * EXCEPT (_offset, _partition) FROM combo_events ORDER BY block_number, log_index, id, leg',
  combo_markets: 'SELECT * FROM combo_markets FINAL ORDER BY condition_id',
  wallet_days: 'SELECT * FROM wallet_days FINAL ORDER BY wallet, day',
  minted_by_token: tokenAmounts('minted_by_token'),
  wallet_activity:
    'SELECT * EXCEPT (_offset, _partition) FROM wallet_activity ORDER BY wallet, timestamp, block_number, log_index, id',
  social_posts: 'SELECT * EXCEPT (fetched_at, _offset) FROM social_posts FINAL ORDER BY created_at, id',
};

/** Tables that `digest` compares. */
export const comparedTables: readonly string[] = Object.keys(tableQueries);

/** Tables filled from the log that differ between two runs of the same history, with the reason. */
export const tablesOfOneRun: Readonly<Record<string, string>> = {
  usage: 'counts the requests that the run received',
};

/** Row count and an order-sensitive hash of every table. Rows are hashed as text, because the hash of a NULL is NULL, which a sum ignores. */
export async function digest(product: Pick<Product, 'sql'>): Promise<Record<string, string>> {
  const result: Record<string, string> = {};
  for (const [table, query] of Object.entries(tableQueries)) {
    const [row] = await product.sql<{ n: string; hash: string }>(
      `SELECT count() AS n, toString(groupBitXor(cityHash64(rowNumberInAllBlocks(), toString(tuple(t.*))))) AS hash FROM (${query}) AS t SETTINGS max_threads = 1, max_block_size = 4096`,
    );
    result[table] = `${row?.n} rows ${row?.hash}`;
  }
  return result;
}

/** Checks of tasks and the metric of their lag. Another process may own all tasks of a kind. */
const lagMetrics = [
  [/^sink /, 'oddstream_sink_lag_records'],
  [/^(activity$|positions-)/, 'oddstream_processor_lag_records'],
] as const;

/** Waits until the history is loaded: every source reports it, the row counts no longer change and no sink has a lag. */
export async function untilTablesComplete(product: Pick<Product, 'get' | 'sql' | 'readyz' | 'metric'>): Promise<void> {
  await eventually(
    'the history to be loaded',
    async () => {
      const { status, body } = await product.get('/v1/status');
      const sources = (body as { sources?: { source: string; phase: string }[] }).sources ?? [];
      return status === 200 && sources.length === 3 && sources.every((source) => source.phase !== 'history');
    },
    240_000,
    LOADING_INTERVAL_MS,
  );
  let before = '';
  await eventually(
    'unchanged row counts of the tables',
    async () => {
      const now = JSON.stringify(
        await product.sql(
          'SELECT (SELECT count() FROM fills) AS f, (SELECT count() FROM blocks) AS b, (SELECT count() FROM ticks) AS t, (SELECT count() FROM markets) AS m, (SELECT count() FROM pnl_events) AS e, (SELECT sum(version) FROM positions FINAL) AS p, (SELECT count() FROM condition_events) AS c, (SELECT count() FROM wallet_events) AS w, (SELECT count() FROM wallet_activity) AS a',
        ),
      );
      const still = now === before;
      before = now;
      // On a busy machine counts may not change for longer than this while a sink has a lag, which a readiness request measures.
      const { checks } = await product.readyz('processors');
      let measured = 0;
      for (const [tasks, metric] of lagMetrics) {
        const owned = Object.entries(checks).filter(([name]) => tasks.test(name));
        measured += owned.length;
        if (!owned.every(([, { ok }]) => ok)) return false;
        if (owned.length > 0 && (await product.metric('processors', metric)) !== 0) return false;
      }
      // Processors that are still starting have no checks of tasks.
      return still && measured > 0;
    },
    240_000,
    LOADING_INTERVAL_MS,
  );
}
