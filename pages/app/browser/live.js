// New trades from the event socket, through the console's client.

import { openStream } from '/console/stream.js';
import { currentKey, socketUrl } from './api.js';
import { $ } from './dom.js';

/** Number of recent trades to show first: the API's lists contain final trades only. */
const SNAPSHOT = 50;

const WORDS = {
  connecting: 'Connecting ...',
  open: 'New trades appear on top, before they are final.',
  waiting: 'Connection lost; coming back.',
  closed: '',
};

/** Button that follows trades live. `filters`: of the subscription. `onTrade(frame)`: per trade; `onRetract(frame)`: trades of these blocks are void; `onReturn()`: reloads what was missed while the page was hidden or the connection lost. */
export function createLive({ filters, onTrade, onRetract, onReturn }) {
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
        filters: { ...filters, event_types: ['trade', 'retract'], snapshot_count: SNAPSHOT },
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
          onReturn();
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
    if (value) start();
    else stream?.close();
  };
  button.hidden = false;
  button.addEventListener('click', () => {
    if (!following) onReturn();
    follow(!following);
  });
  // A hidden page closes the socket: received events are metered.
  document.addEventListener('visibilitychange', () => {
    if (!following) return;
    if (document.hidden) stream?.close();
    else if (stream === null) {
      onReturn();
      start();
    }
  });
  return { start: () => follow(true) };
}
