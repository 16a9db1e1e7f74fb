/** Up to so many tokens, all books are one batch. */
const ONE_BATCH_TOKENS = 100;
const BATCH_TOKENS = 50;
const BATCH_INTERVAL_MS = 200;

/** Sends the books of a subscription, or of a resync, in batches. */
export interface SnapshotJob {
  cancel(): void;
}

/**
 * Calls `send` with up to 100 tokens at once, or with 50 every 200 ms while the client reads, then `done`. The first batch is sent synchronously.
 */
export function startSnapshotJob(deps: {
  tokenIds: readonly string[];
  send: (tokenIds: readonly string[]) => void;
  done: () => void;
  /** True while the client has not read what was sent before. */
  paused: () => boolean;
}): SnapshotJob {
  const { tokenIds } = deps;
  const size = tokenIds.length <= ONE_BATCH_TOKENS ? ONE_BATCH_TOKENS : BATCH_TOKENS;
  let next = 0;
  let timer: NodeJS.Timeout | undefined;
  const step = () => {
    timer = undefined;
    if (!deps.paused()) {
      const batch = tokenIds.slice(next, next + size);
      next += size;
      if (batch.length > 0) deps.send(batch);
      if (next >= tokenIds.length) {
        deps.done();
        return;
      }
    }
    timer = setTimeout(step, BATCH_INTERVAL_MS);
  };
  step();
  return { cancel: () => clearTimeout(timer) };
}
