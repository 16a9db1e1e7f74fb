import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client';

export { Counter, Gauge, Histogram, type Registry } from 'prom-client';

/** One registry per process, with Node's default metrics; every metric name starts with `oddstream_`. */
export interface Metrics {
  readonly registry: Registry;
  counter(name: string, help: string, labelNames?: readonly string[]): Counter;
  gauge(name: string, help: string, labelNames?: readonly string[]): Gauge;
  histogram(name: string, help: string, buckets: readonly number[], labelNames?: readonly string[]): Histogram;
}

/** Creates a registry. A second call for the same name returns the same metric, so that modules may share one. */
export function createMetrics(options: { process: string; defaults?: boolean }): Metrics {
  const registry = new Registry();
  registry.setDefaultLabels({ process: options.process });
  // Precision in ms: at the default of 10 each process wakes up 100 times a second for this metric alone.
  if (options.defaults !== false) collectDefaultMetrics({ register: registry, eventLoopMonitoringPrecision: 100 });
  const known = <T>(name: string, create: (full: string) => T): T => {
    const full = `oddstream_${name}`;
    return (registry.getSingleMetric(full) as T | undefined) ?? create(full);
  };
  return {
    registry,
    counter: (name, help, labelNames = []) =>
      known(name, (full) => new Counter({ name: full, help, labelNames: [...labelNames], registers: [registry] })),
    gauge: (name, help, labelNames = []) =>
      known(name, (full) => new Gauge({ name: full, help, labelNames: [...labelNames], registers: [registry] })),
    histogram: (name, help, buckets, labelNames = []) =>
      known(
        name,
        (full) =>
          new Histogram({
            name: full,
            help,
            buckets: [...buckets],
            labelNames: [...labelNames],
            registers: [registry],
          }),
      ),
  };
}
