/** Verdict on one part of a process. `loading`: not there yet, but nothing is wrong. */
export interface Check {
  readonly ok: boolean;
  readonly loading?: true;
  readonly detail?: string;
}
export type Checks = Readonly<Record<string, Check>>;

/** What `/readyz` tells: every named check with its verdict and, when it fails, why. */
export interface Readiness {
  readonly ready: boolean;
  readonly checks: Checks;
}

export interface HealthRegistry {
  /** Ask `source` whenever readiness is asked for. One that throws or is late counts as a failing check called `name`. */
  register(name: string, source: () => Promise<Checks> | Checks): void;
  /** The same for the process's own checks: it has started. */
  markStarted(name: string, source: () => Promise<Checks> | Checks): void;
  readonly readiness: () => Promise<Readiness>;
}

const CHECK_TIMEOUT_MS = 2_000;
const START_CHECK = 'start';

const readinessFromChecks = (checks: Checks): Readiness => ({
  ready: Object.values(checks).every(({ ok }) => ok),
  checks,
});

/**
 * Collects the checks of a process from its start: until `started` it reports that the process is starting. A result is returned
 * within 2 s even when a check hangs, and a hanging check is not started a second time.
 */
export function createHealthRegistry(options: { checkTimeoutMs?: number } = {}): HealthRegistry {
  const { checkTimeoutMs = CHECK_TIMEOUT_MS } = options;
  const sources = new Map<string, () => Promise<Checks> | Checks>([
    [START_CHECK, () => ({ start: { ok: false, loading: true, detail: 'starting' } })],
  ]);
  const pending = new Map<string, Promise<Checks>>();

  const ask = (name: string, source: () => Promise<Checks> | Checks): Promise<Checks> => {
    const running = pending.get(name);
    if (running !== undefined) return running;
    const asked = (async () => source())()
      .catch((error: unknown) => ({ [name]: { ok: false, detail: messageOf(error) } }))
      .finally(() => pending.delete(name));
    pending.set(name, asked);
    return asked;
  };

  const inTime = async (name: string, source: () => Promise<Checks> | Checks): Promise<Checks> => {
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<Checks>((resolve) => {
      const detail = `no answer within ${checkTimeoutMs / 1000} s`;
      timer = setTimeout(() => resolve({ [name]: { ok: false, detail } }), checkTimeoutMs);
    });
    return Promise.race([ask(name, source), late]).finally(() => clearTimeout(timer));
  };

  return {
    register(name, source) {
      sources.set(name, source);
    },
    markStarted(name, source) {
      sources.delete(START_CHECK);
      sources.set(name, source);
    },
    async readiness() {
      const answers = await Promise.all([...sources].map(([name, source]) => inTime(name, source)));
      return readinessFromChecks(Object.assign({}, ...answers) as Checks);
    },
  };
}

const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));
