import type { Gauge } from '../../infra/telemetry/metrics.js';

type Labels = Readonly<Record<string, string>>;

/** How far behind a unit is, told only while it runs here: another process may have it the next moment, and tells of it then. */
export interface TaskLag {
  set(labels: Labels, records: number): void;
  during(work: () => Promise<void>): Promise<void>;
}

export function createTaskLag(gauge: Gauge): TaskLag {
  const reported = new Map<string, Labels>();
  let running = false;
  return {
    set(labels, records) {
      // Whoever asked may get its answer after the unit has gone.
      if (!running) return;
      reported.set(JSON.stringify(labels), labels);
      gauge.set(labels, records);
    },
    async during(work) {
      running = true;
      try {
        await work();
      } finally {
        running = false;
        for (const labels of reported.values()) gauge.remove(labels);
        reported.clear();
      }
    },
  };
}
