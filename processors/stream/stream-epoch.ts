import { randomBytes } from 'node:crypto';
import type { Log } from '../../infra/log/port.js';
import type { Codec } from '../../schemas/codec.js';
import { topics } from '../../schemas/topics.js';
import { tryDecode } from '../../schemas/try-decode.js';

/** Key of the stream processor's record in topic `sources`. */
export const STREAM_STATUS_KEY = 'stream';

/**
 * Id of the lifetime of stream.events: the one that topic `sources` has, or a new one if it has none or the stream has never had a record, because `seq`
 * starts again then. `isNew`: the caller must write it before it appends the first event. `lastSeq`: the newest seq of that lifetime that the topic has.
 */
export async function readStreamEpoch(deps: {
  log: Pick<Log, 'read' | 'bounds'>;
  codec: Codec;
  signal: AbortSignal;
}): Promise<{ readonly epoch: string; readonly isNew: boolean; readonly lastSeq: number | null }> {
  const { log, codec, signal } = deps;
  let epoch: string | null = null;
  let lastSeq: number | null = null;
  if ((await log.bounds(topics.streamEvents.name, 0)).next > 0) {
    const read = { topic: topics.sources.name, partition: 0, from: 'earliest', follow: false, signal } as const;
    for await (const batch of log.read(read)) {
      for (const { key, value } of batch.records) {
        if (key !== STREAM_STATUS_KEY || value === null) continue;
        const status = tryDecode(codec, value, () => undefined);
        if (status?.kind === 'stream_status') ({ epoch, last_seq: lastSeq } = status.value);
      }
    }
  }
  return epoch === null
    ? { epoch: randomBytes(8).toString('hex'), isNew: true, lastSeq }
    : { epoch, isNew: false, lastSeq };
}
