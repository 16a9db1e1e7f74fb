// New trades from the event socket, through the console's client.

import { openStream } from '/console/stream.js';
import { currentKey, socketUrl } from './api.js';
import { $ } from './dom.js';

/** Unix ms before the trades to show first: those after the list, which contains final trades only, and those of its newest block. The server bounds it by the plan. */
const sinceOf = (row) => (row === null ? 0 : row.atS * 1000 - 1);

const WORDS = {
  connecting: 'Connecting ...',
  open: 'New trades appear on top, before they are final.',
  waiting: 'Connection lost; coming back.',
  closed: '',
};

/** Button that follows trades live. `filters`: of the subscription. `onTrade(frame)`: per trade; `onRetract(frame)`: trades of these blocks are void; `newest()`: the newest trade of the list, or null; `onReturn()`: reloads what was missed while the page was hidden or the connection lost. */
export function createLive({ filters, newest, onTrade, onRetract, onReturn }) {
  const button = $('live');
  const status = $('live-status');
  let stream = null;
  let following = false;

  const start = () => {
    stream = openStream({
      url: `${socketUrl}?${new URLSearchParams({ key: currentKey() })}`,
      message: {
        action: 'subscribe',
        type: 'trades',
        filters: { ...filters, event_types: ['trade', 'retract'], since: sinceOf(newest()) },
      },
      on: {
        bytes() {
          // The gateway counts these bytes.
        },
        frame(frame) {
          if (frame.type === 'trade') onTrade(frame);
          if (frame.type === 'retract') onRetract(frame);
          if (frame.type === 'error') status.textContent = `${frame.code}: ${frame.message}`;
        },
        missed() {
          status.textContent = WORDS.open;
          void onReturn();
        },
        state(name, detail = '') {
          status.textContent = WORDS[name];
          if (name !== 'closed') return;
          stream = null;
          if (detail === '') return;
          following = false;
          button.setAttribute('aria-pressed', 'false');
          status.textContent =
            detail === 'rejected'
              ? 'The event socket rejected the connection; the connections of your plan may be used up.'
              : detail;
        },
      },
    });
  };
  const follow = (value) => {
    following = value;
    button.setAttribute('aria-pressed', String(value));
    if (!value) stream?.close();
  };
  /** Follows from the newest trade of the reloaded list on. */
  const resume = async () => {
    status.textContent = WORDS.connecting;
    await onReturn();
    if (following && stream === null && !document.hidden) start();
  };
  button.hidden = false;
  button.addEventListener('click', () => {
    follow(!following);
    if (following) void resume();
    else status.textContent = WORDS.closed;
  });
  // A hidden page closes the socket: received events are metered.
  document.addEventListener('visibilitychange', () => {
    if (!following) return;
    if (document.hidden) stream?.close();
    else if (stream === null) void resume();
  });
  return {
    /** Follows from the newest trade of the loaded list on. */
    start() {
      follow(true);
      start();
    },
  };
}
