// Line that tells how far the stream has been read and whether its sources are current, from the heartbeats.

const REASONS = { disconnected: 'disconnected', no_report: 'not running', no_events: 'silent' };

function age(ms) {
  const seconds = Math.max(0, Math.round(ms / 1000));
  if (seconds < 120) return `${seconds} s`;
  return seconds < 7200 ? `${Math.round(seconds / 60)} min` : `${Math.round(seconds / 3600)} h`;
}

/** Text about one source of a heartbeat. `nowMs`: the server's time. */
function describe({ source, last_event_ms: lastMs, stale, stale_since_ms: sinceMs }, nowMs) {
  const last = lastMs === null ? 'no event yet' : `last event ${age(nowMs - lastMs)} ago`;
  if (stale === null) return `${source}: ${last}`;
  return `${source}: ${REASONS[stale] ?? stale}${sinceMs === null ? '' : ` for ${age(nowMs - sinceMs)}`}, ${last}`;
}

/** `box`: element of the line. */
export function createPositionLine(box) {
  return {
    /** Shows a heartbeat; other frames are ignored. */
    add(frame) {
      if (frame.type !== 'heartbeat') return;
      const sources = frame.sources ?? [];
      const position = frame.seq === undefined ? [] : [`Read up to seq ${frame.seq.toLocaleString('en-US')}`];
      box.textContent = [...position, ...sources.map((source) => describe(source, frame.ts))].join(' · ');
      box.classList.toggle(
        'error',
        sources.some(({ stale }) => stale !== null),
      );
    },
    clear() {
      box.textContent = '';
      box.classList.remove('error');
    },
  };
}
