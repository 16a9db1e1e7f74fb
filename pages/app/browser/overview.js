// Parts of the home page that refresh themselves. Each says what it waits for; an error is shown until the next attempt succeeds.

import { get } from './api.js';
import { $, el, gain, tile, time, wallet } from './dom.js';
import { count, fromUnits, marketPath, usd } from './format.js';

const MINUTE_MS = 60_000;
/** Interval while there is no data yet. */
const WAITING_MS = 5_000;
const TOP_WALLETS = 10;
const EVENTS = 8;

const dim = (text) => el('p', { class: 'dim' }, text);

/** Small table. `columns`: `[title, class]`; `rows`: cells. */
export function smallTable(label, columns, rows) {
  const head = columns.map(([name, kind]) => el('th', { scope: 'col', class: kind }, name));
  const body = rows.map((cells) =>
    el('tr', {}, ...cells.map((cell, index) => el('td', { class: columns[index][1] }, cell))),
  );
  return el(
    'div',
    { class: 'scroll', role: 'region', tabindex: '0', 'aria-label': label },
    el('table', {}, el('thead', {}, el('tr', {}, ...head)), el('tbody', {}, ...body)),
  );
}

/** Keeps a box up to date. `load()`: resolves to its content, or null while there is no data. `waiting`: text for null. */
export function keepUpToDate({ box, load, waiting, intervalMs = MINUTE_MS }) {
  const run = async () => {
    let nextMs = intervalMs;
    if (!document.hidden || box.hasAttribute('aria-busy')) {
      try {
        const content = await load();
        box.replaceChildren(...(content ?? [dim(waiting)]));
        if (content === null) nextMs = WAITING_MS;
      } catch (error) {
        box.replaceChildren(dim(error.message));
      }
      box.removeAttribute('aria-busy');
    }
    setTimeout(() => void run(), nextMs);
  };
  void run();
}

async function totals() {
  const sums = await get('/v3/stats');
  if (sums.as_of === null) return null;
  const asOf = ['as of ', time(sums.as_of)];
  return [
    tile('Volume', usd(fromUnits(sums.total_volume)), ...asOf),
    tile('Fills of orders', count(sums.total_fills), `${count(sums.total_redemptions)} redemptions`),
    tile('Wallets', count(sums.total_wallets), `${count(Number(sums.total_positions))} positions`),
    tile('Realized profit', gain(fromUnits(sums.total_realized_pnl)), 'of all wallets, before fees'),
  ];
}

async function topWallets() {
  const { leaderboard } = await get('/v3/leaderboard', { sort: 'total', limit: TOP_WALLETS });
  if (leaderboard.length === 0) return null;
  return [
    smallTable(
      'Top wallets',
      [
        ['Rank', 'num'],
        ['Wallet', null],
        ['Profit', 'num'],
        ['Traded', 'num'],
      ],
      leaderboard.map((row) => [
        String(row.rank),
        wallet(row.wallet, true),
        gain(row.total_pnl),
        usd(row.total_volume),
      ]),
    ),
  ];
}

async function busiestEvents() {
  const { events } = await get('/v1/crypto/markets');
  const now = Date.now();
  const open = events.filter(
    ({ endDate, markets }) => markets.length > 0 && (endDate === null || Date.parse(endDate) > now),
  );
  if (open.length === 0) return null;
  return [
    smallTable(
      'Busiest crypto events',
      [
        ['Event', 'text'],
        ['Volume, 24 h', 'num'],
        ['Ends, UTC', null],
      ],
      open
        .slice(0, EVENTS)
        .map((event) => [
          el('a', { class: 'row', href: marketPath(event.markets[0].conditionId) }, event.title),
          usd(event.volume24hr),
          event.endDate === null ? '–' : time(Math.floor(Date.parse(event.endDate) / 1000)),
        ]),
    ),
  ];
}

/** Totals of the venue, top wallets and busiest events. */
export function showOverview() {
  keepUpToDate({
    box: $('tiles'),
    load: totals,
    waiting: 'Waiting for the first totals: they are computed every minute.',
  });
  keepUpToDate({
    box: $('top-wallets'),
    load: topWallets,
    waiting: 'Waiting for the first ranking: it is computed every minute.',
  });
  keepUpToDate({
    box: $('events'),
    load: busiestEvents,
    waiting: 'No open daily, weekly or monthly crypto event is in the catalogue.',
    intervalMs: 3 * MINUTE_MS,
  });
}
