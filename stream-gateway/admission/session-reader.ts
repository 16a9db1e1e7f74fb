import type { Log, LogRecord } from '../../infra/log/port.js';
import type { Logger } from '../../infra/telemetry/logger.js';
import type { OnUnreadable } from '../../infra/telemetry/unreadable-records.js';
import type { Codec } from '../../schemas/codec.js';
import { topics } from '../../schemas/topics.js';
import { tryDecode } from '../../schemas/try-decode.js';
import type { GatewaySession } from '../../schemas/types.gen.js';
import { parseKey } from './session-writer.js';

const READ_RETRY_DELAY_MS = 1_000;
const topic = topics.gatewaySessions.name;

/** Reads gateway.sessions in log order and hands each record to the callbacks. */
export interface SessionReader {
  /** Reads all retained records. Resolves with the offset after the last one. */
  readRetained(): Promise<number>;
  /** Reads from an offset on until `stop`, with retries when the log cannot be read. */
  follow(offset: number): Promise<void>;
  stop(): void;
}

export function createSessionReader(deps: {
  log: Pick<Log, 'read' | 'bounds'>;
  codec: Codec;
  logger: Logger;
  onUnreadable: OnUnreadable;
  onEvent: (event: GatewaySession) => void;
  onSessionTombstone: (sessionId: string) => void;
  onProcessTombstone: (processId: string) => void;
  /** Called after each batch that `follow` has read. */
  onBatch: () => void;
}): SessionReader {
  const { log, codec, logger } = deps;
  const stop = new AbortController();

  const applyRecord = (record: LogRecord) => {
    if (record.value === null) {
      const { kind, id } = parseKey(record.key);
      if (kind === 'process') deps.onProcessTombstone(id);
      else deps.onSessionTombstone(id);
      return;
    }
    const event = tryDecode(codec, record.value, (reason) =>
      deps.onUnreadable({ topic, offset: record.offset }, reason),
    );
    if (event?.kind === 'gateway_session') deps.onEvent(event.value);
  };
  const read = (offset: number, follow: boolean) =>
    log.read({ topic, partition: 0, from: { offset }, follow, signal: stop.signal });

  return {
    async readRetained() {
      let { earliest: next } = await log.bounds(topic, 0);
      for await (const batch of read(next, false)) {
        for (const record of batch.records) applyRecord(record);
        next = batch.nextOffset;
      }
      return next;
    },
    async follow(offset) {
      let next = offset;
      while (!stop.signal.aborted) {
        try {
          for await (const batch of read(next, true)) {
            for (const record of batch.records) applyRecord(record);
            next = batch.nextOffset;
            deps.onBatch();
          }
        } catch (error) {
          logger.warn({ err: error }, 'cannot read gateway.sessions; retrying');
        }
        if (!stop.signal.aborted) await new Promise((resolve) => setTimeout(resolve, READ_RETRY_DELAY_MS));
      }
    },
    stop: () => stop.abort(),
  };
}
