import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { connectFrames } from '../support/frames.js';
import { eventually, processNames, startProduct } from '../support/product.js';
import { copyRecordingUntil } from '../support/recording-until.js';
import { median } from './measure.js';
import type { Figure } from './report/figure.js';

const RUNS = 5;
/** The history until then has twice the transactions of the recorded one (79,987), and 1.99 times its logs (245,472). */
const TWICE_UNTIL_S = 1_774_280_341;

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

async function measureOnce(env: Readonly<Record<string, string>>): Promise<Start> {
  const started = performance.now();
  const seconds = () => (performance.now() - started) / 1000;
  const product = await startProduct({ env: { LOG_LEVEL: 'warn', ...env } });
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

async function measure(env: Readonly<Record<string, string>>): Promise<readonly Start[]> {
  const starts: Start[] = [];
  for (let n = 0; n < RUNS; n++) starts.push(await measureOnce(env));
  return starts;
}

function report(starts: readonly Start[], title: string): void {
  const of = (value: (start: Start) => number) => median(starts.map(value));
  console.log(`| ${title}, median of ${RUNS} starts without data | value |\n|---|---|`);
  console.log(`| start to first live frame | ${of(({ firstFrameS }) => firstFrameS).toFixed(1)} s (goal 20 s) |`);
  console.log(`| start to whole history in the tables | ${of(({ historyS }) => historyS).toFixed(1)} s |`);
  console.log(`| fills in the tables at that time | ${of(({ fills }) => fills).toLocaleString('en-US')} |`);
  for (const name of processNames) {
    const peaks = starts.flatMap((start) => start.memory[name] ?? []);
    console.log(
      `| peak resident memory, ${name} | ${peaks.length === 0 ? 'unknown' : `${Math.max(...peaks)} MB`} (goal < 700 MB) |`,
    );
  }
}

/**
 * Time from the start of a built clone without data to the first live frame and to the whole history in the tables, and peak memory per process, with
 * the recorded history and with one of twice the transactions.
 */
export async function run(): Promise<readonly Figure[]> {
  const folder = mkdtempSync(join(tmpdir(), 'oddstream-startup-'));
  try {
    copyRecordingUntil(folder, TWICE_UNTIL_S);
    const once = await measure({});
    report(once, 'recorded history');
    const twice = await measure({ RECORDED_DIR: folder });
    report(twice, 'twice the history');
    const figure = (name: string, unit: string, of: (start: Start) => number | null): Figure[] => {
      const values = once.flatMap((start) => of(start) ?? []);
      if (values.length === 0) return [];
      const doubled = twice.flatMap((start) => of(start) ?? []);
      return [
        { name, unit, better: 'less', values, twice: { work: 'twice the history', values: doubled, whole: true } },
      ];
    };
    return [
      ...figure('start to the first live frame', 's', ({ firstFrameS }) => firstFrameS),
      ...figure('start to the whole history in the tables', 's', ({ historyS }) => historyS),
      ...processNames.flatMap((name) =>
        figure(`peak resident memory, ${name}`, 'MB', ({ memory }) => memory[name] ?? null),
      ),
    ];
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
