import { createMemoryLog, createMemoryStore } from '../../infra/log/testing.js';
import { createCodec } from '../../schemas/codec.js';
import { topics } from '../../schemas/topics.js';
import type { StreamEvent } from '../../schemas/types.gen.js';
import { tailStream } from '../../stream-gateway/hub/tail-stream.js';
import { createHistory } from '../../stream-gateway/replay/history.js';
import { startTestGateway, streamEvent } from '../../stream-gateway/testing.js';

const codec = createCodec();
const topic = topics.streamEvents.name;
export const FIRST_SEQ = 501;

/** A stream in a log with some undecodable records, so that seq and offset differ. */
export async function createStream() {
  const log = createMemoryLog({ store: createMemoryStore() });
  await log.ensureTopics([{ name: topic, partitions: 1, retentionMs: null, compacted: true }]);
  const events: StreamEvent[] = [];
  return {
    log,
    /** All appended events, in seq order. */
    events,
    head: () => FIRST_SEQ + events.length - 1,
    async append(...overs: readonly Partial<StreamEvent>[]): Promise<void> {
      const records = overs.flatMap((over) => {
        const event = streamEvent(FIRST_SEQ + events.length, over);
        events.push(event);
        const record = { key: event.id, value: codec.encode('stream_event', event), timestampMs: event.timestamp_ms };
        const garbage = { key: 'garbage', value: Buffer.from('garbage'), timestampMs: event.timestamp_ms };
        return event.seq % 7 === 0 ? [garbage, record] : [record];
      });
      await log.append(topic, records);
    },
  };
}
export type Stream = Awaited<ReturnType<typeof createStream>>;

/** A gateway that follows the stream like the process. */
export async function followWithGateway(stream: Stream, options: Parameters<typeof startTestGateway>[0] = {}) {
  const stop = new AbortController();
  let published = FIRST_SEQ - 1;
  const waiting = new Set<() => void>();
  let ready = false;
  const started = await startTestGateway({
    history: createHistory({ log: stream.log, codec, onUnreadableEvent: () => undefined }),
    ready: () => ready,
    ...options,
  });
  const caughtUp = new Promise<void>((resolve) => waiting.add(resolve));
  const tail = tailStream({
    log: stream.log,
    codec,
    lookbackEvents: options.recentEvents ?? 1000,
    signal: stop.signal,
    load: started.server.load,
    async publish(events) {
      await started.server.publish(events);
      published = events.at(-1)?.seq ?? published;
      for (const wake of waiting) wake();
    },
    onCaughtUp() {
      ready = true;
      published = Math.max(published, stream.head());
      for (const wake of waiting) wake();
    },
    onDelivered: () => undefined,
    onUnreadableEvent: () => undefined,
  });
  await caughtUp;
  return {
    ...started,
    /** Resolves when the gateway has published everything appended so far. */
    async published(): Promise<void> {
      const head = stream.head();
      while (published < head) {
        await new Promise<void>((resolve) => {
          const wake = () => {
            waiting.delete(wake);
            resolve();
          };
          waiting.add(wake);
        });
      }
    },
    async close(): Promise<void> {
      stop.abort();
      await tail;
      await started.server.close();
    },
  };
}
