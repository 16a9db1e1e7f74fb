// Parts of the home page that refresh themselves. Each says what it waits for; an error is shown until the next attempt succeeds.

import { get } from './api.js';
import { $, el, gain, tile, time, wallet } from './dom.js';
import { count, fromUnits, marketPath, usd } from './format.js';

const MINUTE_MS = 60_000;
/** Interval while there is no data yet. */
const WAITING_MS = 5_000;
/** Interval after an error that may pass. */
const RETRY_MS = 10_000;
export const TOP_WALLETS = 10;
export const MARKETS = 8;

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

/** Keeps a box up to date. `load()`: resolves to its content, or null while there is no data. `waiting`: text for null. `note(text)`: how a text is shown. */
function keepUpToDate({ box, load, waiting, note = dim }) {
  const run = async () => {
    let nextMs = MINUTE_MS;
    if (!document.hidden || box.hasAttribute('aria-busy')) {
      try {
        const content = await load();
        box.replaceChildren(...(content ?? [note(waiting)]));
        if (content === null) nextMs = WAITING_MS;
      } catch (error) {
        box.replaceChildren(note(error.message));
        if (error.status === 0 || error.status === 429 || error.status >= 500) nextMs = RETRY_MS;
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
  const { leaderboard } = await get('/v3/leaderboard/day', { limit: TOP_WALLETS });
  if (leaderboard.length === 0) return null;
  return [
    smallTable(
      'Top wallets',
      [
        ['Rank', 'num'],
        ['Wallet', null],
        ['Traded, 24 h', 'num'],
        ['Matches', 'num'],
      ],
      leaderboard.map((row) => [
        String(row.rank),
        wallet(row.wallet, true),
        usd(row.volume_24h),
        count(row.matches_24h),
      ]),
    ),
  ];
}

const link = (market) => el('a', { class: 'row', href: marketPath(market.condition_id) }, market.question);

async function trending() {
  const { data } = await get('/v3/markets/trending', { limit: MARKETS });
  if (data.length === 0) return null;
  return [
    smallTable(
      'Markets by volume of the last 24 hours',
      [
        ['Market', 'text'],
        ['Volume, 24 h', 'num'],
        ['Matches', 'num'],
      ],
      data.map((market) => [link(market), usd(market.volume_24h), count(market.matches_24h)]),
    ),
  ];
}

async function endingSoon() {
  const { data } = await get('/v3/markets/ending', { limit: MARKETS });
  if (data.length === 0) return null;
  return [
    smallTable(
      'Markets that end soon',
      [
        ['Market', 'text'],
        ['Ends, UTC', null],
        ['Volume', 'num'],
      ],
      data.map((market) => [
        link(market),
        time(Date.parse(`${market.end_date.slice(0, 19).replace(' ', 'T')}Z`) / 1000),
        usd(Number(market.volume_all_time)),
      ]),
    ),
  ];
}

/** Totals of the venue, top wallets of the day, trending markets and those that end soon. */
export function showOverview() {
  keepUpToDate({
    box: $('tiles'),
    load: totals,
    waiting: 'waiting for the first totals, which are computed every minute',
    note: (text) => tile('Totals', '–', text),
  });
  keepUpToDate({
    box: $('top-wallets'),
    load: topWallets,
    waiting: 'Waiting for trades: none in the last 24 hours.',
  });
  keepUpToDate({
    box: $('trending'),
    load: trending,
    waiting: 'Waiting for trades: none in the last 24 hours.',
  });
  keepUpToDate({
    box: $('ending'),
    load: endingSoon,
    waiting:
      'Besides windows of 5 and 15 minutes no open market of the catalogue ends within a week. The page keeps looking.',
  });
}
