import type { Metrics } from '../telemetry/metrics.js';
import type { Check } from '../telemetry/readiness.js';
import type { RegistryClient } from './registry-client.js';

/** Health check and metric of the schema registry. */
export interface RegistryHealth {
  /** Starts to probe the registry, at most every ten seconds and only when `check` runs. */
  startProbing(client: Pick<RegistryClient, 'compatibility'>): void;
  /** An attempt at the start failed. */
  recordFailure(error: unknown): void;
  /** The process has started: from now on only unknown schema ids need the registry. */
  markStarted(): void;
  /** Sets the number of readers that wait for the registry and the last error; null before the first one. */
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
  const up = options.metrics?.gauge('schema_registry_up', '1 while the schema registry responds, else 0');
  let client: Pick<RegistryClient, 'compatibility'> | null = null;
  let lastError: string | null = null;
  let started = false;
  let waiters = 0;
  let waitingFor: string | null = null;
  let probing = false;
  let probedMs = Number.NEGATIVE_INFINITY;

  const setError = (error: string | null) => {
    lastError = error;
    up?.set(error === null ? 1 : 0);
  };
  const probe = () => {
    if (client === null || probing || nowMs() - probedMs < PROBE_INTERVAL_MS) return;
    probing = true;
    probedMs = nowMs();
    client
      .compatibility(PROBED_SUBJECT)
      .then(
        () => setError(null),
        (error: unknown) => setError(messageOf(error)),
      )
      .finally(() => {
        probing = false;
      });
  };

  return {
    startProbing(registryClient) {
      client = registryClient;
    },
    recordFailure: (error) => setError(messageOf(error)),
    markStarted() {
      started = true;
      setError(null);
    },
    setWaitingReaders(readers, why) {
      waiters = readers;
      waitingFor = why;
    },
    async check() {
      if (!started)
        return lastError === null
          ? { ok: false, loading: true, detail: 'connecting' }
          : { ok: false, detail: lastError };
      if (waiters > 0 && waitingFor !== null)
        return { ok: false, detail: `${waiters} readers wait for the registry: ${waitingFor}` };
      probe();
      return lastError === null ? { ok: true } : { ok: true, detail: `unreachable, but not needed now: ${lastError}` };
    },
  };
}

const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));
