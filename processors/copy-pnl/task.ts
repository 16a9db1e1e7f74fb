import type { ClickHouse } from '../../infra/clickhouse/client.js';
import type { Log, LogRecord } from '../../infra/log/port.js';
import type { Logger } from '../../infra/telemetry/logger.js';
import type { Metrics } from '../../infra/telemetry/metrics.js';
import { createOnUnreadable } from '../../infra/telemetry/unreadable-records.js';
import type { Codec } from '../../schemas/codec.js';
import { topics } from '../../schemas/topics.js';
import { tryDecode } from '../../schemas/try-decode.js';
import { runConcurrently } from '../run-concurrently.js';
import { followTopic, loadTopic } from '../stream/follow-topic.js';
import { untilHistoryLoaded } from './history-loaded.js';
import { createPoolScorer, type PoolScorerOptions } from './pool-scorer.js';
import { createScoreStore } from './score-store.js';
import { createTrackedWallets } from './tracked-wallets.js';

export interface CopyPnlTask {
  run(signal: AbortSignal): Promise<void>;
}

/**
 * Scores the wallets of all pools: follows accounts.state for the pools, waits until the history is loaded, since scores of half of it would be
 * wrong for a day, and then scores new wallets at once and all wallets once a day. Needs the tables.
 */
export function createCopyPnlTask(
  options: {
    log: Log;
    codec: Codec;
    clickhouse: Pick<ClickHouse, 'command' | 'query' | 'insertRows'>;
    logger: Logger;
    metrics: Metrics;
    nowMs: () => number;
  } & Pick<PoolScorerOptions, 'cycleIntervalMs' | 'chunkSize'>,
): CopyPnlTask {
  const { log, codec, clickhouse, logger } = options;
  const onUnreadable = createOnUnreadable(options);
  const tracked = createTrackedWallets();
  const scorer = createPoolScorer({ ...options, store: createScoreStore(clickhouse), tracked });
  const topic = topics.accountsState.name;

  const apply = ({ key, offset, value }: LogRecord): readonly string[] => {
    const event =
      value === null ? undefined : tryDecode(codec, value, (reason) => onUnreadable({ topic, offset }, reason));
    return tracked.apply(key, event?.kind === 'account_state' ? event.value.state : null);
  };

  return {
    async run(signal) {
      const next = await loadTopic(log, topic, apply, signal);
      if (signal.aborted) return;
      logger.info({ wallets: tracked.size }, 'copy-pnl task starts');
      await runConcurrently(signal, (inner) => [
        followTopic(log, topic, next, (record) => scorer.added(apply(record)), inner),
        untilHistoryLoaded({ log, codec, clickhouse, onUnreadable, logger, signal: inner }).then(async (loaded) => {
          if (loaded) await scorer.run(inner);
        }),
      ]);
    },
  };
}
