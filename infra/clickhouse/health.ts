import type { Metrics } from '../telemetry/metrics.js';
import type { Check } from '../telemetry/readiness.js';
import type { ClickHouse } from './client.js';

const PING_TIMEOUT_MS = 1_500;

/** Returns a check that pings the server; concurrent checks share one ping. Metrics: `clickhouse_up`, `clickhouse_unavailable_seconds`. */
export function createClickHouseCheck(deps: {
  client: Pick<ClickHouse, 'ping'>;
  metrics: Metrics;
  nowMs?: () => number;
}): () => Promise<Check> {
  const { client, metrics, nowMs = Date.now } = deps;
  const up = metrics.gauge('clickhouse_up', '1 while ClickHouse responds to this process, else 0');
  const seconds = metrics.gauge(
    'clickhouse_unavailable_seconds',
    'Seconds since ClickHouse stopped responding; 0 while it responds',
  );
  let sinceMs: number | null = null;
  let pending: Promise<string | null> | null = null;

  const ping = (): Promise<string | null> => {
    pending ??= client
      .ping()
      .then(
        () => null,
        (error: unknown) => (error instanceof Error ? error.message : String(error)),
      )
      .finally(() => {
        pending = null;
      });
    return pending;
  };

  return async () => {
    let timer: NodeJS.Timeout | undefined;
    const timeout = new Promise<string>((resolve) => {
      timer = setTimeout(() => resolve(`ClickHouse does not respond within ${PING_TIMEOUT_MS} ms`), PING_TIMEOUT_MS);
    });
    const error = await Promise.race([ping(), timeout]).finally(() => clearTimeout(timer));
    if (error === null) sinceMs = null;
    else sinceMs ??= nowMs();
    up.set(error === null ? 1 : 0);
    seconds.set(sinceMs === null ? 0 : (nowMs() - sinceMs) / 1000);
    return error === null ? { ok: true } : { ok: false, detail: error };
  };
}
