import type { GroupOwnership, Log, NewRecord } from '../../infra/log/port.js';
import { requireRecords } from '../../infra/log/required-records.js';
import { type Codec, CodecError } from '../../schemas/codec.js';
import { consumerGroups } from '../../schemas/consumer-groups.js';
import { topics } from '../../schemas/topics.js';
import type { ComboDefinitions } from './combo-definitions.js';
import { loadTopic } from './follow-topic.js';
import type { Resolutions } from './resolutions.js';

const GROUP = consumerGroups.streamResolutions;
/** Final records without a resolution after which the position is committed anyway. */
const MAX_UNCOMMITTED_RECORDS = 50_000;

/**
 * Restores final resolutions and combo definitions without reading all of chain.final at every start: it copies them from chain.final to the
 * compacted topic stream.resolutions, together with the position, and reads that topic at start.
 */
export function createResolutionFollower(options: {
  log: Log;
  codec: Codec;
  resolutions: Resolutions;
  definitions: ComboDefinitions;
}) {
  const { log, codec, resolutions, definitions } = options;
  const source = topics.chainFinal.name;

  /** Applies a record; returns its key in stream.resolutions, or undefined for a record that does not belong there. */
  const apply = (value: Buffer | null): string | undefined => {
    if (value === null) return undefined;
    try {
      const kind = codec.kindOf(value);
      if (kind !== 'condition_resolved' && kind !== 'combo_definition') return undefined;
      const event = codec.decode(value);
      if (event.kind === 'condition_resolved') {
        resolutions.applyFinal(event.value);
        return event.value.condition_id;
      }
      if (event.kind !== 'combo_definition') return undefined;
      definitions.apply(event.value);
      return `combo:${event.value.subject_id}:${event.value.legs === null ? 'legacy' : 'legs'}`;
    } catch (error) {
      // The sinks of chain.final write unreadable records to the dead letters.
      if (error instanceof CodecError) return undefined;
      throw error;
    }
  };

  return {
    /** Acquires ownership of the topic, then applies its records. */
    async load(signal: AbortSignal): Promise<GroupOwnership> {
      const ownership = await log.acquireOwnership(GROUP);
      await loadTopic(
        log,
        topics.streamResolutions.name,
        (record) => {
          apply(record.value);
        },
        signal,
      );
      return ownership;
    },
    /** Follows chain.final until the signal aborts. */
    async follow(ownership: GroupOwnership, signal: AbortSignal): Promise<void> {
      const [position] = await log.committed(GROUP, source);
      let committed = position?.nextOffset ?? 0;
      await requireRecords(log, { reader: GROUP, topic: source, partition: 0, from: committed });
      const batches = log.read({
        topic: source,
        partition: 0,
        from: position === undefined ? 'earliest' : { offset: position.nextOffset },
        follow: true,
        signal,
      });
      for await (const batch of batches) {
        const records: NewRecord[] = [];
        for (const record of batch.records) {
          const key = apply(record.value);
          if (key !== undefined) records.push({ key, value: record.value, timestampMs: record.timestampMs });
        }
        if (records.length === 0 && batch.nextOffset - committed < MAX_UNCOMMITTED_RECORDS) continue;
        await ownership.appendAndCommit({
          outputs: [{ topic: topics.streamResolutions.name, records }],
          offsets: [{ topic: source, partition: 0, nextOffset: batch.nextOffset }],
        });
        committed = batch.nextOffset;
      }
    },
  };
}
