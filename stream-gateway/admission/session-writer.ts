import type { Log } from '../../infra/log/port.js';
import type { Logger } from '../../infra/telemetry/logger.js';
import type { Codec } from '../../schemas/codec.js';
import { topics } from '../../schemas/topics.js';
import type { GatewaySession } from '../../schemas/types.gen.js';

const RETRY_DELAY_MS = 500;
const MAX_BATCH_RECORDS = 2_000;

/** Keys of gateway.sessions: one per session and one per process. */
export const sessionKey = (sessionId: string): string => `session:${sessionId}`;
export const processKey = (processId: string): string => `process:${processId}`;

export function parseKey(key: string): { readonly kind: string; readonly id: string } {
  const colon = key.indexOf(':');
  return { kind: key.slice(0, colon), id: key.slice(colon + 1) };
}

/** Appends to gateway.sessions in call order, one batch at a time, with retries. While it retries it keeps only the newest record of each key. */
export interface SessionWriter {
  write(key: string, fact: GatewaySession['fact'] | null): void;
  /** True if the newest append failed. */
  readonly failing: boolean;
  /** Resolves with true when all records are written, with false after `timeoutMs`. */
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
        if (failing) deps.logger.info('gateway.sessions can be written again');
        failing = false;
      } catch (error) {
        if (!failing)
          deps.logger.warn(
            { err: error },
            'cannot write gateway.sessions; this process decides on connections by its local state until the log is reachable',
          );
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
