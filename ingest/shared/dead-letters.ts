import { createHash } from 'node:crypto';
import type { Log } from '../../infra/log/port.js';
import type { Logger } from '../../infra/telemetry/logger.js';
import type { Metrics } from '../../infra/telemetry/metrics.js';
import type { Codec } from '../../schemas/codec.js';
import { topics } from '../../schemas/topics.js';

/** Maximum size of a stored payload, in UTF-8 bytes. */
export const MAX_PAYLOAD_BYTES = 64 * 1024;
/** Maximum number of dead letters per origin and minute: a source that sends only invalid input must not fill the log. */
const MAX_PER_MINUTE = 300;

export interface RejectedInput {
  /** Source of the input: `polygon-rpc`, `rtds`, `gamma`, ... */
  readonly origin: string;
  /** Stage that rejected it: `chain.decode`, `oracle.parse`, ... */
  readonly stage: string;
  readonly reason: string;
  /** Text as received; bytes are stored as text when they are valid UTF-8, else as base64. */
  readonly payload: string | Uint8Array;
}

export interface DeadLetters {
  /** Resolves when the dead letter is durable, or when it was only counted because the origin reached its limit of this minute. The same input gets the same id. */
  put(input: RejectedInput): Promise<void>;
}

/** Maximum number of different reasons that are named for one input. */
const MAX_REASONS = 5;

/** The reason of an input with several faults: their number and the first different ones. One input is one dead letter. */
export function joinReasons(reasons: readonly string[]): string {
  const [first = ''] = reasons;
  if (reasons.length <= 1) return first;
  return `${reasons.length} faults: ${[...new Set(reasons)].slice(0, MAX_REASONS).join('; ')}`;
}

/** A rejected value as JSON, for the payload of its dead letter. Of a value nested too deeply for JSON.stringify the first level. */
export function payloadOf(value: unknown): string {
  try {
    return JSON.stringify(value) ?? String(value);
  } catch {
    return JSON.stringify(value, (name, member: unknown) =>
      name !== '' && typeof member === 'object' && member !== null ? '(nested)' : member,
    );
  }
}

function asText(payload: string | Uint8Array): string {
  if (typeof payload === 'string') return payload;
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(payload);
  } catch {
    return Buffer.from(payload).toString('base64');
  }
}

/** Text cut to MAX_PAYLOAD_BYTES of UTF-8 at a character boundary. */
function truncate(text: string): string {
  if (text.length * 3 <= MAX_PAYLOAD_BYTES) return text;
  const bytes = Buffer.from(text, 'utf8');
  if (bytes.length <= MAX_PAYLOAD_BYTES) return text;
  let end = MAX_PAYLOAD_BYTES;
  while (end > 0 && (bytes[end]! & 0xc0) === 0x80) end -= 1;
  return bytes.toString('utf8', 0, end);
}

/** Writes unreadable input to `dead.letters`, counts it and logs the reason (the first of a kind as a warning). */
export function createDeadLetters(deps: {
  log: Log;
  codec: Codec;
  metrics: Metrics;
  logger: Logger;
  now?: () => number;
}): DeadLetters {
  const now = deps.now ?? Date.now;
  const counter = deps.metrics.counter('dead_letters_total', 'Rejected inputs written to dead.letters', [
    'origin',
    'stage',
  ]);
  const suppressed = deps.metrics.counter(
    'dead_letters_suppressed_total',
    `Rejected inputs that were only counted: more than ${MAX_PER_MINUTE} of one origin in a minute`,
    ['origin', 'stage'],
  );
  const warned = new Set<string>();
  const minutes = new Map<string, { minute: number; stored: number }>();
  /** Whether the origin is below its limit of this minute. */
  const mayKeep = (origin: string, nowMs: number): boolean => {
    const minute = Math.floor(nowMs / 60_000);
    const found = minutes.get(origin);
    const current = found?.minute === minute ? found : { minute, stored: 0 };
    minutes.set(origin, current);
    current.stored += 1;
    return current.stored <= MAX_PER_MINUTE;
  };
  return {
    async put({ origin, stage, reason, payload }) {
      const text = asText(payload);
      const id = createHash('sha256').update(`${origin}\n${stage}\n${text}`).digest('hex').slice(0, 32);
      counter.inc({ origin, stage });
      const kind = `${origin} ${stage}`;
      const level = warned.has(kind) ? 'debug' : 'warn';
      warned.add(kind);
      deps.logger[level]({ origin, stage, reason, deadLetter: id }, 'input rejected');
      const receivedAtMs = now();
      if (!mayKeep(origin, receivedAtMs)) {
        suppressed.inc({ origin, stage });
        return;
      }
      const value = deps.codec.encode('dead_letter', {
        id,
        origin,
        stage,
        reason: truncate(reason),
        payload: truncate(text),
        received_at_ms: receivedAtMs,
      });
      await deps.log.append(topics.deadLetters.name, [{ key: origin, value, timestampMs: receivedAtMs }]);
    },
  };
}
