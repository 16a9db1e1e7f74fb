// Current 5-minute up-or-down markets: time left, price to beat, price now, probability of Up.

import { get } from './api.js';
import { $, el, gain } from './dom.js';
import { marketPath, outcomePrice, usd } from './format.js';
import { smallTable } from './overview.js';

const LENGTH_S = 300;
/** Probabilities are requested again this often; prices come from the event socket. */
const REFRESH_MS = 30_000;
const RETRY_MS = 5_000;
/** The first price of a window comes in its first seconds; a feed without prices is not requested often. */
const YOUNG_S = 20;

const COLUMNS = [
  ['Coin', null],
  ['Up', 'num'],
  ['Price to beat', 'num'],
  ['Price', 'num'],
  ['Difference', 'num wide'],
  ['Ends in', 'num'],
];

const left = (seconds) =>
  seconds <= 0 ? 'ended' : `${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, '0')}`;

export function createWindows() {
  const box = $('windows');
  /** slug -> `{ coin, slug, up, beat, cells }`. */
  let rows = new Map();
  let startS = 0;
  /** Unix ms from which the end of the window may start another request: the clocks can differ. */
  let reloadableMs = 0;
  /** coin -> price now. */
  const prices = new Map();
  /** Whether prices come from the event socket; else they are requested with the probabilities. */
  let live = true;
  const hint = el('p', { class: 'dim', hidden: true });
  box.after(hint);

  const show = (row) => {
    const now = prices.get(row.coin) ?? null;
    row.cells.beat.textContent = row.beat === null ? 'not known yet' : usd(row.beat);
    row.cells.price.textContent = now === null ? '–' : usd(now);
    row.cells.difference.replaceChildren(now === null || row.beat === null ? '–' : gain(now - row.beat));
    row.cells.up.textContent = row.up === null ? '–' : `${(row.up * 100).toFixed(0)} %`;
  };
  const tick = () => {
    const seconds = startS + LENGTH_S - Math.floor(Date.now() / 1000);
    for (const row of rows.values()) row.cells.left.textContent = left(seconds);
    if (seconds > -2 || startS === 0 || Date.now() < reloadableMs) return;
    reloadableMs = Date.now() + RETRY_MS;
    void load();
  };
  /** Requests the prices to beat that are not known yet, and all prices while the event socket sends none. */
  const readPrices = async () => {
    await Promise.all(
      [...rows.values()]
        .filter(({ beat }) => beat === null || !live)
        .map(async (row) => {
          const pair = await get('/v1/crypto/price', { symbol: row.coin, window: startS }).catch(() => null);
          row.beat = pair?.openPrice ?? row.beat;
          if ((!live || !prices.has(row.coin)) && pair?.closePrice != null) prices.set(row.coin, pair.closePrice);
          show(row);
        }),
    );
  };

  const draw = (markets) => {
    rows = new Map();
    for (const {
      slug,
      markets: [market],
    } of markets) {
      const coin = slug.split('-')[0].toUpperCase();
      const cells = Object.fromEntries(['up', 'beat', 'price', 'difference', 'left'].map((name) => [name, el('span')]));
      rows.set(slug, { coin, slug, up: market === undefined ? null : outcomePrice(market, 0), beat: null, cells });
    }
    box.replaceChildren(
      rows.size === 0
        ? el('p', { class: 'dim' }, 'Waiting for the catalogue: it does not list the current windows yet.')
        : smallTable(
            'Current 5-minute windows',
            COLUMNS,
            [...rows.values()].map(({ coin, slug, cells }) => [
              el('a', { class: 'row', href: marketPath(slug) }, coin),
              ...[cells.up, cells.beat, cells.price, cells.difference, cells.left],
            ]),
          ),
    );
    for (const row of rows.values()) show(row);
  };

  const load = async () => {
    let nextMs = REFRESH_MS;
    try {
      const { markets, windowStart } = await get('/v1/crypto/active');
      const isSame = windowStart === startS && markets.length === rows.size;
      startS = windowStart;
      if (!isSame) draw(markets);
      for (const {
        slug,
        markets: [market],
      } of markets) {
        const row = rows.get(slug);
        if (row === undefined) continue;
        row.up = market === undefined ? null : outcomePrice(market, 0);
        show(row);
      }
      tick();
      await readPrices();
      const isYoung = Date.now() / 1000 - startS < YOUNG_S;
      if (rows.size === 0 || (isYoung && [...rows.values()].some(({ beat }) => beat === null))) nextMs = RETRY_MS;
    } catch (error) {
      if (rows.size === 0) box.replaceChildren(el('p', { class: 'dim' }, error.message));
      nextMs = RETRY_MS;
    }
    box.removeAttribute('aria-busy');
    clearTimeout(timer);
    timer = setTimeout(() => {
      if (!document.hidden) void load();
    }, nextMs);
  };
  let timer;
  setInterval(tick, 1_000);
  document.addEventListener('visibilitychange', () => {
    if (!document.hidden) void load();
  });
  void load();

  return {
    /** `isLive`: the event socket sends prices. */
    setLive(isLive) {
      if (live === isLive) return;
      live = isLive;
      hint.hidden = isLive;
      hint.textContent = isLive
        ? ''
        : `The prices are not live: the connection to the event socket is lost or rejected (those of your plan may be used up). They are requested every ${REFRESH_MS / 1000} s.`;
      if (!isLive && !document.hidden) void readPrices();
    },
    /** Takes a `price_feed` frame of the event socket. */
    onPrice({ feed, data }) {
      const coin = feed.split('/')[0];
      prices.set(coin, data.price);
      for (const row of rows.values()) if (row.coin === coin) show(row);
    },
  };
}
