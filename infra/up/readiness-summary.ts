import type { Readiness } from '../telemetry/readiness.js';

/** What stands between a process and ready: what is wrong (and retried), and what is only loading. */
export interface ReadinessSummary {
  readonly failing: readonly string[];
  readonly loading: readonly string[];
  /** What stays down until a person mends it. */
  readonly down: readonly string[];
}

/**
 * From the answers of `/readyz` (null: no answer) of the processes that are kept running, and the reasons of those that stay down. Texts read
 * `processors: clickhouse: connect ECONNREFUSED`.
 */
export function summarizeReadiness(
  answers: ReadonlyMap<string, Readiness | null>,
  reasons: ReadonlyMap<string, string> = new Map(),
): ReadinessSummary {
  const failing: string[] = [];
  const loading: string[] = [];
  for (const [service, answer] of answers) {
    if (answer === null) failing.push(`${service}: does not answer`);
    for (const [name, check] of Object.entries(answer?.checks ?? {})) {
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
