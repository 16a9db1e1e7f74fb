/** Result of one health check. `loading`: not ready yet, but not failing. */
export interface Check {
  readonly ok: boolean;
  readonly loading?: true;
  readonly detail?: string;
}
export type Checks = Readonly<Record<string, Check>>;

/** The response of `/readyz`: every check by name. */
export interface Readiness {
  readonly ready: boolean;
  readonly checks: Checks;
}

export interface HealthRegistry {
  /** Adds checks that run at every readiness request. A source that throws or times out counts as a failing check called `name`. */
  register(name: string, source: () => Promise<Checks> | Checks): void;
  /** Adds checks as `register` does, and removes the check that reports that the process is starting. */
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
 * Collects the checks of a process from its start: until `markStarted` it reports that the process is starting. A result is returned
 * within 2 s even when a check hangs, and a hanging check is not started a second time.
 */
export function createHealthRegistry(options: { checkTimeoutMs?: number } = {}): HealthRegistry {
  const { checkTimeoutMs = CHECK_TIMEOUT_MS } = options;
  const sources = new Map<string, () => Promise<Checks> | Checks>([
    [START_CHECK, () => ({ start: { ok: false, loading: true, detail: 'starting' } })],
  ]);
  const pending = new Map<string, Promise<Checks>>();

  const runOnce = (name: string, source: () => Promise<Checks> | Checks): Promise<Checks> => {
    const running = pending.get(name);
    if (running !== undefined) return running;
    const started = (async () => source())()
      .catch((error: unknown) => ({ [name]: { ok: false, detail: messageOf(error) } }))
      .finally(() => pending.delete(name));
    pending.set(name, started);
    return started;
  };

  const inTime = async (name: string, source: () => Promise<Checks> | Checks): Promise<Checks> => {
    let timer: NodeJS.Timeout | undefined;
    const timeout = new Promise<Checks>((resolve) => {
      const detail = `no response within ${checkTimeoutMs / 1000} s`;
      timer = setTimeout(() => resolve({ [name]: { ok: false, detail } }), checkTimeoutMs);
    });
    return Promise.race([runOnce(name, source), timeout]).finally(() => clearTimeout(timer));
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
      const results = await Promise.all([...sources].map(([name, source]) => inTime(name, source)));
      return readinessFromChecks(Object.assign({}, ...results) as Checks);
    },
  };
}

const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));
