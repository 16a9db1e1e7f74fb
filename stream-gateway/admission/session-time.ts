export const DAY_MS = 86_400_000;

/** Half-open interval [fromMs, untilMs), Unix ms. */
export interface TimeInterval {
  readonly fromMs: number;
  readonly untilMs: number;
}

/** Unix ms of the UTC midnight at or before `timeMs`. */
export function startOfUtcDay(timeMs: number): number {
  return Math.floor(timeMs / DAY_MS) * DAY_MS;
}

/** The union of the intervals as sorted, non-empty intervals that do not overlap. */
export function mergeIntervals(intervals: readonly TimeInterval[]): TimeInterval[] {
  const merged: { fromMs: number; untilMs: number }[] = [];
  for (const { fromMs, untilMs } of [...intervals].sort((a, b) => a.fromMs - b.fromMs)) {
    if (untilMs <= fromMs) continue;
    const last = merged.at(-1);
    if (last !== undefined && fromMs <= last.untilMs) last.untilMs = Math.max(last.untilMs, untilMs);
    else merged.push({ fromMs, untilMs });
  }
  return merged;
}

/** Milliseconds of the UTC day starting at `dayMs` that at least one interval covers. */
export function durationInDayMs(dayMs: number, intervals: readonly TimeInterval[]): number {
  let total = 0;
  for (const { fromMs, untilMs } of mergeIntervals(intervals))
    total += Math.max(0, Math.min(untilMs, dayMs + DAY_MS) - Math.max(fromMs, dayMs));
  return total;
}
