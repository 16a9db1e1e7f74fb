import type { Log } from '../../infra/log/port.js';
import type { OnUnreadable } from '../../infra/telemetry/unreadable-records.js';
import type { Codec } from '../../schemas/codec.js';
import { topics } from '../../schemas/topics.js';
import { tryDecode } from '../../schemas/try-decode.js';

/** The source writes its status every 5 s. */
const SILENT_MS = 8_000;

/** Tells whether the order-book source of ingest is running, by what it writes. */
export interface SourceWatch {
  /** Something of the source was read. */
  heard(nowMs: number): void;
  /** True once the source has stopped, or nothing is heard of it for 8 s. False before anything was heard. */
  isSilent(nowMs: number): boolean;
  /** Reads the status records of the source until the signal; rejects when the log cannot be read. */
  run(): Promise<void>;
}

export function createSourceWatch(deps: {
  log: Pick<Log, 'read'>;
  codec: Codec;
  signal: AbortSignal;
  nowMs: () => number;
  onUnreadable: OnUnreadable;
}): SourceWatch {
  const topic = topics.sources.name;
  let heardMs: number | null = null;
  let stopped = false;
  const heard = (nowMs: number) => {
    heardMs = nowMs;
    stopped = false;
  };
  return {
    heard,
    isSilent: (nowMs) => stopped || (heardMs !== null && nowMs - heardMs >= SILENT_MS),
    async run() {
      for await (const { records } of deps.log.read({
        topic,
        partition: 0,
        from: 'latest',
        follow: true,
        signal: deps.signal,
      }))
        for (const { value, key, offset } of records) {
          if (value === null || key !== 'orderbook') continue;
          const event = tryDecode(deps.codec, value, (reason) => deps.onUnreadable({ topic, offset }, reason));
          if (event?.kind !== 'source_status') continue;
          heard(deps.nowMs());
          stopped = event.value.phase === 'stopped';
        }
    },
  };
}
