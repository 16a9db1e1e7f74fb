// Prices of the outcomes and volume of a market. Prices follow the trades at once, the rest shortly after.

import { get } from './api.js';
import { $, tile, time } from './dom.js';
import { count, price, short, sourceOf, usd } from './format.js';

const REFRESH_MS = 5_000;

const secondsOf = (text) => (text === null ? null : Date.parse(`${text.replace(' ', 'T')}Z`) / 1000);

/** Tiles of a market. `onRefresh()`: called after the values were requested again because of new trades. */
export function createMarketTiles(market, { onRefresh }) {
  const nameOf = (index) => market.token_outcomes[index] ?? short(market.token_ids[index]);
  /** token -> `{ price, words, atS, block }`, block: of a trade of the event socket; or `{ error }`. */
  const prices = new Map();
  let volume = null;
  let touched = false;

  const draw = () => {
    const outcomes = market.token_ids.map((token, index) => {
      const known = prices.get(token);
      if (known === undefined || known.error !== undefined) return tile(nameOf(index), '–', known?.error ?? '');
      const when = known.atS === null ? [] : [', ', time(known.atS)];
      return tile(nameOf(index), known.price === null ? '–' : price(known.price), known.words, ...when);
    });
    $('tiles').replaceChildren(...outcomes, ...(volume === null ? [] : [volume]));
    $('tiles').removeAttribute('aria-busy');
  };

  const readPrice = async (token) => {
    try {
      const { source, price: value, updated_at: at } = await get(`/v3/markets/${token}/price`);
      const atS = secondsOf(at);
      const known = prices.get(token);
      // A trade of the event socket is newer than the tables until its block is final.
      if (source !== 'settlement' && (known?.atS ?? 0) > (atS ?? 0)) return;
      prices.set(token, { price: source === null ? null : value, words: sourceOf(source), atS });
    } catch (error) {
      if (!prices.has(token)) prices.set(token, { error: error.message });
    }
  };
  const readVolume = async () => {
    try {
      const sums = await Promise.all(market.token_ids.map((token) => get(`/v2/onchain/markets/${token}/volume`)));
      const matches = sums.reduce((sum, one) => sum + one.total_trades, 0);
      const dollars = sums.reduce((sum, one) => sum + one.volume_usdc, 0);
      volume = tile('Volume', usd(dollars), `${count(matches)} matches on the exchange`);
    } catch {
      // The price tiles show errors; without a volume its tile is left out.
      volume = null;
    }
  };
  const load = async () => {
    await Promise.all([...market.token_ids.map(readPrice), readVolume()]);
    draw();
  };
  setInterval(() => {
    if (!touched || document.hidden) return;
    touched = false;
    void load();
    onRefresh();
  }, REFRESH_MS);

  return {
    load,
    /** Shows the price of a trade of the event socket, unless the price is newer or settled. */
    onTrade({ token, price: value, atS, block }) {
      touched = true;
      const known = prices.get(token);
      if (!market.token_ids.includes(token) || (known?.atS ?? 0) > atS || known?.words === sourceOf('settlement'))
        return;
      prices.set(token, { price: value, words: 'newest trade', atS, block });
      draw();
    },
    /** Replaces prices of trades that are void by those of the API. */
    discard(isVoid) {
      const voided = [...prices].filter(([, known]) => isVoid(known));
      if (voided.length === 0) return;
      for (const [token] of voided) prices.delete(token);
      void load();
    },
  };
}
