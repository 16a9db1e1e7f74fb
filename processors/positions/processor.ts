import type { Log } from '../../infra/log/port.js';
import type { Logger } from '../../infra/telemetry/logger.js';
import type { Metrics } from '../../infra/telemetry/metrics.js';
import { createHolding, type Holding } from '../../schemas/accounting/holding.js';
import { type Codec, CodecError } from '../../schemas/codec.js';
import { consumerGroups } from '../../schemas/consumer-groups.js';
import { topics } from '../../schemas/topics.js';
import type { StateStore } from '../stateful/state-store.js';
import {
  createStatefulProcessor,
  type StatefulProcessor,
  type StatefulProcessorSpec,
} from '../stateful/stateful-processor.js';
import { applyActivity } from './apply-activity.js';

const RECORDS_PER_STEP = 4_000;
const LINGER_MS = 1_000;

/**
 * Processes one partition of wallet.activity into positions and pnl.events. All records of a wallet are in one partition, in chain order, so
 * its positions depend on that partition only. `pnlPartitions`: number of partitions of pnl.events.
 */
export function positionsSpec(
  codec: Codec,
  { partition, pnlPartitions }: { readonly partition: number; readonly pnlPartitions: number },
): StatefulProcessorSpec<Holding> {
  const pnlPartition = partition % pnlPartitions;
  return {
    name: consumerGroups.positions(partition),
    input: { topic: topics.walletActivity.name, partition },
    state: {
      topic: topics.positions.name,
      partition,
      decode: (bytes) => {
        const event = codec.decode(bytes);
        if (event.kind !== 'position') throw new CodecError(`${event.kind} is no position`);
        return event.value;
      },
      encode: (holding) => codec.encode('position', holding),
    },
    apply({ value }, state, emit) {
      if (value === null) return;
      const event = codec.decode(value);
      if (event.kind !== 'wallet_activity') throw new CodecError(`${event.kind} does not belong here`);
      const activity = event.value;
      const { wallet } = activity;
      /** Marks the returned position as changed: callers always modify it. */
      const holdingOf = (tokenId: string, create: boolean): Holding | undefined => {
        const key = `${wallet}:${tokenId}`;
        const holding = state.get(key) ?? (create ? createHolding(wallet, tokenId, activity.timestamp_ms) : undefined);
        if (holding !== undefined) state.set(key, holding);
        return holding;
      };
      const changes = applyActivity(activity, {
        get: (tokenId) => holdingOf(tokenId, false),
        getOrCreate: (tokenId) => holdingOf(tokenId, true) as Holding,
      });
      for (const change of changes) {
        const bytes = codec.encode('pnl_event', change);
        emit({
          topic: topics.pnlEvents.name,
          record: { key: wallet, value: bytes, timestampMs: change.timestamp_ms, partition: pnlPartition },
        });
      }
    },
    maxRecords: RECORDS_PER_STEP,
    lingerMs: LINGER_MS,
  };
}

export function createPositionsProcessor(options: {
  partition: number;
  pnlPartitions: number;
  log: Log;
  codec: Codec;
  store: StateStore;
  logger: Logger;
  metrics: Metrics;
}): StatefulProcessor {
  return createStatefulProcessor({ ...options, spec: positionsSpec(options.codec, options) });
}
