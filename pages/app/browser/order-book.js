// Live order book of one outcome: depth chart, ladder, and how far the book can be trusted.

import { ApiError, get } from './api.js';
import { $, el, time } from './dom.js';
import { price, shares } from './format.js';

const POLL_MS = 5_000;
/** Outcomes without a book are checked rarely. */
const IDLE_POLL_MS = 30_000;
/** Levels per side in the chart, and in the ladder. */
const DEPTH = 40;
const RUNGS = 8;
const WIDTH = 600;
const HEIGHT = 160;

const SVG = 'http://www.w3.org/2000/svg';
function shape(name, attributes) {
  const element = document.createElementNS(SVG, name);
  for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, String(value));
  return element;
}

/** Levels with the shares of all levels up to theirs. */
function cumulate(levels) {
  let total = 0;
  return levels.map((level) => {
    total += Number(level.size);
    return { price: Number(level.price), size: Number(level.size), total };
  });
}

const secondsOf = (iso) => Math.floor(Date.parse(iso) / 1000);

const REASONS = {
  not_followed: 'it is no longer read',
  feed_disconnected: 'the connection to the venue is closed',
  feed_silent: 'its source does not report',
  table_behind: 'newer changes are not stored yet',
};

/** What is known of the book, most important first. */
function stateOf(book) {
  const parts = [];
  if (book.synthetic)
    parts.push(el('strong', { class: 'badge warn' }, 'Synthetic'), ' made around recorded trades, not of the venue. ');
  if (book.stale)
    parts.push(el('strong', { class: 'badge warn' }, 'Stale'), ` ${REASONS[book.stale_reason] ?? book.stale_reason}. `);
  // A synthetic book is compared with its own hash, which proves nothing about the venue.
  if (!book.synthetic) {
    const [look, word] = book.verified ? ['badge ok', 'Verified'] : ['badge warn', 'Not verified'];
    parts.push(el('strong', { class: look }, word), ' since ', time(secondsOf(book.verified_since)));
    if (!book.verified && book.reason !== null) parts.push(`: ${book.reason.replaceAll('_', ' ')}`);
    parts.push(', ');
  }
  parts.push(book.synthetic ? 'Changed ' : 'changed ', time(secondsOf(book.updated_at)));
  return parts;
}

/** Steps of one side from its best price outwards, closed along the axis. */
function area(side, x, y, edge) {
  const [first] = side;
  if (first === undefined) return '';
  let path = `M${x(first.price)},${HEIGHT}`;
  let before = 0;
  for (const level of side) {
    path += `L${x(level.price)},${y(before)}L${x(level.price)},${y(level.total)}`;
    before = level.total;
  }
  return `${path}L${x(edge)},${y(before)}L${x(edge)},${HEIGHT}Z`;
}

function chart(bids, asks) {
  const prices = [...bids, ...asks].map((level) => level.price);
  // Margins in which the outermost levels are visible.
  const margin = (Math.max(...prices) - Math.min(...prices)) / 24 || 0.005;
  const [low, high] = [Math.min(...prices) - margin, Math.max(...prices) + margin];
  const span = high - low;
  const top = Math.max(bids.at(-1)?.total ?? 0, asks.at(-1)?.total ?? 0) || 1;
  const x = (value) => (((value - low) / span) * WIDTH).toFixed(1);
  const y = (total) => (HEIGHT - (total / top) * (HEIGHT - 4)).toFixed(1);
  const svg = shape('svg', {
    viewBox: `0 0 ${WIDTH} ${HEIGHT}`,
    preserveAspectRatio: 'none',
    role: 'img',
    'aria-label': `Depth: bids of ${shares(bids.at(-1)?.total ?? 0)} shares down to ${price(bids.at(-1)?.price)}, asks of ${shares(asks.at(-1)?.total ?? 0)} shares up to ${price(asks.at(-1)?.price)}`,
  });
  svg.append(
    shape('path', { class: 'bids', d: area(bids, x, y, low) }),
    shape('path', { class: 'asks', d: area(asks, x, y, high) }),
  );
  return [
    svg,
    el(
      'p',
      { class: 'axis' },
      el('span', {}, price(Math.min(...prices))),
      el('span', {}, `up to ${shares(top)} shares`),
      el('span', {}, price(Math.max(...prices))),
    ),
  ];
}

function ladder(bids, asks, book) {
  const row = (level, word, tone) =>
    el(
      'tr',
      {},
      el('td', { class: tone }, word),
      el('td', { class: `num ${tone}` }, price(level.price)),
      el('td', { class: 'num' }, shares(level.size)),
      el('td', { class: 'num' }, shares(level.total)),
    );
  const middle =
    book.mid === null
      ? 'One side of the book is empty.'
      : `Mid ${price(Number(book.mid))}, spread ${price(Number(book.spread))}`;
  const head = el(
    'tr',
    {},
    el('th', { scope: 'col' }, 'Side'),
    ...['Price', 'Shares', 'Total'].map((name) => el('th', { scope: 'col', class: 'num' }, name)),
  );
  const table = el(
    'table',
    {},
    el('caption', { class: 'unseen' }, 'Best levels of the order book'),
    el('thead', {}, head),
    el(
      'tbody',
      {},
      ...asks
        .slice(0, RUNGS)
        .reverse()
        .map((level) => row(level, 'Ask', 'bad-number')),
      el('tr', { class: 'middle' }, el('td', { colspan: 4 }, middle)),
      ...bids.slice(0, RUNGS).map((level) => row(level, 'Bid', 'good')),
    ),
  );
  return el('div', { class: 'scroll', role: 'region', tabindex: '0', 'aria-label': 'Order book' }, table);
}

/** The panel of the order book. `tokenOf`: the chosen outcome. */
export function createOrderBook(tokenOf) {
  let timer = null;
  let run = 0;

  const show = (book) => {
    const [bids, asks] = [cumulate(book.bids), cumulate(book.asks)];
    $('book-state').replaceChildren(...stateOf(book));
    if (bids.length + asks.length === 0) {
      $('book-depth').replaceChildren();
      $('book-ladder').replaceChildren(el('p', {}, 'The order book is empty.'));
      return;
    }
    $('book-depth').replaceChildren(...chart(bids, asks));
    $('book-ladder').replaceChildren(ladder(bids, asks, book));
  };
  const clear = (text) => {
    $('book-state').replaceChildren(text);
    $('book-depth').replaceChildren();
    $('book-ladder').replaceChildren();
  };

  const poll = async () => {
    clearTimeout(timer);
    const mine = ++run;
    let nextMs = POLL_MS;
    try {
      if (document.visibilityState === 'visible') {
        const book = await get(`/v1/orderbook/${tokenOf()}`, { depth: DEPTH });
        if (mine !== run) return;
        show(book);
      }
    } catch (error) {
      if (mine !== run) return;
      nextMs = IDLE_POLL_MS;
      clear(
        error instanceof ApiError && error.status === 404
          ? 'The order book of this outcome is not read.'
          : error.message,
      );
    }
    $('book').removeAttribute('aria-busy');
    timer = setTimeout(poll, nextMs);
  };

  return {
    start() {
      $('outcome').addEventListener('change', poll);
      document.addEventListener('visibilitychange', () => {
        if (document.visibilityState === 'visible') void poll();
      });
      void poll();
    },
  };
}
