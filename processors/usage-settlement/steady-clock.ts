/** A lead of the clock over the time that has passed, below which it is believed at once. */
const BELIEVED_LEAD_MS = 3_600_000;
/** A larger lead is believed when it has lasted this long. */
const DOUBTED_MS = 600_000;

/**
 * A clock that does not follow a jump ahead for its first ten minutes: expired packages do not come back when the system's clock is corrected. `nowMs`: Unix
 * ms; `monotonicMs`: no step of the system's clock moves it.
 */
export function createSteadyClock(nowMs: () => number, monotonicMs: () => number): () => number {
  let lead = nowMs() - monotonicMs();
  let doubtedSinceMs: number | null = null;
  return () => {
    const [wallMs, passedMs] = [nowMs(), monotonicMs()];
    const isAhead = wallMs - passedMs - lead > BELIEVED_LEAD_MS;
    if (!isAhead) doubtedSinceMs = null;
    else {
      doubtedSinceMs ??= passedMs;
      if (passedMs - doubtedSinceMs < DOUBTED_MS) return lead + passedMs;
      doubtedSinceMs = null;
    }
    lead = wallMs - passedMs;
    return wallMs;
  };
}
