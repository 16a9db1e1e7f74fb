// While the product loads its history: how far it is, and the view as soon as every table has something to show.

import { $, el } from './dom.js';

const LOOK_MS = 2_000;
const NAMES = {
  fills: 'Trades',
  chain: 'Blocks and resolutions',
  wallet_events: 'Wallet events',
  oracle: 'Oracle prices',
  catalog: 'Markets',
  positions: 'Positions',
  pnl: 'Profits and losses',
  leaderboards: 'Leaderboards',
};

/** What /readyz says of the tables; null when it does not answer or knows nothing of them. */
async function look() {
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

/** Percent of all tables together, rounded down. */
const whole = (tables) =>
  Math.floor(
    tables.reduce((sum, { state, percent }) => sum + (state === 'loaded' ? 100 : (percent ?? 0)), 0) /
      Math.max(1, tables.length),
  );

/** There is something to show, if without titles and prices. */
const isUsable = (tables) =>
  tables.length > 0 && tables.every(({ table, state }) => state !== 'empty' || !['fills', 'positions'].includes(table));

function draw(box, tables) {
  const percent = whole(tables);
  box.replaceChildren(
    el('p', {}, el('b', {}, `The history is loading: ${percent} %`)),
    bar(percent, 'The history'),
    el(
      'p',
      { class: 'hint' },
      isUsable(tables)
        ? 'What is there already is shown below and grows. The page goes on by itself.'
        : 'The page goes on by itself as soon as there is something to show.',
    ),
    el('details', {}, el('summary', {}, 'By table'), el('ul', {}, ...tables.map(row))),
  );
}

/**
 * Calls `start` when there is something to show, at once where all is loaded. While the history loads it says how far it is; once
 * loaded, a page that was begun with less is drawn anew.
 */
export async function whenLoaded(start) {
  const box = $('loading');
  let hasStarted = false;
  const begin = () => {
    if (hasStarted) return;
    hasStarted = true;
    $('view').hidden = false;
    void start();
  };
  for (;;) {
    const body = await look();
    // Without an answer the view says by itself what is wrong.
    if (body === null && box.hidden) return begin();
    if (body?.history_loaded === true) {
      box.hidden = true;
      if (hasStarted) location.reload();
      return begin();
    }
    if (body !== null) {
      const isOpen = box.querySelector('details')?.open ?? true;
      draw(box, body.tables);
      box.querySelector('details').open = isOpen;
      box.hidden = false;
      if (isUsable(body.tables)) begin();
      else if (!hasStarted) $('view').hidden = true;
    }
    await new Promise((resolve) => setTimeout(resolve, LOOK_MS));
  }
}
