// Progress while the service loads its history; shows the view as soon as its tables have rows.

import { $, el } from './dom.js';

const POLL_INTERVAL_MS = 2_000;
const NAMES = {
  fills: 'Trades',
  chain: 'Blocks and resolutions',
  wallet_events: 'Wallet events',
  oracle: 'Oracle prices',
  catalog: 'Markets',
  positions: 'Positions',
  pnl: 'Profits and losses',
  wallet_activity: 'Wallet activity',
  leaderboards: 'Leaderboards',
};

/** Response of /readyz; null without a response or without table states. */
async function readStatus() {
  try {
    const body = await (await fetch('/readyz', { cache: 'no-store' })).json();
    return typeof body.history_loaded === 'boolean' ? body : null;
  } catch {
    return null;
  }
}

const bar = (percent, label) => el('progress', { max: 100, value: percent, 'aria-label': label });

function row({ table, state, percent, complete_through: through }) {
  const isDone = state === 'loaded' || state === 'lagging';
  const words = isDone ? 'loaded' : percent === null ? 'loading' : `${percent} %`;
  const name = NAMES[table] ?? table;
  const until =
    isDone || through === null
      ? null
      : el('small', {}, `complete through ${through.slice(0, 16).replace('T', ' ')} UTC`);
  return el(
    'li',
    {},
    el('span', {}, name, until),
    bar(isDone ? 100 : percent, name),
    el('span', { class: 'part' }, words),
  );
}

/** Percentage over all tables, rounded down. */
const totalPercent = (tables) =>
  Math.floor(
    tables.reduce((sum, { state, percent }) => sum + (state === 'loaded' ? 100 : (percent ?? 0)), 0) /
      Math.max(1, tables.length),
  );

/** True if there are rows to show, possibly without titles and prices. */
const isUsable = (tables) =>
  tables.length > 0 && tables.every(({ table, state }) => state !== 'empty' || !['fills', 'positions'].includes(table));

function draw(box, tables) {
  const percent = totalPercent(tables);
  box.replaceChildren(
    el('p', {}, el('b', {}, `The history is loading: ${percent} %`)),
    bar(percent, 'The history'),
    el(
      'p',
      { class: 'hint' },
      isUsable(tables)
        ? 'The loaded part is shown below. The page updates automatically.'
        : 'The page continues automatically as soon as data is available.',
    ),
    el('details', {}, el('summary', {}, 'By table'), el('ul', {}, ...tables.map(row))),
  );
}

/** Calls `start` as soon as there is data to show. Shows the progress while the history loads, and reloads the page once it is loaded. */
export async function whenLoaded(start) {
  const box = $('loading');
  let hasStarted = false;
  const startOnce = () => {
    if (hasStarted) return;
    hasStarted = true;
    $('view').hidden = false;
    void start();
  };
  for (;;) {
    const body = await readStatus();
    // Without a response the view itself shows what is wrong.
    if (body === null && box.hidden) return startOnce();
    if (body?.history_loaded === true) {
      box.hidden = true;
      if (hasStarted) location.reload();
      return startOnce();
    }
    if (body !== null) {
      const isOpen = box.querySelector('details')?.open ?? true;
      draw(box, body.tables);
      box.querySelector('details').open = isOpen;
      box.hidden = false;
      if (isUsable(body.tables)) startOnce();
      else if (!hasStarted) $('view').hidden = true;
    }
    await new Promise((resolve) => setTimeout(resolve, POLL_INTERVAL_MS));
  }
}
