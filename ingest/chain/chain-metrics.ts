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
    finalized: metrics.gauge('chain_finalized', 'Finalised block reported by the node'),
    finalWritten: metrics.gauge('chain_final_written', 'Newest block written to chain.final'),
    lagBlocks: metrics.gauge(
      'chain_final_lag_blocks',
      'Blocks not yet in chain.final that are finalised or more than 128 blocks below the head',
    ),
    lastEventMs: metrics.gauge('chain_last_event_ms', 'Time of the last event from the chain source, Unix ms'),
    pending: metrics.gauge('chain_pending_settlements', 'Settlements waiting for their block'),
    pendingExpired: metrics.counter('chain_pending_expired_total', 'Pending settlements dropped after the time limit'),
    decodeErrors: metrics.counter('chain_decode_errors_total', 'Logs and calldata that could not be decoded', [
      'stage',
    ]),
    reorgs: metrics.counter('chain_reorgs_total', 'Reorganisations of the chain'),
    reorgDepth: metrics.histogram('chain_reorg_depth', 'Blocks retracted per reorganisation', [1, 2, 3, 5, 10, 20, 50]),
    abandonedHeads: metrics.counter(
      'chain_abandoned_heads_total',
      'Heads skipped because the node could not provide their parents',
    ),
    skippedBlocks: metrics.counter(
      'chain_head_skipped_blocks_total',
      'Blocks omitted from chain.head after a long gap',
    ),
    confirmLatency: metrics.histogram(
      'chain_confirm_latency_ms',
      'Time from the detection of a settlement to the arrival of its block',
      [250, 500, 1000, 2000, 3000, 5000, 10_000, 30_000, 60_000],
    ),
    watchedLogs: metrics.counter(
      'chain_watched_logs_total',
      'Logs of watched contracts that the node reported in final blocks',
      ['contract'],
    ),
    undecodedLogs: metrics.counter(
      'chain_undecoded_logs_total',
      'Logs of chain_watched_logs_total that were not decoded',
      ['contract'],
    ),
    unknownLogs: metrics.counter(
      'chain_unknown_logs_total',
      'Logs of chain_undecoded_logs_total with an unknown event: a contract of the venue changed',
      ['contract'],
    ),
    finalRecords: metrics.counter('chain_final_records_total', 'Records appended to chain.final'),
  };
}
