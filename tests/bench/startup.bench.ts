import { readFileSync } from 'node:fs';
import { connectFrames } from '../support/frames.js';
import { eventually, processNames, startProduct } from '../support/product.js';
import { median } from './measure.js';
import type { Figure } from './report/figure.js';

const RUNS = 5;

/** Peak resident memory of a process, in MB; null without /proc. */
function peakMb(pid: number | null): number | null {
  if (pid === null) return null;
  try {
    const line = readFileSync(`/proc/${pid}/status`, 'utf8').match(/VmHWM:\s+(\d+) kB/);
    return line === null ? null : Math.round(Number(line[1]) / 1024);
  } catch {
    return null;
  }
}

interface Start {
  readonly firstFrameS: number;
  readonly historyS: number;
  readonly fills: number;
  readonly memory: Readonly<Record<string, number | null>>;
}

async function measureOnce(): Promise<Start> {
  const started = performance.now();
  const seconds = () => (performance.now() - started) / 1000;
  const product = await startProduct({ env: { LOG_LEVEL: 'warn' } });
  try {
    const client = await eventually('the socket', async () => connectFrames(`${product.socket}?key=${product.key()}`));
    client.send({ action: 'subscribe', type: 'trades', filters: { snapshot_count: 0 } });
    await client.until((frame) => ['settlement', 'trade', 'status_update'].includes(frame.type), 60_000);
    const firstFrameS = seconds();
    client.close();
    await eventually('all tables to be complete', async () => (await product.readyz('api')).ready, 240_000);
    const historyS = seconds();
    const [row] = await product.sql<{ n: string }>('SELECT count() AS n FROM fills');
    const fills = Number(row?.n);
    const memory = Object.fromEntries(processNames.map((name) => [name, peakMb(product.pid(name))]));
    return { firstFrameS, historyS, fills, memory };
  } finally {
    await product.dispose();
  }
}

/** Time from the start of a built clone without data to the first live frame and to the whole history in the tables; peak memory per process. */
export async function run(): Promise<readonly Figure[]> {
  const starts: Start[] = [];
  for (let n = 0; n < RUNS; n++) starts.push(await measureOnce());
  const firstFrame = median(starts.map((start) => start.firstFrameS));
  const history = median(starts.map((start) => start.historyS));
  const fills = median(starts.map((start) => start.fills));
  console.log(`| figure (median of ${RUNS} starts without data) | value |\n|---|---|`);
  console.log(`| start to first live frame | ${firstFrame.toFixed(1)} s (goal 20 s) |`);
  console.log(`| start to whole history in the tables | ${history.toFixed(1)} s |`);
  console.log(`| fills in the tables at that time | ${fills.toLocaleString('en-US')} |`);
  for (const name of processNames) {
    const peaks = starts.flatMap((start) => start.memory[name] ?? []);
    console.log(
      `| peak resident memory, ${name} | ${peaks.length === 0 ? 'unknown' : `${Math.max(...peaks)} MB`} (goal < 700 MB) |`,
    );
  }
  const figure = (name: string, unit: string, values: readonly number[]): Figure => ({
    name,
    unit,
    better: 'less',
    values,
  });
  return [
    figure(
      'start to the first live frame',
      's',
      starts.map((start) => start.firstFrameS),
    ),
    figure(
      'start to the whole history in the tables',
      's',
      starts.map((start) => start.historyS),
    ),
    ...processNames.flatMap((name) => {
      const peaks = starts.flatMap((start) => start.memory[name] ?? []);
      return peaks.length === 0 ? [] : [figure(`peak resident memory, ${name}`, 'MB', peaks)];
    }),
  ];
}
