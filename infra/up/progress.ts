import type { Readiness } from '../telemetry/readiness.js';

/** What stands between a process and ready: what is wrong (and retried), and what is only loading. */
export interface Standing {
  readonly trouble: readonly string[];
  readonly loading: readonly string[];
}

/**
 * From the answers of `/readyz` (null: no answer). Texts read `processors: clickhouse: connect ECONNREFUSED`.
 */
export function standingOf(answers: ReadonlyMap<string, Readiness | null>): Standing {
  const trouble: string[] = [];
  const loading: string[] = [];
  for (const [service, answer] of answers) {
    if (answer === null) trouble.push(`${service}: does not answer`);
    for (const [name, check] of Object.entries(answer?.checks ?? {})) {
      if (check.ok) continue;
      (check.loading === true ? loading : trouble).push(
        [service, name, check.detail].filter((part) => part !== undefined).join(': '),
      );
    }
  }
  return { trouble, loading };
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
