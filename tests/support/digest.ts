import { eventually, LOADING_INTERVAL_MS, type Product } from './product.js';

/**
 * A query per table that is filled from the log, with a defined order of its rows. Excludes times of the local clock, offsets, which
 * transaction markers shift on Kafka, and partitions, of which a log on one machine has one per topic.
 */
const tableQueries: Record<string, string> = {
  fills: 'SELECT * EXCEPT (_offset) FROM fills ORDER BY block_number, log_index',
  fills_by_wallet: 'SELECT * EXCEPT (_offset) FROM fills_by_wallet ORDER BY wallet, block_number, log_index, role',
  fills_by_token: 'SELECT * EXCEPT (_offset) FROM fills_by_token ORDER BY token_id, block_number, log_index',
  matches_by_day: 'SELECT * EXCEPT (_offset) FROM matches_by_day ORDER BY block_number, log_index',
  last_prices: 'SELECT * FROM last_prices FINAL ORDER BY token_id',
  blocks: 'SELECT * EXCEPT (_offset) FROM blocks ORDER BY block_number',
  block_logs: 'SELECT * EXCEPT (_offset) FROM block_logs ORDER BY block_number',
  unknown_logs: 'SELECT * EXCEPT (_offset) FROM unknown_logs ORDER BY block_number, log_index',
  coverage_chain: 'SELECT * FROM coverage_chain FINAL ORDER BY source, bucket',
  coverage_feeds:
    'SELECT * EXCEPT (last_change) FROM coverage_feeds FINAL ORDER BY feed, twap_window_s, source, bucket',
  conditions: 'SELECT * EXCEPT (_offset) FROM conditions ORDER BY condition_id',
  resolutions: 'SELECT * EXCEPT (_offset) FROM resolutions ORDER BY condition_id',
  ticks: 'SELECT * EXCEPT (received_at, _offset, _partition) FROM ticks ORDER BY feed, twap_window_s, timestamp_ms, id',
  candles: 'SELECT * FROM candles ORDER BY feed, bucket',
  events: 'SELECT * EXCEPT (_offset) FROM events FINAL ORDER BY id',
  markets: 'SELECT * EXCEPT (_offset) FROM markets FINAL ORDER BY condition_id',
  tokens: 'SELECT * EXCEPT (_offset) FROM tokens FINAL ORDER BY token_id',
  token_quotes: 'SELECT * EXCEPT (_offset, updated_at) FROM token_quotes FINAL ORDER BY token_id',
  condition_events: 'SELECT * EXCEPT (_offset) FROM condition_events ORDER BY condition_id, block_number, log_index',
  condition_tokens: 'SELECT * EXCEPT (_offset) FROM condition_tokens FINAL ORDER BY token_id',
  chain_tokens: 'SELECT * EXCEPT (_offset) FROM chain_tokens FINAL ORDER BY token_id',
  token_settlements: 'SELECT * EXCEPT (_offset) FROM token_settlements FINAL ORDER BY token_id',
  // The number of versions of a position depends on the batches of its records; its last version does not.
  positions: 'SELECT * EXCEPT (_offset, _partition) FROM positions FINAL ORDER BY wallet, token_id',
  positions_by_token: 'SELECT * EXCEPT (_offset, _partition) FROM positions_by_token FINAL ORDER BY token_id, wallet',
  pnl_events:
    'SELECT * EXCEPT (_offset, _partition) FROM pnl_events ORDER BY wallet, timestamp, block_number, log_index, id, leg',
  combo_events: 'SELECT * EXCEPT (_offset, _partition) FROM combo_events ORDER BY block_number, log_index, id, leg',
  combo_markets: 'SELECT * FROM combo_markets FINAL ORDER BY condition_id',
  wallet_days: 'SELECT * FROM wallet_days FINAL ORDER BY wallet, day',
  open_interest: 'SELECT * FROM open_interest ORDER BY token_id',
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
          'SELECT (SELECT count() FROM fills) AS f, (SELECT count() FROM blocks) AS b, (SELECT count() FROM ticks) AS t, (SELECT count() FROM markets) AS m, (SELECT count() FROM pnl_events) AS e, (SELECT sum(version) FROM positions FINAL) AS p, (SELECT count() FROM condition_events) AS c',
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
