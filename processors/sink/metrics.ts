import type { Metrics } from '../../infra/telemetry/metrics.js';

const INSERT_SECONDS_BUCKETS = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];

/** Metrics of one sink; every sink of a process shares the same names. */
export function createSinkMetrics(metrics: Metrics, labels: { sink: string; topic: string; partition: string }) {
  const names = ['sink', 'topic', 'partition'];
  const committed = metrics.gauge('sink_committed_offset', 'Next offset after the last one in the tables', names);
  const logNext = metrics.gauge('sink_log_offset', 'Next offset of the log partition', names);
  const lag = metrics.gauge('sink_lag_records', 'Offsets of the log that are not in the tables yet', names);
  const rows = metrics.counter('sink_rows_total', 'Rows inserted', [...names, 'table']);
  const seconds = metrics.histogram(
    'sink_insert_seconds',
    'Time to insert one chunk into all of its tables',
    INSERT_SECONDS_BUCKETS,
    names,
  );
  const letters = metrics.counter('sink_dead_letters_total', 'Records that could not be converted to rows', names);
  const failures = metrics.counter('sink_failures_total', 'Failed attempts at the table store', names);
  // The rise of a counter that appears with its first count is not seen by `increase`.
  letters.inc(labels, 0);
  failures.inc(labels, 0);
  let removed = false;
  return {
    inserted: (table: string, count: number) => rows.inc({ ...labels, table }, count),
    chunkInserted: (tookSeconds: number) => seconds.observe(labels, tookSeconds),
    setCommitted: (nextOffset: number) => committed.set(labels, nextOffset),
    setLag: (nextOffset: number, committedNext: number) => {
      // A lag request may complete after the sink has stopped.
      if (removed) return;
      logNext.set(labels, nextOffset);
      lag.set(labels, Math.max(0, nextOffset - committedNext));
    },
    /** Removes the gauges permanently; the process that takes over the sink reports them. */
    remove: () => {
      removed = true;
      for (const gauge of [committed, logNext, lag]) gauge.remove(labels);
    },
    deadLetters: (count: number) => letters.inc(labels, count),
    failed: () => failures.inc(labels),
  };
}
