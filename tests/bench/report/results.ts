import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { cpus, loadavg, totalmem } from 'node:os';
import { join } from 'node:path';
import type { BenchResult, Figure } from './figure.js';

const SETTINGS = /^(ODDSTREAM_)?BENCH_/;

function commitOf(root: string): string {
  const git = (...args: string[]) => execFileSync('git', args, { cwd: root, encoding: 'utf8' }).trim();
  try {
    const changed = git('status', '--porcelain', '--untracked-files=no', '--', '.', ':!docs') !== '';
    return `${git('rev-parse', '--short=7', 'HEAD')}${changed ? '+' : ''}`;
  } catch {
    return 'unknown';
  }
}

function machine(): string {
  const [first] = cpus();
  const memory = Math.round(totalmem() / 2 ** 30);
  return `${cpus().length} cores ${first?.model.trim() ?? ''}, ${memory} GiB, ${process.platform}, Node ${process.versions.node}`;
}

/** Runs a benchmark and stores its figures as `<folder>/<bench>.json` in place of an earlier result. */
export async function runAndStore(options: {
  readonly bench: string;
  readonly run: () => Promise<readonly Figure[]>;
  /** Folder of the results. */
  readonly folder: string;
  /** Folder of the project. */
  readonly root: string;
  readonly env: Readonly<Record<string, string | undefined>>;
}): Promise<void> {
  const { bench, run, folder, root, env } = options;
  const commit = commitOf(root);
  const date = new Date().toISOString();
  const loadBefore = loadavg()[0] ?? 0;
  const startedMs = performance.now();
  const figures = await run();
  const settings = Object.fromEntries(
    Object.entries(env).flatMap(([name, value]) => (SETTINGS.test(name) && value !== undefined ? [[name, value]] : [])),
  );
  const tookS = (performance.now() - startedMs) / 1000;
  const result: BenchResult = { bench, commit, date, machine: machine(), loadBefore, tookS, settings, figures };
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, `${bench}.json`), `${JSON.stringify(result, null, 2)}\n`);
}

/** Stored results of all benchmarks. */
export function readResults(folder: string): readonly BenchResult[] {
  if (!existsSync(folder)) return [];
  return readdirSync(folder)
    .filter((name) => name.endsWith('.json'))
    .map((name) => JSON.parse(readFileSync(join(folder, name), 'utf8')) as BenchResult);
}
