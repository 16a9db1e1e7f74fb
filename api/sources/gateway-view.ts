import type { Log, LogRecord } from '../../infra/log/port.js';
import { type FollowedTopic, followTopic } from '../../infra/sources/follow-topic.js';
import type { OnUnreadable } from '../../infra/telemetry/unreadable-records.js';
import type { Codec } from '../../schemas/codec.js';
import { topics } from '../../schemas/topics.js';
import { tryDecode } from '../../schemas/try-decode.js';

/** Connections of all gateway processes, as they last reported them. */
export interface GatewayLoad {
  readonly connections: number;
  /** Connections with a subscription without filters. */
  readonly firehoses: number;
}

export interface GatewayView extends FollowedTopic {
  load(nowMs: number): GatewayLoad;
}

/** A gateway reports every 2 s; one without a report for this long is not counted. Clocks of different machines may differ by some seconds. */
const HEARTBEAT_TIMEOUT_MS = 20_000;
const PROCESS_KEY_PREFIX = 'process:';

/** Sums the reports of the gateway processes in topic `gateway.sessions`. */
export function createGatewayView(deps: {
  log: Pick<Log, 'read' | 'bounds'>;
  codec: Codec;
  signal: AbortSignal;
  onUnreadable: OnUnreadable;
}): GatewayView {
  const { log, codec, signal } = deps;
  const topic = topics.gatewaySessions.name;
  const processes = new Map<string, GatewayLoad & { readonly atMs: number }>();
  const apply = (record: LogRecord) => {
    if (!record.key.startsWith(PROCESS_KEY_PREFIX)) return;
    if (record.value === null) {
      processes.delete(record.key);
      return;
    }
    const event = tryDecode(codec, record.value, (reason) =>
      deps.onUnreadable({ topic, offset: record.offset }, reason),
    );
    if (event?.kind !== 'gateway_session' || !('oddstream.GatewayAlive' in event.value.fact)) return;
    const { connections, firehoses } = event.value.fact['oddstream.GatewayAlive'];
    processes.set(record.key, { connections, firehoses, atMs: event.value.at_ms });
  };
  return {
    ...followTopic({ log, topic, signal, apply }),
    load(nowMs) {
      const sum = { connections: 0, firehoses: 0 };
      for (const { connections, firehoses, atMs } of processes.values()) {
        if (nowMs - atMs > HEARTBEAT_TIMEOUT_MS) continue;
        sum.connections += connections;
        sum.firehoses += firehoses;
      }
      return sum;
    },
  };
}
