import type { Log, TopicPartitionOffset } from '../../infra/log/port.js';
import type { Logger } from '../../infra/telemetry/logger.js';
import type { Metrics } from '../../infra/telemetry/metrics.js';
import { createOnUnreadable } from '../../infra/telemetry/unreadable-records.js';
import type { Codec } from '../../schemas/codec.js';
import { topics } from '../../schemas/topics.js';
import { tryDecode } from '../../schemas/try-decode.js';
import type { EventKind } from '../../schemas/types.gen.js';
import type { DraftBuilder } from './draft-builder.js';
import type { createNewestEvents } from './newest-events.js';
import type { Resolutions } from './resolutions.js';
import { createSequencer, type Sequencer } from './sequencer.js';

type NewestEvents = ReturnType<typeof createNewestEvents>;

const STREAM = topics.streamEvents.name;
const HEAD = topics.chainHead.name;
/** Records of the stream that are read at start to restore the newest ids. */
const RESTORED_RECORDS = 150_000;
/** Records of chain.head that are read at start: more than are written until a block is final. */
const RESTORED_HEAD_RECORDS = 50_000;
/** Ticks of a partition that are read at start: more than the widest TWAP window contains of all its feeds. */
const RESTORED_TICKS = 1_000;
const RESTORED_KINDS: ReadonlySet<EventKind> = new Set([
  'condition_resolved',
  'retract',
  'combo_definition',
  'price_tick',
]);
const OPEN_BLOCK_KINDS: ReadonlySet<EventKind> = new Set(['trade', 'status_update']);

/** The state of the stream processor that is not in its committed positions, from records of the log that precede them. */
export function createRestore(deps: {
  readonly log: Log;
  readonly codec: Codec;
  readonly logger: Logger;
  readonly metrics: Metrics;
  readonly resolutions: Resolutions;
  readonly drafting: DraftBuilder;
}) {
  const { log, codec, logger, resolutions, drafting } = deps;
  const onUnreadable = createOnUnreadable(deps);

  /** The sequencer after the last record of the stream, and above `lastSeq`; adds the records to `newest`. */
  const sequencer = async (lastSeq: number | null, newest: NewestEvents, signal: AbortSignal): Promise<Sequencer> => {
    const { earliest, next } = await log.bounds(STREAM, 0);
    // After its records were deleted, the stream continues above every earlier seq: offsets grow at least as fast as seq, except for a seq left out.
    const restored = createSequencer({ codec, firstSeq: next + 1, lastSeq });
    const from = { offset: Math.max(earliest, next - RESTORED_RECORDS) };
    for await (const batch of log.read({ topic: STREAM, partition: 0, from, follow: false, signal })) {
      for (const { offset, value } of batch.records) {
        if (value === null) continue;
        const event = tryDecode(codec, value, (reason) => onUnreadable({ topic: STREAM, offset }, reason));
        if (event?.kind !== 'stream_event') continue;
        restored.restore(event.value);
        newest.add(event.value.kind, event.value.timestamp_ms, event.value.block_number);
      }
    }
    return restored;
  };

  /**
   * Restores `resolutions` and `drafting` from input records before `positions`: resolutions and definitions of the head that may not be
   * final yet, fills of a block without its block record, the newest ticks.
   */
  const inputs = async (positions: readonly TopicPartitionOffset[], signal: AbortSignal): Promise<void> => {
    for (const { topic, partition, nextOffset: end } of positions) {
      const restored = topic === HEAD ? RESTORED_HEAD_RECORDS : RESTORED_TICKS;
      const offset = Math.max((await log.bounds(topic, partition)).earliest, end - restored);
      if (offset >= end) continue;
      const openBlock: Buffer[] = [];
      const restoreRecord = (value: Buffer) => {
        const kind = codec.kindOf(value);
        if (kind === 'block' || kind === 'retract') openBlock.length = 0;
        if (OPEN_BLOCK_KINDS.has(kind)) openBlock.push(value);
        if (!RESTORED_KINDS.has(kind)) return;
        const event = codec.decode(value);
        if (event.kind === 'condition_resolved') resolutions.applyHead(event.value);
        else if (event.kind === 'retract') resolutions.retract(event.value);
        else drafting.restore(event);
      };
      for await (const batch of log.read({ topic, partition, from: { offset }, follow: false, signal })) {
        for (const record of batch.records) {
          if (record.offset >= end) break;
          if (record.value === null) continue;
          try {
            restoreRecord(record.value);
          } catch (error) {
            // The dead letter was written when the record was first read.
            logger.debug({ err: error, topic, offset: record.offset }, 'unreadable input record');
          }
        }
        if (batch.nextOffset >= end) break;
      }
      for (const value of openBlock) {
        const event = tryDecode(codec, value, () => undefined);
        if (event !== undefined) drafting.restore(event);
      }
    }
  };

  return { sequencer, inputs };
}
