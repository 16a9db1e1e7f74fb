import type { Logger } from '../../infra/telemetry/logger.js';
import type { Metrics } from '../../infra/telemetry/metrics.js';
import type { GatewayAlive, GatewaySession } from '../../schemas/types.gen.js';
import { createHeartbeatTracker } from './heartbeat-tracker.js';
import type { SessionState } from './session-state.js';
import { processKey, type SessionWriter } from './session-writer.js';

/**
 * A process is expired when this many heartbeats of another process follow its newest record in the log: 8 to 10 s at the default interval
 * of 2 s.
 */
const MAX_MISSED_HEARTBEATS = 5;

/** Sends the heartbeats of this process and ends the sessions of processes whose heartbeats stop. */
export interface FailureDetector {
  sendHeartbeat(): void;
  /** Applies one record of gateway.sessions. A heartbeat of this process expires the processes that have missed too many. */
  apply(event: GatewaySession): void;
  /** Applies the tombstone of a process: it has shut down or was expired. */
  applyTombstone(processId: string): void;
  /** Ends the sessions of earlier processes with this instance name. */
  expirePredecessors(): void;
  /** Writes that this process has shut down. */
  sendShutdown(): void;
}

export function createFailureDetector(deps: {
  writer: Pick<SessionWriter, 'write'>;
  sessions: Pick<SessionState, 'endSessionsOf'>;
  logger: Logger;
  metrics: Metrics;
  processId: string;
  instance: string;
  load: (() => Pick<GatewayAlive, 'connections' | 'firehoses'>) | undefined;
}): FailureDetector {
  const { writer, sessions, logger, processId, instance } = deps;
  const heartbeats = createHeartbeatTracker({ processId, maxMissedHeartbeats: MAX_MISSED_HEARTBEATS });
  const expired = deps.metrics.counter(
    'gateway_sessions_expired_total',
    'Sessions of failed or replaced gateway processes that this process ended',
  );

  const expire = (failedProcessId: string) => {
    const ended = sessions.endSessionsOf(failedProcessId);
    if (ended > 0)
      logger.warn(
        { processId: failedProcessId, sessions: ended },
        'gateway process failed or was replaced: ending its sessions',
      );
    expired.inc(ended);
    writer.write(processKey(failedProcessId), null);
  };

  return {
    sendHeartbeat() {
      writer.write(processKey(processId), {
        'oddstream.GatewayAlive': { instance, connections: 0, firehoses: 0, ...deps.load?.() },
      });
    },
    apply({ process_id: from, fact }) {
      if ('oddstream.ConnectionSession' in fact) {
        // Another process may have written the end of a session on behalf of a failed one.
        if (fact['oddstream.ConnectionSession'].stage !== 'ended') heartbeats.recordActivity(from);
        return;
      }
      heartbeats.recordHeartbeat(from, fact['oddstream.GatewayAlive'].instance);
      if (from === processId) for (const failed of heartbeats.countMissed()) expire(failed);
    },
    applyTombstone: heartbeats.remove,
    expirePredecessors() {
      for (const predecessor of heartbeats.processesAt(instance)) expire(predecessor);
    },
    sendShutdown: () => writer.write(processKey(processId), null),
  };
}
