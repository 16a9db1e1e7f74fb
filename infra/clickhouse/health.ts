import type { Metrics } from '../telemetry/metrics.js';
import type { Check } from '../telemetry/readiness.js';
import type { ClickHouse } from './client.js';

const PING_TIMEOUT_MS = 1_500;

/** Asks the server for an answer each time. Metrics: `clickhouse_up`, `clickhouse_unavailable_seconds`. */
export function createClickHouseCheck(deps: {
  client: Pick<ClickHouse, 'ping'>;
  metrics: Metrics;
  nowMs?: () => number;
}): () => Promise<Check> {
  const { client, metrics, nowMs = Date.now } = deps;
  const up = metrics.gauge('clickhouse_up', 'Whether ClickHouse answers this process: 1, or 0');
  const seconds = metrics.gauge(
    'clickhouse_unavailable_seconds',
    'How long ClickHouse has not answered; 0 while it does',
  );
  let sinceMs: number | null = null;
  let asked: Promise<string | null> | null = null;

  const ask = (): Promise<string | null> => {
    asked ??= client
      .ping()
      .then(
        () => null,
        (error: unknown) => (error instanceof Error ? error.message : String(error)),
      )
      .finally(() => {
        asked = null;
      });
    return asked;
  };

  return async () => {
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<string>((resolve) => {
      timer = setTimeout(() => resolve(`ClickHouse does not answer within ${PING_TIMEOUT_MS} ms`), PING_TIMEOUT_MS);
    });
    const trouble = await Promise.race([ask(), late]).finally(() => clearTimeout(timer));
    if (trouble === null) sinceMs = null;
    else sinceMs ??= nowMs();
    up.set(trouble === null ? 1 : 0);
    seconds.set(sinceMs === null ? 0 : (nowMs() - sinceMs) / 1000);
    return trouble === null ? { ok: true } : { ok: false, detail: trouble };
  };
}
