import type { Logger } from './logger.js';
import type { Metrics } from './metrics.js';

/** Receives every record that a reader skipped because it cannot be decoded. */
export type OnUnreadable = (position: { readonly topic: string; readonly offset: number }, reason: string) => void;

/**
 * Counts records that cannot be decoded (`unreadable_records_total` by topic) and logs them. A reader that builds state from a topic skips
 * such a record: one bad record must not keep a process down for as long as the topic retains it.
 */
export function createOnUnreadable(deps: { metrics: Metrics; logger: Logger }): OnUnreadable {
  const counter = deps.metrics.counter('unreadable_records_total', 'Records of the log that a reader skipped', [
    'topic',
  ]);
  return ({ topic, offset }, reason) => {
    counter.inc({ topic });
    deps.logger.warn({ topic, offset, reason }, 'skipped an unreadable record');
  };
}
