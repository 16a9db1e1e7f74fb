import type { Gauge } from '../../infra/telemetry/metrics.js';

type Labels = Readonly<Record<string, string>>;

/** Lag gauge of tasks, reported only while the task runs in this process: after a reassignment its new owner reports it. */
export interface TaskLag {
  set(labels: Labels, records: number): void;
  during(work: () => Promise<void>): Promise<void>;
}

export function createTaskLag(gauge: Gauge): TaskLag {
  const reported = new Map<string, Labels>();
  let running = false;
  return {
    set(labels, records) {
      // A lag request may complete after the task has stopped.
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
