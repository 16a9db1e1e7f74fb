// /app/market/{condition, token or slug}

import { ApiError, get, problem } from './api.js';
import { showAsCode } from './as-code.js';
import { createCandles } from './candles.js';
import { neighbours, showCoinPrice, upDownOf } from './coin-price.js';
import { $, choose, chosenOf, el, time, title } from './dom.js';
import { kindOf, short, usd } from './format.js';
import { createHolders } from './holders.js';
import { createLive } from './live.js';
import { marketCode } from './market-code.js';
import { createMarketTiles } from './market-tiles.js';
import { createOrderBook } from './order-book.js';
import { showRelated } from './related.js';
import { showResolution } from './resolution.js';
import { statusOf } from './search.js';
import { createTable } from './table.js';
import { fromFrame, isMatch, marketColumns, tradeKey, tradesPage, tradeTime, voidedBy } from './trades.js';

/** Fewer candles are not worth a chart. */
const FEW_CANDLES = 5;
/** Rows of a page of a list. */
const PAGE = 50;
/** The chain settles a window minutes after its end. */
const SETTLEMENT_POLL_MS = 30_000;
const SETTLEMENT_POLLS = 60;

const PATHS = {
  condition: (id) => `/v3/markets/condition/${id}`,
  token: (id) => `/v3/markets/${id}`,
  slug: (id) => `/v3/markets/slug/${encodeURIComponent(id)}`,
};

/** Market of an id; `listed`: the catalogue has it. Otherwise its outcomes are the tokens of the condition or the token itself. Throws ApiError for an unknown id. */
async function find(id) {
  const kind = kindOf(id) ?? 'slug';
  const path = PATHS[kind === 'wallet' ? 'slug' : kind](id);
  const { data } = await get(path);
  if (data.length > 0) return { ...data[0], listed: true };
  // These paths return 404 for an unknown id. That of a token has one series, without a list.
  const found = await get(`${path}/candles`, { limit: 1 });
  const tokens = (found.series ?? [found]).map(({ token_id }) => token_id);
  const isToken = found.series === undefined;
  return {
    listed: false,
    condition_id: isToken ? null : found.condition_id,
    question: `${isToken ? 'Token' : 'Market'} ${short(id)}`,
    token_ids: tokens,
    token_outcomes: tokens.map(short),
    slug: null,
  };
}

function stateOf(market) {
  if (!market.resolved) return `${statusOf(market)}${market.closed ? ', not settled on the chain yet' : ''}`;
  const winner = market.winning_outcome_index;
  if (winner === null) return 'resolved: several outcomes were paid';
  return `resolved: ${market.outcomes[winner] ?? winner}, as the chain paid`;
}

function facts(market) {
  if (!market.listed) return [el('span', {}, 'Not in the catalogue.')];
  const parts = [el('span', {}, stateOf(market))];
  const upDown = upDownOf(market.slug);
  if (upDown !== null) parts.push(...neighbours(upDown));
  if (market.end_date !== null) {
    const endS = Date.parse(`${market.end_date.slice(0, 19).replace(' ', 'T')}Z`) / 1000;
    parts.push(el('span', {}, 'ends ', time(endS)));
  }
  parts.push(
    el(
      'span',
      {},
      `volume ${usd(Number(market.volume_all_time))}, liquidity ${usd(Number(market.liquidity))} (catalogue)`,
    ),
  );
  if (market.event_title && market.event_title !== market.question) parts.push(el('span', {}, market.event_title));
  return parts;
}

function outcomeChoice(market, chosen) {
  const field = $('outcome');
  market.token_ids.forEach((token, index) => {
    const input = el('input', { type: 'radio', name: 'outcome', value: token, checked: token === chosen });
    field.append(el('label', {}, input, el('span', {}, market.token_outcomes[index] ?? short(token))));
  });
  field.hidden = market.token_ids.length < 2;
}

/** Loads the candles with the resolution of the address. Without one, a market that is too young for the default resolution is shown per minute. */
async function firstCandles(candles, market) {
  const wish = new URLSearchParams(location.search).get('resolution');
  const isResolution = [...document.querySelectorAll('input[name=resolution]')].some(({ value }) => value === wish);
  if (isResolution) choose('resolution', wish);
  const show = () => candles.show(chosenOf('outcome') ?? market.token_ids[0], chosenOf('resolution'));
  let touched = false;
  for (const name of ['outcome', 'resolution']) {
    $(name).addEventListener('change', () => {
      touched = true;
      const query = new URLSearchParams(location.search);
      query.set('resolution', chosenOf('resolution'));
      history.replaceState(history.state, '', `${location.pathname}?${query}`);
      void show();
    });
  }
  await show();
  if (isResolution || touched || candles.total === null || candles.total === 0 || candles.total >= FEW_CANDLES) return;
  choose('resolution', '1m');
  await show();
}

/** Shows how the market is settled as soon as the chain has done so. */
async function followSettlement({ condition_id: condition }, tiles) {
  let polls = 0;
  while (polls < SETTLEMENT_POLLS) {
    await new Promise((resolve) => setTimeout(resolve, SETTLEMENT_POLL_MS));
    if (document.hidden) continue;
    polls += 1;
    const market = await find(condition).catch(() => null);
    if (!market?.listed || !market.resolved) continue;
    $('facts').replaceChildren(...facts(market));
    void showResolution(market);
    void tiles.load();
    return;
  }
}

export async function showMarket(id) {
  let market;
  try {
    market = await find(id);
  } catch (error) {
    const unknown = error instanceof ApiError && (error.status === 404 || error.status === 400);
    title(unknown ? 'Unknown market' : 'Market');
    const box = problem(error, () => location.reload());
    if (unknown)
      box.append(
        el(
          'p',
          {},
          'No market found for ',
          el('code', {}, id),
          '. Search above by words, condition id, token id or slug.',
        ),
      );
    $('view').replaceChildren($('title'), box);
    return;
  }
  title(market.question);
  $('facts').replaceChildren(...facts(market));
  const first = market.token_ids.includes(id) ? id : market.token_ids[0];
  outcomeChoice(market, first);

  // The catalogue may list a market before it knows the tokens.
  const candles = first === undefined ? null : createCandles();
  if (candles === null) for (const id of ['candles-panel', 'book']) $(id).remove();
  else {
    void firstCandles(candles, market);
    createOrderBook(() => chosenOf('outcome') ?? first).start();
  }

  const filter = market.condition_id === null ? { token_id: first } : { condition_id: market.condition_id };
  showAsCode(() => marketCode({ market, filter, first, page: PAGE }));
  const holders = createHolders(market);
  void holders.reload();
  const tiles = createMarketTiles(market, { onRefresh: () => void holders.refresh() });
  void tiles.load();
  const upDown = upDownOf(market.slug);
  if (upDown === null) $('coin-panel').remove();
  else
    void showCoinPrice(upDown).then(() => {
      if (!market.resolved) void followSettlement(market, tiles);
    });
  void showRelated(market);
  if (market.listed) void showResolution(market);
  else $('resolution-panel').remove();
  const trades = createTable({
    id: 'trades',
    columns: marketColumns,
    load: (cursor) => tradesPage(get, '/v3/trades', { ...filter, matches_only: true }, cursor),
    keyOf: tradeKey,
    timeOf: tradeTime,
    empty: 'This market has no trades yet.',
  });
  await trades.reload();
  if (!market.listed) return;
  const live = createLive({
    filters: { condition_ids: [market.condition_id] },
    newest: trades.newest,
    onTrade(frame) {
      if (!isMatch(frame)) return;
      const trade = fromFrame(frame);
      trades.prepend(trade);
      tiles.onTrade(trade);
      candles?.touched();
    },
    onRetract(frame) {
      const isVoid = voidedBy(frame);
      trades.discard(isVoid);
      tiles.discard(isVoid);
    },
    onReturn: trades.reload,
  });
  if (!market.closed) live.start();
}
