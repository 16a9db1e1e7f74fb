import type { Log, LogRecord } from '../../infra/log/port.js';
import type { Logger } from '../../infra/telemetry/logger.js';
import type { Metrics } from '../../infra/telemetry/metrics.js';
import type { AnyEvent, Codec } from '../../schemas/codec.js';
import { CodecError } from '../../schemas/codec.js';
import { consumerGroups } from '../../schemas/consumer-groups.js';
import { topics } from '../../schemas/topics.js';
import type { ActivityState, EventKind } from '../../schemas/types.gen.js';
import { deadLetterRecord } from '../dead-letter.js';
import type { StateStore } from '../stateful/state-store.js';
import {
  createStatefulProcessor,
  type StatefulProcessor,
  type StatefulProcessorSpec,
} from '../stateful/stateful-processor.js';
import { computeBlockActivity } from './block-activity.js';
import { createTokens } from './tokens.js';

const RECORDS_PER_STEP = 5_000;
const LINGER_MS = 50;
const kinds: ReadonlySet<EventKind> = new Set([
  'trade',
  'position_split',
  'position_merge',
  'positions_converted',
  'redemption',
  'position_change',
  'combo_lifecycle',
  'condition_prepared',
  'condition_resolved',
  'neg_risk_market',
]);

/** Kind of a record, or null for one that cannot be read. */
function kindOf(codec: Codec, record: LogRecord | undefined): EventKind | null {
  if (record?.value == null) return null;
  try {
    return codec.kindOf(record.value);
  } catch (error) {
    if (error instanceof CodecError) return null;
    throw error;
  }
}

/**
 * Processes chain.final into wallet.activity block by block: the effect of a fill, split or conversion on a wallet depends on the other events
 * of its block. The state contains resolutions, and the question counts and fees of neg-risk markets.
 */
export function activityProcessorSpec(codec: Codec): StatefulProcessorSpec<ActivityState> {
  const tokens = createTokens();
  const input = { topic: topics.chainFinal.name, partition: 0 };
  let events: AnyEvent[] = [];
  let records: LogRecord[] = [];
  return {
    name: consumerGroups.activity,
    input,
    state: {
      topic: topics.activityState.name,
      partition: 0,
      decode: (bytes) => {
        const event = codec.decode(bytes);
        if (event.kind !== 'activity_state') throw new CodecError(`${event.kind} is no activity state`);
        return event.value;
      },
      encode: (state) => codec.encode('activity_state', state),
    },
    incomplete(records) {
      // A record that is unreadable or not a chain event must not wait for the end of a block.
      let first = records.length;
      for (let i = records.length - 1; i >= 0; i--) {
        const kind = kindOf(codec, records[i]);
        if (kind === 'block') break;
        if (kind !== null && kinds.has(kind)) first = i;
      }
      return records.length - first;
    },
    apply(record, state, emit) {
      const { value } = record;
      if (value === null) return;
      const kind = codec.kindOf(value);
      if (kinds.has(kind)) {
        events.push(codec.decode(value));
        records.push(record);
      }
      if (kind !== 'block') return;
      const { activity, problems } = computeBlockActivity(events, tokens, state);
      for (const { index, reason } of problems) {
        const letter = { codec, by: 'activity', topic: input.topic, partition: input.partition, reason };
        emit({
          topic: topics.deadLetters.name,
          record: deadLetterRecord({ ...letter, record: records[index] as LogRecord }),
        });
      }
      events = [];
      records = [];
      for (const one of activity) {
        const bytes = codec.encode('wallet_activity', one);
        emit({
          topic: topics.walletActivity.name,
          record: { key: one.wallet, value: bytes, timestampMs: one.timestamp_ms },
        });
      }
    },
    maxRecords: RECORDS_PER_STEP,
    lingerMs: LINGER_MS,
  };
}

export function createActivityProcessor(options: {
  log: Log;
  codec: Codec;
  store: StateStore;
  logger: Logger;
  metrics: Metrics;
}): StatefulProcessor {
  return createStatefulProcessor({ ...options, spec: activityProcessorSpec(options.codec) });
}
