import type { Log, LogRecord } from '../../infra/log/port.js';
import type { OnUnreadable } from '../../infra/telemetry/unreadable-records.js';
import type { Codec } from '../../schemas/codec.js';
import { topics } from '../../schemas/topics.js';
import { tryDecode } from '../../schemas/try-decode.js';
import type { SourceStatus, StreamStatus } from '../../schemas/types.gen.js';
import { type FollowedTopic, followTopic } from './follow-topic.js';
import { feedsStream, freshnessOf, type SourceFreshness, STREAM_SOURCE, streamFreshnessOf } from './freshness.js';

/** Last status that ingest reported for each of its sources. */
export interface SourceStatusView extends FollowedTopic {
  /** Sorted by name. */
  all(): readonly SourceStatus[];
  get(source: string): SourceStatus | undefined;
  /** Last status of the stream processor; null before its first report. */
  stream(): StreamStatus | null;
  /** Whether the events of each source, and of the stream once its processor has reported, are current. Sorted by name. */
  freshness(nowMs: number): readonly SourceFreshness[];
}

/** Follows topic `sources`. */
export function createSourceStatusView(deps: {
  log: Pick<Log, 'read' | 'bounds'>;
  codec: Codec;
  signal: AbortSignal;
  onUnreadable: OnUnreadable;
  nowMs?: () => number;
  /** Time of the newest event of the stream that this process has read, Unix ms; null: none yet. */
  newestReadMs?: () => number | null;
}): SourceStatusView {
  const { log, codec, signal } = deps;
  const now = deps.nowMs ?? Date.now;
  const topic = topics.sources.name;
  const statuses = new Map<string, SourceStatus>();
  /** Unix ms at which the newest status of a source was read; only of those that were written after the start. */
  const seenAtMs = new Map<string, number>();
  let loaded = false;
  let stream: StreamStatus | null = null;
  const apply = (record: LogRecord) => {
    if (record.value === null) {
      statuses.delete(record.key);
      seenAtMs.delete(record.key);
      return;
    }
    const event = tryDecode(codec, record.value, (reason) =>
      deps.onUnreadable({ topic, offset: record.offset }, reason),
    );
    if (event?.kind === 'source_status') {
      statuses.set(event.value.source, event.value);
      if (loaded) seenAtMs.set(event.value.source, now());
    }
    if (event?.kind === 'stream_status') {
      stream = event.value;
      if (loaded) seenAtMs.set(STREAM_SOURCE, now());
    }
  };
  const byName = (a: { readonly source: string }, b: { readonly source: string }) => (a.source < b.source ? -1 : 1);
  const all = () => [...statuses.values()].sort(byName);
  const followed = followTopic({ log, topic, signal, apply });
  followed.ready().then(
    () => {
      loaded = true;
    },
    () => undefined,
  );
  return {
    ...followed,
    all,
    freshness(nowMs) {
      const found = all().map((status) => ({ status, fresh: freshnessOf(status, nowMs, seenAtMs.get(status.source)) }));
      const fresh = found.map((one) => one.fresh);
      if (stream === null) return fresh;
      const feeding = found.filter((one) => feedsStream(one.status, one.fresh)).map((one) => one.status);
      const ofStream = streamFreshnessOf(stream, feeding, nowMs, seenAtMs.get(STREAM_SOURCE), deps.newestReadMs?.());
      return [...fresh, ofStream].sort(byName);
    },
    get: (source) => statuses.get(source),
    stream: () => stream,
  };
}

/** A source without a report for this long is silent; ingest repeats reports every few seconds. */
const SOURCE_HEARTBEAT_TIMEOUT_MS = 20_000;

export type SourceHealth = 'connected' | 'disconnected' | 'silent';

/** Current health of a source: its reported state, or `silent` after the heartbeat timeout. */
export function healthOf(status: SourceStatus, nowMs: number): SourceHealth {
  if (nowMs - status.updated_at_ms > SOURCE_HEARTBEAT_TIMEOUT_MS) return 'silent';
  return status.connected ? 'connected' : 'disconnected';
}
