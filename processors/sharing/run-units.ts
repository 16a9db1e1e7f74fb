import { setTimeout as sleep } from 'node:timers/promises';
import { FencedError, LogUnavailableError } from '../../infra/log/errors.js';
import type { Logger } from '../../infra/telemetry/logger.js';
import type { Metrics } from '../../infra/telemetry/metrics.js';
import type { Check } from '../../infra/telemetry/readiness.js';

/** One start of a piece of work; never started twice. */
export interface UnitRun {
  run(signal: AbortSignal): Promise<void>;
  check(): Promise<Check>;
}

/** A piece of work that one process at a time does. It claims its group of the log before it reads where to go on. */
export interface Unit {
  readonly name: string;
  create(): UnitRun;
}

export interface UnitRunner {
  /** Until the signal. Rejects with the first failure that is neither a takeover nor the log's absence, once every unit has ended. */
  run(signal: AbortSignal): Promise<void>;
  /** From now on run exactly these. */
  own(names: readonly string[]): void;
  checks(): Promise<Record<string, Check>>;
}

/** After another process took a unit this one believes to own (views differ, usually for one heartbeat), or the log gave up on it. */
const FENCED_DELAY_MS = 2_000;

interface Running {
  readonly stop: AbortController;
  readonly ended: Promise<void>;
  readonly current: { unit: UnitRun };
}

/** Runs the units this process owns; starts one when it is gained and stops it when it is lost or taken over. */
export function createUnitRunner(options: {
  units: readonly Unit[];
  logger: Logger;
  metrics: Metrics;
  fencedDelayMs?: number;
}): UnitRunner {
  const { units, logger, fencedDelayMs = FENCED_DELAY_MS } = options;
  const owned = options.metrics.gauge('units_owned', 'Units of work this process runs, of all that there are');
  const takenOver = options.metrics.counter('unit_takeovers_total', 'Units gained from a process that left or died');
  const fenced = options.metrics.counter('unit_fenced_total', 'Units another process took over while they ran here');
  const running = new Map<string, Running>();
  /** Ends of stopped runs: the next start of a unit waits for its last one. */
  const ending = new Map<string, Promise<void>>();
  let wanted: ReadonlySet<string> | undefined;
  /** The first share is nobody's loss. */
  let shared = false;
  let active: AbortSignal | undefined;
  let fail: (error: unknown) => void = () => undefined;

  const runUnit = async (unit: Unit, current: { unit: UnitRun }, signal: AbortSignal): Promise<void> => {
    while (!signal.aborted) {
      try {
        await current.unit.run(signal);
        return;
      } catch (error) {
        if (signal.aborted) return;
        if (error instanceof FencedError) {
          fenced.inc();
          logger.warn({ unit: unit.name }, 'another process took the unit over');
        } else if (error instanceof LogUnavailableError) {
          logger.warn({ unit: unit.name, err: error }, 'the log is away, starting the unit again');
        } else throw error;
        await sleep(fencedDelayMs, undefined, { signal }).catch(() => undefined);
        current.unit = unit.create();
      }
    }
  };

  const start = (unit: Unit): void => {
    const stop = new AbortController();
    const current = { unit: unit.create() };
    const before = ending.get(unit.name) ?? Promise.resolve();
    const ended = before.then(() => runUnit(unit, current, stop.signal)).catch((error: unknown) => fail(error));
    running.set(unit.name, { stop, ended, current });
  };

  const adjust = (): void => {
    if (active === undefined || active.aborted || wanted === undefined) return;
    for (const [name, { stop, ended }] of running) {
      if (wanted.has(name)) continue;
      logger.info({ unit: name }, 'unit goes to another process');
      stop.abort();
      ending.set(name, ended);
      running.delete(name);
    }
    for (const unit of units) {
      if (!wanted.has(unit.name) || running.has(unit.name)) continue;
      if (shared) {
        takenOver.inc();
        logger.info({ unit: unit.name }, 'unit comes from another process');
      }
      start(unit);
    }
    shared = true;
    owned.set(running.size);
  };

  return {
    async run(signal) {
      const failures: unknown[] = [];
      const over = new Promise<void>((resolve) => {
        fail = (error) => {
          failures.push(error);
          resolve();
        };
        if (signal.aborted) resolve();
        signal.addEventListener('abort', () => resolve(), { once: true });
      });
      active = signal;
      adjust();
      await over;
      active = undefined;
      for (const { stop } of running.values()) stop.abort();
      await Promise.all([...ending.values(), ...[...running.values()].map(({ ended }) => ended)]);
      if (failures.length > 0) throw failures[0];
    },
    own(names) {
      wanted = new Set(names);
      adjust();
    },
    async checks() {
      const found = await Promise.all(
        [...running].map(async ([name, { current }]) => [name, await current.unit.check()] as const),
      );
      return Object.fromEntries(found);
    },
  };
}
