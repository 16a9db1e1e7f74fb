import { readFileSync } from 'node:fs';

/** CPU time and memory of one process, from /proc. */
export interface ProcessUsage {
  readonly cpuMs: number;
  /** Proportional set size in MiB: pages shared by several processes are divided among them, so that the sum over processes is right. */
  readonly pssMiB: number;
  /** Part of it that is not pages of files, which the kernel can take back: heaps and stacks. */
  readonly anonymousMiB: number;
}

/** USER_HZ of every Linux that Node runs on. */
const TICKS_PER_S = 100;

/** Null when the process has ended or the system has no /proc. */
export function usageOf(pid: number): ProcessUsage | null {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    // The command in parentheses may contain spaces; utime and stime are fields 14 and 15.
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    const ticks = Number(fields[11]) + Number(fields[12]);
    const rollup = readFileSync(`/proc/${pid}/smaps_rollup`, 'utf8');
    const mib = (name: string) => Number(rollup.match(new RegExp(`^${name}:\\s+(\\d+) kB`, 'm'))?.[1]) / 1024;
    return { cpuMs: (ticks * 1000) / TICKS_PER_S, pssMiB: mib('Pss'), anonymousMiB: mib('Pss_Anon') };
  } catch {
    return null;
  }
}

/** Least-squares slope of evenly spaced values, per step. */
export function slopeOf(values: readonly number[]): number {
  const meanX = (values.length - 1) / 2;
  const meanY = values.reduce((sum, value) => sum + value, 0) / values.length;
  let above = 0;
  let below = 0;
  for (const [x, value] of values.entries()) {
    above += (x - meanX) * (value - meanY);
    below += (x - meanX) ** 2;
  }
  return below === 0 ? 0 : above / below;
}
