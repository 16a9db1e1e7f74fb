import type { Log } from '../../infra/log/port.js';
import type { Codec } from '../../schemas/codec.js';
import { topics } from '../../schemas/topics.js';

/**
 * Deletes from topic `sources` the status of every source that is not one of `running`: a source that was switched off would otherwise stay there as one
 * that no longer reports. Call as the active ingest process. Resolves to the names of the deleted ones.
 */
export async function removeOtherSources(deps: {
  log: Pick<Log, 'read' | 'append'>;
  codec: Codec;
  running: readonly string[];
  now?: () => number;
}): Promise<readonly string[]> {
  const { log, codec } = deps;
  const topic = topics.sources.name;
  const others = new Set<string>();
  for await (const { records } of log.read({ topic, partition: 0, from: 'earliest', follow: false })) {
    for (const { key, value } of records) {
      if (value === null) others.delete(key);
      else if (!deps.running.includes(key) && isSourceStatus(codec, value)) others.add(key);
    }
  }
  const timestampMs = (deps.now ?? Date.now)();
  const tombstones = [...others].map((key) => ({ key, value: null, timestampMs }));
  if (tombstones.length > 0) await log.append(topic, tombstones);
  return [...others];
}

/** False for the status of the stream, and for unreadable records. */
function isSourceStatus(codec: Codec, value: Buffer): boolean {
  try {
    return codec.kindOf(value) === 'source_status';
  } catch {
    return false;
  }
}
