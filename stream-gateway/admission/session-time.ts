export const DAY_MS = 86_400_000;

/** A stretch of time, Unix ms; the end is not part of it. */
export interface TimeInterval {
  readonly fromMs: number;
  readonly untilMs: number;
}

/** Begin of the UTC day. */
export function startOfUtcDay(timeMs: number): number {
  return Math.floor(timeMs / DAY_MS) * DAY_MS;
}

/** The same time without overlaps, in order, none of it empty. */
export function mergeIntervals(intervals: readonly TimeInterval[]): TimeInterval[] {
  const united: { fromMs: number; untilMs: number }[] = [];
  for (const { fromMs, untilMs } of [...intervals].sort((a, b) => a.fromMs - b.fromMs)) {
    if (untilMs <= fromMs) continue;
    const last = united.at(-1);
    if (last !== undefined && fromMs <= last.untilMs) last.untilMs = Math.max(last.untilMs, untilMs);
    else united.push({ fromMs, untilMs });
  }
  return united;
}

/** Milliseconds of the UTC day that begins at `dayMs` that lie in at least one stretch. */
export function durationInDayMs(dayMs: number, intervals: readonly TimeInterval[]): number {
  let total = 0;
  for (const { fromMs, untilMs } of mergeIntervals(intervals))
    total += Math.max(0, Math.min(untilMs, dayMs + DAY_MS) - Math.max(fromMs, dayMs));
  return total;
}
