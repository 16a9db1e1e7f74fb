// What a preset delivers at the moment: its newest events, read over a connection of its own that is closed at once.

const LISTEN_MS = 3_000;
const WAIT_MS = 400;
const NEWEST = 20;
/** Where the server looks for the events of a snapshot. */
const SEARCHED = 'the newest 50,000 events of the stream';

const seconds = (ms) => {
  const value = Math.max(0, Math.round(ms / 1000));
  if (value < 120) return `${value} s`;
  return value < 7200 ? `${Math.round(value / 60)} min` : `${Math.round(value / 3600)} h`;
};
const timeOf = (event) => event.timestamp ?? event.timestamp_ms;

/** `12 trade, 8 settlement`: numbers of events by kind, most first; of prices by feed. */
function kindsOf(events) {
  const counts = new Map();
  for (const { type, feed } of events) counts.set(feed ?? type, (counts.get(feed ?? type) ?? 0) + 1);
  return [...counts]
    .sort(([, a], [, b]) => b - a)
    .map(([kind, number]) => `${number} ${kind}`)
    .join(', ');
}

/** Text about the events of a preset. `isSnapshot`: they are the newest ones; else those of the last seconds. */
export function presetText({ events, isSnapshot, nowMs }) {
  if (events.length === 0)
    return isSnapshot ? `Now: no event of this preset among ${SEARCHED}.` : `Now: no price in ${LISTEN_MS / 1000} s.`;
  if (!isSnapshot) return `Now, in ${LISTEN_MS / 1000} s: ${kindsOf(events)}.`;
  const times = events.map(timeOf).filter((time) => time !== undefined);
  const newest = times.length === 0 ? '' : `, the newest ${seconds(nowMs - Math.max(...times))} ago`;
  const within = times.length < 2 ? '' : `, all within ${seconds(Math.max(...times) - Math.min(...times))}`;
  return `Now: ${kindsOf(events)}${newest}${within}.`;
}

/**
 * Line about the chosen preset. `box`: its element; `url(key)`: address of the socket. `show(key, type)` replaces an earlier request; `stop()` ends it, so
 * that a plan with one connection has it free.
 */
export function createPresetLine({ box, url }) {
  let socket = null;
  let timers = [];

  const stop = () => {
    for (const timer of timers) clearTimeout(timer);
    timers = [];
    socket?.close(1000);
    socket = null;
  };
  const open = (key, type) => {
    const isSnapshot = type !== 'chainlink';
    const events = [];
    const mine = new WebSocket(url(key));
    socket = mine;
    const finish = (text) => {
      if (socket !== mine) return;
      stop();
      box.textContent = text;
    };
    const done = () => finish(presetText({ events, isSnapshot, nowMs: Date.now() }));
    /** A snapshot comes by itself, once its search has ended. */
    const late = () => {
      box.textContent = `Now: still searching ${SEARCHED} for this preset.`;
    };
    mine.onopen = () => {
      const filters = isSnapshot ? { filters: { snapshot_count: NEWEST } } : {};
      mine.send(JSON.stringify({ action: 'subscribe', type, ...filters }));
      timers.push(setTimeout(isSnapshot ? late : done, LISTEN_MS));
    };
    mine.onmessage = ({ data }) => {
      const frame = JSON.parse(data);
      if (frame.type === 'error') finish(frame.message);
      else if (frame.type === 'snapshot') {
        events.push(...frame.events);
        done();
      } else if (frame.type === 'price_feed') events.push(frame);
    };
    // Why a connection is rejected is shown when the user connects.
    mine.onclose = () => finish('');
  };

  return {
    stop,
    show(key, type) {
      stop();
      box.textContent = key === '' ? 'With a key this line shows what the preset delivers now.' : 'Now: ...';
      if (key !== '') timers.push(setTimeout(() => open(key, type), WAIT_MS));
    },
  };
}
