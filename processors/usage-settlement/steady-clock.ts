/** A jump of the clock forward beyond the time that has passed, below which it is followed at once. */
const FOLLOWED_JUMP_MS = 3_600_000;
/** A larger jump is followed when it has lasted this long. */
const DOUBTED_MS = 600_000;

/**
 * A clock that does not follow a jump forward for its first ten minutes: an expiry of packages is not undone when the system's clock is corrected. `nowMs`:
 * Unix ms; `monotonicMs`: no step of the system's clock moves it.
 */
export function createSteadyClock(nowMs: () => number, monotonicMs: () => number): () => number {
  let offsetMs = nowMs() - monotonicMs();
  let doubtedSinceMs: number | null = null;
  return () => {
    const [wallMs, passedMs] = [nowMs(), monotonicMs()];
    const hasJumped = wallMs - passedMs - offsetMs > FOLLOWED_JUMP_MS;
    if (!hasJumped) doubtedSinceMs = null;
    else {
      doubtedSinceMs ??= passedMs;
      if (passedMs - doubtedSinceMs < DOUBTED_MS) return offsetMs + passedMs;
      doubtedSinceMs = null;
    }
    offsetMs = wallMs - passedMs;
    return wallMs;
  };
}
