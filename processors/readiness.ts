import type { Check, Readiness } from '../infra/telemetry/readiness.js';

/** Largest lag in records that counts as caught up: a few seconds of a busy chain. */
const MAX_CAUGHT_UP_LAG = 5_000;

/** Check that passes when there is no last error and the lag is at most MAX_CAUGHT_UP_LAG. */
export function lagCheck(lag: number, lastError?: string): Check {
  if (lastError !== undefined) return { ok: false, detail: lastError };
  return lag <= MAX_CAUGHT_UP_LAG ? { ok: true } : { ok: false, loading: true, detail: `${lag} records behind` };
}

/** Check of a stateful processor, which must load its state before it processes records. */
export function statefulCheck(state: { readonly loaded: boolean; readonly lag: number }): Check {
  return state.loaded ? lagCheck(state.lag) : { ok: false, loading: true, detail: 'loading' };
}

/** Readiness of the process: tables and views created, tasks assigned, and every task of this process caught up with its input. */
export function createReadiness(options: {
  tasks: () => Promise<Record<string, Check>>;
  joined: () => boolean;
  /** Null in a process without tables. */
  tables: (() => Check) | null;
}): () => Promise<Readiness> {
  return async () => {
    const checks: Record<string, Check> = {
      members: options.joined() ? { ok: true } : { ok: false, loading: true, detail: 'joining' },
      ...(await options.tasks()),
      ...(options.tables === null ? {} : { tables: options.tables() }),
    };
    return { ready: Object.values(checks).every((check) => check.ok), checks };
  };
}
