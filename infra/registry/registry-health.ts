import type { Metrics } from '../telemetry/metrics.js';
import type { Check } from '../telemetry/readiness.js';
import type { RegistryClient } from './registry-client.js';

/** What operators see of the schema registry. */
export interface RegistryHealth {
  /** From now on the registry itself is asked, rarely, whether it is there. */
  startProbing(client: Pick<RegistryClient, 'compatibility'>): void;
  /** An attempt at the start failed. */
  recordFailure(error: unknown): void;
  /** The start is over: from now on only ids met for the first time need the registry. */
  markStarted(): void;
  /** So many readers wait for it, and why; null while the first answer is not there. */
  readonly setWaitingReaders: (readers: number, why: string | null) => void;
  check(): Promise<Check>;
}

const PROBE_INTERVAL_MS = 10_000;
const PROBED_SUBJECT = 'oddstream.SourceStatus';

/**
 * Fails while the process cannot start without the registry, and while readers wait for it. At other times an unreachable registry has no effect, so the check
 * passes with a detail text; `schema_registry_up` reports it too.
 */
export function createRegistryHealth(options: { metrics?: Metrics; nowMs?: () => number } = {}): RegistryHealth {
  const { nowMs = Date.now } = options;
  const up = options.metrics?.gauge('schema_registry_up', 'Whether the schema registry answers: 1, or 0');
  let client: Pick<RegistryClient, 'compatibility'> | null = null;
  let trouble: string | null = null;
  let started = false;
  let waiters = 0;
  let waitingFor: string | null = null;
  let probing = false;
  let probedMs = Number.NEGATIVE_INFINITY;

  const is = (why: string | null) => {
    trouble = why;
    up?.set(why === null ? 1 : 0);
  };
  const probe = () => {
    if (client === null || probing || nowMs() - probedMs < PROBE_INTERVAL_MS) return;
    probing = true;
    probedMs = nowMs();
    client
      .compatibility(PROBED_SUBJECT)
      .then(
        () => is(null),
        (error: unknown) => is(messageOf(error)),
      )
      .finally(() => {
        probing = false;
      });
  };

  return {
    startProbing(own) {
      client = own;
    },
    recordFailure: (error) => is(messageOf(error)),
    markStarted() {
      started = true;
      is(null);
    },
    setWaitingReaders(readers, why) {
      waiters = readers;
      waitingFor = why;
    },
    async check() {
      if (!started)
        return trouble === null ? { ok: false, loading: true, detail: 'asking' } : { ok: false, detail: trouble };
      if (waiters > 0 && waitingFor !== null)
        return { ok: false, detail: `${waiters} readers wait for it: ${waitingFor}` };
      probe();
      return trouble === null ? { ok: true } : { ok: true, detail: `away, and nothing waits for it: ${trouble}` };
    },
  };
}

const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));
