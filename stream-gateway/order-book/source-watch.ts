import type { Log, LogRecord } from '../../infra/log/port.js';
import { followTopic } from '../../infra/sources/follow-topic.js';
import type { OnUnreadable } from '../../infra/telemetry/unreadable-records.js';
import type { Codec } from '../../schemas/codec.js';
import { topics } from '../../schemas/topics.js';
import { tryDecode } from '../../schemas/try-decode.js';

/** The source writes its status every 2 s. */
const SILENT_MS = 8_000;
/** A run that has lost its topics to another one notices within 5 s; meanwhile both report. */
const ALONE_MS = 8_000;

/** Reports whether the order-book source of ingest is running, by what it writes. */
export interface SourceWatch {
  /** A record about a book was read. */
  recordActivity(nowMs: number): void;
  /**
   * True once the source has stopped, has written nothing for 8 s, or is disconnected without a record about a book since its connection ended or since its
   * status before: it waits to be restarted. False until the stored status is read.
   */
  isSilent(nowMs: number): boolean;
  /** The run of the source by its newest status, as its records name it; null before the first. */
  epoch(): string | null;
  /** No other run has reported in the 8 s before the newest status of this one. */
  isAlone(): boolean;
  /** Reads the status records of the source, the stored one first, until the signal; rejects when the log cannot be read. */
  run(): Promise<void>;
  /** Resolves when `run` has read the stored status, and after the signal. */
  readonly loaded: Promise<void>;
}

export function createSourceWatch(deps: {
  log: Pick<Log, 'read' | 'bounds'>;
  codec: Codec;
  signal: AbortSignal;
  nowMs: () => number;
  onUnreadable: OnUnreadable;
}): SourceWatch {
  const topic = topics.sources.name;
  let activeMs: number | null = null;
  let stopped = false;
  let connected = true;
  /** Whether a record about a book was read since the newest status. */
  let hasWritten = false;
  let epoch: string | null = null;
  /** When the first and the newest of the last statuses of this run were read. */
  let [aloneFromMs, aloneToMs] = [0, 0];
  const recordActivity = (nowMs: number) => {
    activeMs = nowMs;
    stopped = false;
    hasWritten = true;
  };
  let isLoaded = false;
  let onLoaded: () => void = () => undefined;
  const loaded = new Promise<void>((resolve) => {
    onLoaded = resolve;
  });
  const apply = ({ value, key, offset }: LogRecord) => {
    if (value === null || key !== 'orderbook') return;
    const event = tryDecode(deps.codec, value, (reason) => deps.onUnreadable({ topic, offset }, reason));
    if (event?.kind !== 'source_status') return;
    const nowMs = deps.nowMs();
    // A stored status is a sign of life of the time at which it was written.
    activeMs = isLoaded ? nowMs : Math.min(nowMs, event.value.updated_at_ms);
    // Records of the last moments may be read after the status that follows them.
    const lost = !event.value.connected && (connected || !hasWritten);
    stopped = event.value.phase === 'stopped' || lost;
    connected = event.value.connected;
    hasWritten = false;
    const reported = event.value.order_books?.epoch ?? null;
    if (reported === null) return;
    // The clock may have been set back.
    aloneFromMs = reported === epoch ? Math.min(aloneFromMs, nowMs) : nowMs;
    aloneToMs = nowMs;
    epoch = reported;
  };
  return {
    recordActivity,
    isSilent: (nowMs) => stopped || (activeMs !== null && nowMs - activeMs >= SILENT_MS),
    epoch: () => epoch,
    isAlone: () => aloneToMs - aloneFromMs >= ALONE_MS,
    loaded,
    async run() {
      const followed = followTopic({ log: deps.log, topic, signal: deps.signal, apply });
      followed.ready().then(
        () => {
          isLoaded = true;
          activeMs ??= deps.nowMs();
          onLoaded();
        },
        () => undefined,
      );
      await followed.done;
    },
  };
}
