import { processNames, startProduct, untilLoaded } from '../support/product.js';
import { type ProcessUsage, slopeOf, usageOf } from './process-usage.js';
import type { Figure } from './report/figure.js';

/** Measured minutes after the product is ready; the goals are for 120. */
const MINUTES = Number(process.env.ODDSTREAM_BENCH_MINUTES ?? 10);
const SAMPLE_MS = 10_000;
const GOAL_CPU_PERCENT = 8;
const GOAL_PSS_MIB = 1024;

const sleep = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

/** What the product costs without clients, while it follows the recorded live tail: CPU and memory per process. */
export async function run(): Promise<readonly Figure[]> {
  const product = await startProduct({ env: { LOG_LEVEL: 'warn' } });
  try {
    await untilLoaded(product, 600_000);
    const pids = {
      ...Object.fromEntries(processNames.map((name) => [name, product.pid(name)])),
      supervisor: product.supervisorPid,
    };
    const samples = new Map<string, ProcessUsage[]>(Object.keys(pids).map((name) => [name, []]));
    const steps = Math.max(2, Math.round((MINUTES * 60_000) / SAMPLE_MS));
    for (let step = 0; step <= steps; step++) {
      if (step > 0) await sleep(SAMPLE_MS);
      for (const [name, pid] of Object.entries(pids)) {
        const usage = pid === null ? null : usageOf(pid);
        if (usage === null) throw new Error(`${name} has ended`);
        samples.get(name)?.push(usage);
      }
    }
    report(samples);
    return figuresOf(samples);
  } finally {
    await product.dispose();
  }
}

/** Per process the processor time of each minute and the memory of each sample. */
function figuresOf(samples: ReadonlyMap<string, readonly ProcessUsage[]>): Figure[] {
  const stepsPerMinute = 60_000 / SAMPLE_MS;
  return [...samples].flatMap(([name, usages]): Figure[] => {
    const minutes = Math.max(1, Math.floor((usages.length - 1) / stepsPerMinute));
    const step = Math.min(stepsPerMinute, usages.length - 1);
    const cpu = Array.from({ length: minutes }, (_, minute) => {
      const [from, to] = [usages[minute * step], usages[(minute + 1) * step]];
      return (100 * ((to?.cpuMs ?? 0) - (from?.cpuMs ?? 0))) / (step * SAMPLE_MS);
    });
    return [
      { name: `${name}, processor`, unit: '% of a core', better: 'less', values: cpu },
      { name: `${name}, memory (PSS)`, unit: 'MiB', better: 'less', values: usages.map(({ pssMiB }) => pssMiB) },
    ];
  });
}

function report(samples: ReadonlyMap<string, readonly ProcessUsage[]>): void {
  const total = Array.from({ length: [...samples.values()][0]?.length ?? 0 }, (_, step) => ({
    cpuMs: [...samples.values()].reduce((sum, usages) => sum + (usages[step]?.cpuMs ?? 0), 0),
    pssMiB: [...samples.values()].reduce((sum, usages) => sum + (usages[step]?.pssMiB ?? 0), 0),
  }));
  console.log(`Without clients, ${MINUTES} minutes after the start was complete; a core is 100 %.\n`);
  console.log(
    '| process | CPU first half % | CPU second half % | PSS start MiB | middle | end | slope in the second half MiB/min |\n|---|---|---|---|---|---|---|',
  );
  for (const [name, usages] of [...samples, ['total', total] as const]) console.log(row(name, usages));
  console.log(
    `\nGoals: at most ${GOAL_CPU_PERCENT} % of a core on average, at most ${GOAL_PSS_MIB} MiB in total, no slope.`,
  );
}

function row(name: string, usages: readonly Omit<ProcessUsage, 'anonymousMiB'>[]): string {
  const middle = Math.floor(usages.length / 2);
  const percent = (from: number, to: number) =>
    ((100 * ((usages[to]?.cpuMs ?? 0) - (usages[from]?.cpuMs ?? 0))) / ((to - from) * SAMPLE_MS)).toFixed(1);
  const memory = (step: number) => usages[step]?.pssMiB.toFixed(0);
  const slope = slopeOf(usages.slice(middle).map(({ pssMiB }) => pssMiB)) * (60_000 / SAMPLE_MS);
  const last = usages.length - 1;
  return `| ${name} | ${percent(0, middle)} | ${percent(middle, last)} | ${memory(0)} | ${memory(middle)} | ${memory(last)} | ${slope.toFixed(2)} |`;
}
