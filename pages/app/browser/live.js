// New trades of a market from the event socket, with the console's client.

import { openStream } from '/console/stream.js';
import { currentKey } from './api.js';
import { $ } from './dom.js';

const { port, socket: configured } = document.body.dataset;
const socketUrl = configured || `${location.protocol === 'https:' ? 'wss' : 'ws'}://${location.hostname}:${port}/ws`;

/** Trades of the last minutes come first: the lists of the API have what is final only. */
const SNAPSHOT = 50;

const WORDS = {
  connecting: 'Connecting ...',
  open: 'New trades appear on top, before they are final.',
  waiting: 'Connection lost; coming back.',
  closed: '',
};

/** The button that follows a market live. `onTrade(frame)` per trade; what is missed while the page is hidden, `onReturn()` makes good. */
export function createLive({ condition, onTrade, onReturn }) {
  const button = $('live');
  const status = $('live-status');
  let stream = null;
  let wanted = false;

  const start = () => {
    const filters = { condition_ids: [condition], event_types: ['trade'], snapshot_count: SNAPSHOT };
    stream = openStream({
      url: `${socketUrl}?${new URLSearchParams({ key: currentKey() })}`,
      message: { action: 'subscribe', type: 'trades', filters },
      on: {
        bytes() {
          // Counted by the gateway.
        },
        frame(frame) {
          if (frame.type === 'trade') onTrade(frame);
          if (frame.type === 'error') status.textContent = `${frame.code}: ${frame.message}`;
        },
        state(name, detail = '') {
          status.textContent = WORDS[name];
          if (name !== 'closed') return;
          stream = null;
          if (detail === '') return;
          wanted = false;
          button.setAttribute('aria-pressed', 'false');
          status.textContent =
            detail === 'refused'
              ? 'The event socket does not let us in; your plan may not have a connection left.'
              : detail;
        },
      },
    });
  };
  const follow = (value) => {
    wanted = value;
    button.setAttribute('aria-pressed', String(value));
    if (value) start();
    else stream?.close();
  };
  button.hidden = false;
  button.addEventListener('click', () => {
    if (!wanted) onReturn();
    follow(!wanted);
  });
  // A hidden page reads nothing, and what it reads is metered.
  document.addEventListener('visibilitychange', () => {
    if (!wanted) return;
    if (document.hidden) stream?.close();
    else if (stream === null) {
      onReturn();
      start();
    }
  });
  return { start: () => follow(true) };
}
