import type { Log } from '../../infra/log/port.js';
import type { Codec } from '../../schemas/codec.js';
import { topics } from '../../schemas/topics.js';
import { decodeLiveEvent, type LiveEvent } from './live-event.js';

/**
 * Follows stream.events: first passes its newest `lookbackEvents` records to `load` one by one, then publishes new ones in batches. Each event is
 * delivered once, in seq order; the next batch is read when `publish` has resolved. Undecodable records are reported to `onUnreadableEvent` and
 * skipped.
 */
export async function tailStream(deps: {
  log: Log;
  codec: Codec;
  lookbackEvents: number;
  signal: AbortSignal;
  load: (event: LiveEvent) => void;
  publish: (events: readonly LiveEvent[]) => Promise<void>;
  onCaughtUp: () => void;
  /** Called when all records below this offset have been delivered. */
  onDelivered: (nextOffset: number) => void;
  onUnreadableEvent: (reason: string) => void;
}): Promise<void> {
  const { log, codec } = deps;
  const topic = topics.streamEvents.name;
  const { earliest, next } = await log.bounds(topic, 0);
  const from = Math.max(earliest, next - deps.lookbackEvents);
  deps.onDelivered(from);
  let live = from >= next;
  if (live) deps.onCaughtUp();
  for await (const batch of log.read({
    topic,
    partition: 0,
    from: { offset: from },
    follow: true,
    signal: deps.signal,
  })) {
    const events: LiveEvent[] = [];
    for (const record of batch.records) {
      if (!live && record.offset >= next) {
        live = true;
        deps.onCaughtUp();
      }
      const event = decodeLiveEvent(codec, record, deps.onUnreadableEvent);
      if (event === null) continue;
      if (live) events.push(event);
      else deps.load(event);
    }
    if (!live && batch.nextOffset >= next) {
      live = true;
      deps.onCaughtUp();
    }
    if (events.length > 0) await deps.publish(events);
    deps.onDelivered(batch.nextOffset);
  }
}
