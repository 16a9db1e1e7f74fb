import type { Check, Readiness } from '../infra/telemetry/readiness.js';

/** Records a fold may be behind and still count as caught up: some seconds of a busy chain. */
const MAX_CAUGHT_UP_LAG = 5_000;

/** Close to the end of its input, and nothing in its way. */
export function lagCheck(lag: number, lastError?: string): Check {
  if (lastError !== undefined) return { ok: false, detail: lastError };
  return lag <= MAX_CAUGHT_UP_LAG ? { ok: true } : { ok: false, loading: true, detail: `${lag} records behind` };
}

/** The check of a fold that reads its state back before it starts. */
export function statefulCheck(state: { readonly loaded: boolean; readonly lag: number }): Check {
  return state.loaded ? lagCheck(state.lag) : { ok: false, loading: true, detail: 'loading' };
}

/** Caught up: tables migrated, the process has its share of the work, and every fold it runs is close to the end of its input. */
export function createReadiness(options: {
  tasks: () => Promise<Record<string, Check>>;
  joined: () => boolean;
  migrated: () => boolean;
}): () => Promise<Readiness> {
  return async () => {
    const checks: Record<string, Check> = {
      members: options.joined() ? { ok: true } : { ok: false, loading: true, detail: 'joining' },
      ...(await options.tasks()),
      tables: options.migrated() ? { ok: true } : { ok: false, detail: 'ClickHouse is not ready' },
    };
    return { ready: Object.values(checks).every((check) => check.ok), checks };
  };
}
