import type { GroupOwnership, Log, NewRecord } from '../../infra/log/port.js';
import { type Codec, CodecError } from '../../schemas/codec.js';
import { topics } from '../../schemas/topics.js';
import type { ComboDefinitions } from './combo-definitions.js';
import { loadTopic } from './follow-topic.js';
import type { Resolutions } from './resolutions.js';

const GROUP = 'stream-resolutions';
/** Final records without a resolution after which the position is committed anyway. */
const MAX_UNCOMMITTED_RECORDS = 50_000;

/**
 * Keeps the final resolutions and combo definitions known without reading all of chain.final at every start: what it finds there goes, with
 * its position, into the compacted topic stream.resolutions, which is read back whole.
 */
export function createResolutionFollower(options: {
  log: Log;
  codec: Codec;
  resolutions: Resolutions;
  definitions: ComboDefinitions;
}) {
  const { log, codec, resolutions, definitions } = options;
  const source = topics.chainFinal.name;

  /** Takes in what a record tells; its key among what is kept, or undefined for any other record. */
  const keep = (value: Buffer | null): string | undefined => {
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
      // The sinks of chain.final dead-letter what cannot be read.
      if (error instanceof CodecError) return undefined;
      throw error;
    }
  };

  return {
    /** Become the one that keeps the topic, then take in what it holds. */
    async load(signal: AbortSignal): Promise<GroupOwnership> {
      const ownership = await log.acquireOwnership(GROUP);
      await loadTopic(
        log,
        topics.streamResolutions.name,
        (record) => {
          keep(record.value);
        },
        signal,
      );
      return ownership;
    },
    /** Follow chain.final until the signal. */
    async follow(ownership: GroupOwnership, signal: AbortSignal): Promise<void> {
      const [position] = await log.committed(GROUP, source);
      let committed = position?.nextOffset ?? 0;
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
          const key = keep(record.value);
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
