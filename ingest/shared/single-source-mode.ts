import { FatalError } from '../../infra/errors.js';
import type { Log } from '../../infra/log/port.js';
import type { OnUnreadable } from '../../infra/telemetry/unreadable-records.js';
import type { Codec } from '../../schemas/codec.js';
import { topics } from '../../schemas/topics.js';
import { tryDecode } from '../../schemas/try-decode.js';
import type { SourceMode } from '../../schemas/types.gen.js';

/**
 * A log contains either live or recorded events, never both: recorded blocks played at the current time would mix with real blocks.
 * Throws FatalError when the log was created in the other mode.
 */
export async function assertSingleSourceMode(deps: {
  log: Omit<Log, 'append'>;
  codec: Codec;
  mode: SourceMode;
  onUnreadable: OnUnreadable;
}): Promise<void> {
  const topic = topics.sources.name;
  for await (const batch of deps.log.read({
    topic,
    partition: 0,
    from: 'earliest',
    follow: false,
  })) {
    for (const record of batch.records) {
      if (record.value === null) continue;
      const event = tryDecode(deps.codec, record.value, (reason) =>
        deps.onUnreadable({ topic, offset: record.offset }, reason),
      );
      if (event?.kind !== 'source_status' || event.value.mode === deps.mode) continue;
      throw new FatalError(
        `This log contains ${event.value.mode} input and cannot be continued with ${deps.mode} input. ` +
          'Use another ODDSTREAM_DATA (or LOG_URL), or delete the data directory.',
      );
    }
  }
}
