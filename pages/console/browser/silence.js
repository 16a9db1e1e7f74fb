// Why no event arrives on an open stream.

const AFTER_MS = 8_000;
const CHECK_MS = 1_000;
const STALE = { disconnected: 'is disconnected', no_report: 'does not run', no_events: 'is silent' };

/** What selects the events of a subscription, for a sentence. */
function selectionOf({ type, filters = {} }) {
  const names = Object.keys(filters).filter((name) => name !== 'snapshot_count');
  return names.length === 0 ? `preset ${type}` : `preset ${type} with ${names.join(', ')}`;
}

/**
 * Text for a stream without events. `message`: the subscription. `quietMs`: since the last event. `heartbeat`: the newest one, or null; `passed`: events of
 * the whole stream since the last one that matched, null if unknown.
 */
export function silenceText({ message, quietMs, heartbeat, passed }) {
  const waited = `No event for ${Math.round(quietMs / 1000)} s`;
  if (heartbeat === null) return `${waited}, and no heartbeat yet: the server has not reported its position.`;
  const stale = (heartbeat.sources ?? []).filter((source) => source.stale !== null);
  const reasons = stale.map(({ source, stale: why }) => `${source} ${STALE[why] ?? why}`);
  if (passed !== null && passed > 0)
    return `${waited}: ${passed.toLocaleString('en-US')} events passed, none matches ${selectionOf(message)}.${
      Object.keys(message.filters ?? {}).length > 0 ? ' Remove a filter to see more.' : ''
    }${reasons.length > 0 ? ` ${reasons.join(', ')}.` : ''}`;
  if (reasons.length > 0) return `${waited}: ${reasons.join(', ')}.`;
  return `${waited}: the whole stream stands still; see Status for its sources.`;
}

/** Watches a stream. `box`: element of the text. */
export function createSilence(box) {
  let message = null;
  let quietSince = 0;
  let heartbeat = null;
  let seqBefore = null;

  const check = () => {
    const quietMs = Date.now() - quietSince;
    const seq = heartbeat?.seq ?? null;
    const passed = seq === null || seqBefore === null ? null : seq - seqBefore;
    box.textContent =
      message === null || quietMs < AFTER_MS ? '' : silenceText({ message, quietMs, heartbeat, passed });
  };
  setInterval(check, CHECK_MS);

  return {
    /** A subscription was opened. */
    start(of) {
      message = of;
      quietSince = Date.now();
      heartbeat = null;
      seqBefore = null;
      check();
    },
    stop() {
      message = null;
      check();
    },
    /** `isEvent`: false for control frames. */
    add(frame, isEvent) {
      if (frame.type === 'heartbeat') {
        heartbeat = frame;
        seqBefore ??= frame.seq ?? null;
      } else if (isEvent) {
        quietSince = Date.now();
        seqBefore = frame.seq ?? seqBefore;
        check();
      }
    },
  };
}
