import { yieldToEventLoop } from '../../infra/event-loop.js';
import type { Log } from '../../infra/log/port.js';
import { createMemoryLog, type MemoryLog } from '../../infra/log/testing.js';
import { silentLogger } from '../../infra/telemetry/logger.js';
import { createMetrics, type Metrics } from '../../infra/telemetry/metrics.js';
import { createCodec } from '../../schemas/codec.js';
import { type PlanTerms, plans } from '../../schemas/plans.js';
import { topics } from '../../schemas/topics.js';
import { createLogAdmission, type LogAdmission } from '../../stream-gateway/admission/log-admission.js';

export interface Gateway {
  readonly admission: LogAdmission;
  readonly metrics: Metrics;
  readonly fault: {
    /** Appends fail. */
    logUnavailable: boolean;
    /** Appends are committed, then fail. */
    responseLost: boolean;
    /** Nothing is written any more: to the other processes this looks like SIGKILL. */
    killed: boolean;
  };
}

export interface GatewayFleet {
  readonly log: MemoryLog;
  readonly clock: { ms: number };
  start(instance?: string): Promise<Gateway>;
  /** Advances the clock by 2 s, sends one heartbeat of each process that is not killed, and waits until all have read it. */
  heartbeat(times?: number): Promise<void>;
  stop(): Promise<void>;
}

/** Waits until every process has read all records. */
export async function settled(): Promise<void> {
  for (let i = 0; i < 40; i++) await yieldToEventLoop();
}

/** Admissions of several gateway processes on one log in memory, with a manual clock and without timers. */
export async function createFleet(
  options: {
    termsOf?: (accountId: string) => PlanTerms;
    /** Short only in tests of local decisions: a stall of the machine must not cause one. */
    decisionTimeoutMs?: number;
  } = {},
): Promise<GatewayFleet> {
  const log = createMemoryLog();
  await log.ensureTopics([topics.gatewaySessions]);
  const clock = { ms: Date.UTC(2026, 10, 3, 12) };
  const gateways: Gateway[] = [];
  let started = 0;
  return {
    log,
    clock,
    async start(instance) {
      const fault = { logUnavailable: false, responseLost: false, killed: false };
      const metrics = createMetrics({ process: 'test', defaults: false });
      const append: Log['append'] = async (topic, records) => {
        if (fault.killed) return new Promise(() => undefined);
        if (fault.logUnavailable) throw new Error('log unreachable');
        const ranges = await log.append(topic, records);
        if (fault.responseLost) throw new Error('response lost');
        return ranges;
      };
      const id = ++started;
      const admission = createLogAdmission({
        log: { append, read: log.read, bounds: log.bounds },
        codec: createCodec(),
        logger: silentLogger(),
        metrics,
        onUnreadable: (_position, reason) => {
          throw new Error(reason);
        },
        instance: instance ?? `host:${id}`,
        processId: `p${id}`,
        termsOf: options.termsOf,
        nowMs: () => clock.ms,
        heartbeatIntervalMs: 0,
        sessionTimeCheckIntervalMs: 0,
        decisionTimeoutMs: options.decisionTimeoutMs ?? 30_000,
      });
      await admission.ready();
      await settled();
      const gateway = { admission, metrics, fault };
      gateways.push(gateway);
      return gateway;
    },
    async heartbeat(times = 1) {
      for (let time = 0; time < times; time++) {
        clock.ms += 2_000;
        for (const { admission, fault } of gateways) if (!fault.killed) admission.heartbeat();
        await settled();
      }
    },
    async stop() {
      for (const { admission, fault } of gateways) {
        fault.killed = false;
        fault.logUnavailable = false;
        fault.responseLost = false;
        await admission.close();
      }
    },
  };
}

export const terms = (cap: number | null): PlanTerms => ({ ...plans.starter, eventSockets: cap });
