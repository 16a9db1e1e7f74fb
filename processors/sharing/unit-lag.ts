import type { Gauge } from '../../infra/telemetry/metrics.js';

type Labels = Readonly<Record<string, string>>;

/** How far behind a unit is, told only while it runs here: another process may have it the next moment, and tells of it then. */
export interface UnitLag {
  set(labels: Labels, records: number): void;
  during(work: () => Promise<void>): Promise<void>;
}

export function createUnitLag(gauge: Gauge): UnitLag {
  const told = new Map<string, Labels>();
  let here = false;
  return {
    set(labels, records) {
      // Whoever asked may get its answer after the unit has gone.
      if (!here) return;
      told.set(JSON.stringify(labels), labels);
      gauge.set(labels, records);
    },
    async during(work) {
      here = true;
      try {
        await work();
      } finally {
        here = false;
        for (const labels of told.values()) gauge.remove(labels);
        told.clear();
      }
    },
  };
}
