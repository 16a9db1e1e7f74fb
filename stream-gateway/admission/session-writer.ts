import type { Log } from '../../infra/log/port.js';
import type { Logger } from '../../infra/telemetry/logger.js';
import type { Codec } from '../../schemas/codec.js';
import { topics } from '../../schemas/topics.js';
import type { GatewaySession } from '../../schemas/types.gen.js';

const RETRY_DELAY_MS = 500;
const MAX_BATCH_RECORDS = 2_000;

/** Appends to gateway.sessions in the order told, one batch at a time, until it is there. Only the newest word about a key waits. */
export interface SessionWriter {
  write(key: string, fact: GatewaySession['fact'] | null): void;
  /** True while the newest try failed. */
  readonly failing: boolean;
  /** Resolves when nothing waits any more or the time is over; true when nothing waits. */
  drain(timeoutMs: number): Promise<boolean>;
  stop(): void;
}

export function createSessionWriter(deps: {
  log: Pick<Log, 'append'>;
  codec: Pick<Codec, 'encode'>;
  logger: Logger;
  processId: string;
  nowMs: () => number;
}): SessionWriter {
  let pending = new Map<string, GatewaySession['fact'] | null>();
  let busy: Promise<void> | null = null;
  let failing = false;
  let stopped = false;
  let wake: () => void = () => undefined;

  const append = async (batch: ReadonlyMap<string, GatewaySession['fact'] | null>) => {
    const atMs = deps.nowMs();
    await deps.log.append(
      topics.gatewaySessions.name,
      [...batch].map(([key, fact]) => ({
        key,
        value:
          fact === null
            ? null
            : deps.codec.encode('gateway_session', { process_id: deps.processId, at_ms: atMs, fact }),
        timestampMs: atMs,
      })),
    );
  };

  const put = (key: string, fact: GatewaySession['fact'] | null) => {
    pending.delete(key);
    pending.set(key, fact);
  };
  const run = async () => {
    while (pending.size > 0 && !stopped) {
      const batch = new Map([...pending].slice(0, MAX_BATCH_RECORDS));
      for (const key of batch.keys()) pending.delete(key);
      try {
        await append(batch);
        if (failing) deps.logger.info('sessions are recorded again');
        failing = false;
      } catch (error) {
        if (!failing)
          deps.logger.warn({ err: error }, 'sessions cannot be recorded; this process decides alone meanwhile');
        failing = true;
        const newer = pending;
        pending = batch;
        for (const [key, fact] of newer) put(key, fact);
        await new Promise<void>((resolve) => {
          wake = resolve;
          setTimeout(resolve, RETRY_DELAY_MS).unref();
        });
      }
    }
    busy = null;
  };

  return {
    write(key, fact) {
      put(key, fact);
      busy ??= run();
    },
    get failing() {
      return failing;
    },
    async drain(timeoutMs) {
      let timer: NodeJS.Timeout | undefined;
      const timeout = new Promise<void>((resolve) => {
        timer = setTimeout(resolve, timeoutMs);
      });
      await Promise.race([busy ?? Promise.resolve(), timeout]);
      clearTimeout(timer);
      return pending.size === 0 && busy === null;
    },
    stop() {
      stopped = true;
      wake();
    },
  };
}
