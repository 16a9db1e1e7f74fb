// The event socket of the home page: large trades and oracle prices over one connection, closed while the page is hidden.

import { openStream } from '/console/stream.js';
import { currentKey, socketUrl } from './api.js';

/** USD from which a trade is large. */
export const LARGE_USD = 500;
const SNAPSHOT = 20;
/** A rejected connection is tried again: the one of the key may be in use elsewhere for a while. */
const REOPEN_MS = 60_000;

/** Messages of the subscriptions. */
export const largeTrades = {
  action: 'subscribe',
  type: 'trades',
  filters: { event_types: ['trade', 'retract'], min_size: LARGE_USD, snapshot_count: SNAPSHOT },
};
export const spotPrices = { action: 'subscribe', type: 'chainlink', filters: { price_source: 'spot' } };

/** `onTrade(frame)`, `onRetract(frame)`, `onPrice(frame)`: per event. `onLive(isLive)`: the connection is open, or is lost or rejected. `onMissed()`: trades came that `onTrade` was not called for. */
export function openHomeStream({ onTrade, onRetract, onPrice, onLive, onMissed }) {
  let stream = null;
  let reopening;
  let isFirst = true;
  const open = () => {
    // The list is loaded at the time of the first one only.
    let isBehind = !isFirst;
    isFirst = false;
    stream = openStream({
      url: `${socketUrl}?${new URLSearchParams({ key: currentKey() })}`,
      message: largeTrades,
      further: [spotPrices],
      on: {
        bytes() {
          // The gateway counts these bytes.
        },
        frame(frame) {
          if (frame.type === 'trade') onTrade(frame);
          if (frame.type === 'retract') onRetract(frame);
          if (frame.type === 'price_feed') onPrice(frame);
        },
        missed: onMissed,
        state(name) {
          if (name !== 'connecting') onLive(name === 'open');
          if (name === 'open' && isBehind) {
            isBehind = false;
            onMissed();
          }
          if (name !== 'closed') return;
          stream = null;
          reopening = setTimeout(reopen, REOPEN_MS);
        },
      },
    });
  };
  const reopen = () => {
    clearTimeout(reopening);
    if (stream === null && !document.hidden) open();
  };
  document.addEventListener('visibilitychange', () => {
    if (document.hidden) stream?.close();
    else reopen();
  });
  open();
}
