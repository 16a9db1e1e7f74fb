import type { Log } from '../../infra/log/port.js';
import type { OnUnreadable } from '../../infra/telemetry/unreadable-records.js';
import type { Codec } from '../../schemas/codec.js';
import { topics } from '../../schemas/topics.js';
import { tryDecode } from '../../schemas/try-decode.js';

/** The source writes its status every 2 s. */
const SILENT_MS = 8_000;

/** Reports whether the order-book source of ingest is running, by what it writes. */
export interface SourceWatch {
  /** Something of the source was read. */
  recordActivity(nowMs: number): void;
  /** True once the source has stopped, or has written nothing for 8 s. False before its first record. */
  isSilent(nowMs: number): boolean;
  /** The run of the source by its newest status, as its records name it; null before the first. */
  epoch(): string | null;
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
  let activeMs: number | null = null;
  let stopped = false;
  let epoch: string | null = null;
  const recordActivity = (nowMs: number) => {
    activeMs = nowMs;
    stopped = false;
  };
  return {
    recordActivity,
    isSilent: (nowMs) => stopped || (activeMs !== null && nowMs - activeMs >= SILENT_MS),
    epoch: () => epoch,
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
          recordActivity(deps.nowMs());
          stopped = event.value.phase === 'stopped';
          epoch = event.value.order_books?.epoch ?? epoch;
        }
    },
  };
}
