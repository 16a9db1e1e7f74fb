import { FatalError } from '../../infra/errors.js';
import type { Log } from '../../infra/log/port.js';
import type { OnUnreadable } from '../../infra/telemetry/unreadable-records.js';
import type { Codec } from '../../schemas/codec.js';
import { topics } from '../../schemas/topics.js';
import { tryDecode } from '../../schemas/try-decode.js';
import type { SourceMode, SourceStatus } from '../../schemas/types.gen.js';

/**
 * A log contains either live or recorded events, never both: recorded blocks played at the current time would mix with real blocks.
 * Throws FatalError when the log was created in the other mode. Resolves to the last status of each source.
 */
export async function assertSingleSourceMode(deps: {
  log: Omit<Log, 'append'>;
  codec: Codec;
  mode: SourceMode;
  onUnreadable: OnUnreadable;
}): Promise<ReadonlyMap<string, SourceStatus>> {
  const topic = topics.sources.name;
  const statuses = new Map<string, SourceStatus>();
  for await (const batch of deps.log.read({
    topic,
    partition: 0,
    from: 'earliest',
    follow: false,
  })) {
    for (const record of batch.records) {
      if (record.value === null) {
        statuses.delete(record.key);
        continue;
      }
      const event = tryDecode(deps.codec, record.value, (reason) =>
        deps.onUnreadable({ topic, offset: record.offset }, reason),
      );
      if (event?.kind !== 'source_status') continue;
      if (event.value.mode !== deps.mode)
        throw new FatalError(
          `This log contains ${event.value.mode} input and cannot be continued with ${deps.mode} input. ` +
            'Use another ODDSTREAM_DATA (or LOG_URL), or delete the data directory.',
        );
      statuses.set(event.value.source, event.value);
    }
  }
  return statuses;
}
