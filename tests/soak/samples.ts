import { execFile } from 'node:child_process';
import { readdirSync } from 'node:fs';
import { slopeOf, usageOf } from '../bench/process-usage.js';

export interface Sample {
  readonly atMs: number;
  /** Sum over all processes of the product. */
  readonly pssMiB: number;
  readonly anonymousMiB: number;
  /** Heaps and stacks by process. */
  readonly byProcess: Readonly<Record<string, number>>;
  readonly openFiles: number;
  readonly diskMiB: number;
}

const openFilesOf = (pid: number): number => {
  try {
    return readdirSync(`/proc/${pid}/fd`).length;
  } catch {
    return 0;
  }
};

/** Size of a directory whose files may vanish meanwhile. */
const diskMiBOf = (dir: string): Promise<number> =>
  new Promise((resolve) => {
    execFile('du', ['-sk', dir], (_error, stdout) => resolve(Number.parseInt(stdout, 10) / 1024));
  });

/** Null while a process is missing: then the sum says nothing. */
export async function takeSample(
  processes: readonly (readonly [name: string, pid: number | null])[],
  dataDir: string,
): Promise<Sample | null> {
  const pids = processes.map(([, pid]) => pid);
  const usages = pids.map((pid) => (pid === null ? null : usageOf(pid)));
  const openFiles = pids.reduce<number>((sum, pid) => sum + (pid === null ? 0 : openFilesOf(pid)), 0);
  if (usages.includes(null)) return null;
  const diskMiB = await diskMiBOf(dataDir);
  const sum = (of: 'pssMiB' | 'anonymousMiB') => usages.reduce((total, usage) => total + (usage?.[of] ?? 0), 0);
  const byProcess = Object.fromEntries(processes.map(([name], n) => [name, usages[n]?.anonymousMiB ?? 0]));
  return { atMs: Date.now(), pssMiB: sum('pssMiB'), anonymousMiB: sum('anonymousMiB'), byProcess, openFiles, diskMiB };
}

/** Start, middle and end of a quantity, and its least-squares slope per minute in the second half. */
export interface Trend {
  readonly start: number;
  readonly middle: number;
  readonly end: number;
  readonly slopePerMinute: number;
}

export function trendOf(samples: readonly Sample[], of: (sample: Sample) => number): Trend {
  const half = samples.slice(Math.floor(samples.length / 2));
  const minutes = ((half.at(-1)?.atMs ?? 0) - (half[0]?.atMs ?? 0)) / 60_000;
  const perStep = slopeOf(half.map(of));
  const value = (sample: Sample | undefined) => (sample === undefined ? Number.NaN : of(sample));
  return {
    start: value(samples[0]),
    middle: value(half[0]),
    end: value(samples.at(-1)),
    slopePerMinute: minutes === 0 ? 0 : (perStep * (half.length - 1)) / minutes,
  };
}
