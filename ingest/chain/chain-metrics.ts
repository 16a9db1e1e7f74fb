import type { Counter, Gauge, Histogram, Metrics } from '../../infra/telemetry/metrics.js';

export interface ChainMetrics {
  readonly head: Gauge;
  readonly finalized: Gauge;
  readonly finalWritten: Gauge;
  readonly lagBlocks: Gauge;
  readonly lastEventMs: Gauge;
  readonly pending: Gauge;
  readonly pendingExpired: Counter;
  readonly decodeErrors: Counter;
  readonly reorgs: Counter;
  readonly reorgDepth: Histogram;
  readonly abandonedHeads: Counter;
  readonly skippedBlocks: Counter;
  readonly confirmLatency: Histogram;
  readonly finalRecords: Counter;
  readonly watchedLogs: Counter;
  readonly undecodedLogs: Counter;
  readonly unknownLogs: Counter;
}

export function createChainMetrics(metrics: Metrics): ChainMetrics {
  return {
    head: metrics.gauge('chain_head', 'Newest block written to chain.head'),
    finalized: metrics.gauge('chain_finalized', 'Finalised block as the node tells it'),
    finalWritten: metrics.gauge('chain_final_written', 'Newest block written to chain.final'),
    lagBlocks: metrics.gauge('chain_final_lag_blocks', 'Finalised blocks not yet in chain.final'),
    lastEventMs: metrics.gauge('chain_last_event_ms', 'When the chain source last delivered anything, Unix ms'),
    pending: metrics.gauge('chain_pending_settlements', 'Settlements waiting for their block'),
    pendingExpired: metrics.counter('chain_pending_expired_total', 'Settlements that waited too long for a block'),
    decodeErrors: metrics.counter('chain_decode_errors_total', 'Logs and calldata that could not be decoded', [
      'stage',
    ]),
    reorgs: metrics.counter('chain_reorgs_total', 'Reorganisations seen'),
    reorgDepth: metrics.histogram('chain_reorg_depth', 'Blocks retracted per reorganisation', [1, 2, 3, 5, 10, 20, 50]),
    abandonedHeads: metrics.counter('chain_abandoned_heads_total', 'Heads whose parents the node could not give'),
    skippedBlocks: metrics.counter('chain_head_skipped_blocks_total', 'Blocks left out of chain.head after a long gap'),
    confirmLatency: metrics.histogram(
      'chain_confirm_latency_ms',
      'Detection of a settlement to the arrival of its block',
      [250, 500, 1000, 2000, 3000, 5000, 10_000, 30_000, 60_000],
    ),
    watchedLogs: metrics.counter(
      'chain_watched_logs_total',
      'Logs of watched contracts that the node reported in final blocks',
      ['contract'],
    ),
    undecodedLogs: metrics.counter(
      'chain_undecoded_logs_total',
      'Of chain_watched_logs_total, logs that no decoder took: the difference to the decoded ones',
      ['contract'],
    ),
    unknownLogs: metrics.counter(
      'chain_unknown_logs_total',
      'Of chain_undecoded_logs_total, logs of an event that is unknown: the venue changed something',
      ['contract'],
    ),
    finalRecords: metrics.counter('chain_final_records_total', 'Records appended to chain.final'),
  };
}
