import type { Readiness } from '../telemetry/readiness.js';

/** The checks that do not pass: failing ones (retried) and loading ones. */
export interface ReadinessSummary {
  readonly failing: readonly string[];
  readonly loading: readonly string[];
  /** Processes that stay down until an operator fixes the reason. */
  readonly down: readonly string[];
}

/**
 * Summarizes the `/readyz` responses (null: none) of the supervised processes, and the reasons of those that stay down. Texts have the form
 * `processors: clickhouse: connect ECONNREFUSED`.
 */
export function summarizeReadiness(
  responses: ReadonlyMap<string, Readiness | null>,
  reasons: ReadonlyMap<string, string> = new Map(),
): ReadinessSummary {
  const failing: string[] = [];
  const loading: string[] = [];
  for (const [service, response] of responses) {
    if (response === null) failing.push(`${service}: does not respond`);
    for (const [name, check] of Object.entries(response?.checks ?? {})) {
      if (check.ok) continue;
      (check.loading === true ? loading : failing).push(
        [service, name, check.detail].filter((part) => part !== undefined).join(': '),
      );
    }
  }
  return { failing, loading, down: [...reasons].map(([service, reason]) => `${service}: ${reason}`) };
}

/** Message of a log line of level fatal, which a process writes last; null for any other line. */
export function fatalMessage(line: string): string | null {
  if (!line.startsWith('{')) return null;
  try {
    const { level, msg } = JSON.parse(line) as { level?: unknown; msg?: unknown };
    return level === 'fatal' && typeof msg === 'string' ? msg : null;
  } catch {
    return null; // not a log line
  }
}

/** The body of `/readyz`; null when it is something else. */
export function parseReadiness(body: string): Readiness | null {
  try {
    const parsed = JSON.parse(body) as Partial<Readiness> | null;
    return typeof parsed?.checks === 'object' && parsed.checks !== null ? (parsed as Readiness) : null;
  } catch {
    return null;
  }
}
