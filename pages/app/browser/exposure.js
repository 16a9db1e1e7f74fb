// What the open positions of a wallet are worth, by category of their markets.

import { get, isPaidOnly, problem } from './api.js';
import { $, el, gain } from './dom.js';
import { count, fromUnits, usd } from './format.js';

const PAGE = 300;
const MAX_PAGES = 10;
/** Tags of the venue that are categories; a market has more tags, of its series and its coin. */
const CATEGORIES = new Set([
  ...['crypto', 'politics', 'sports', 'esports', 'finance', 'economy', 'tech', 'culture', 'pop-culture', 'world'],
  ...['geopolitics', 'weather', 'science', 'business', 'elections', 'mentions', 'earnings'],
]);

/** Category of a position: the first tag that is one, else its first tag. */
function categoryOf({ tag_slugs: tags }) {
  const slugs = tags ?? [];
  return slugs.find((slug) => CATEGORIES.has(slug.toLowerCase())) ?? slugs[0] ?? 'without a tag';
}

const units = (value) => BigInt(Math.round(value * 1e6));
/** Value in base units; null without a price or with unknown shares. */
const worthOf = ({ size, current_price: price, price_source: source }) =>
  size === null || source === null ? null : (units(size) * units(price)) / 1_000_000n;

/** Sums per category, largest value first. */
function sumUp(positions) {
  const sums = new Map();
  for (const position of positions) {
    const name = categoryOf(position);
    const sum = sums.get(name) ?? { name, positions: 0, unpriced: 0, value: 0n, unrealized: 0n };
    const value = worthOf(position);
    sum.positions += 1;
    if (value === null) sum.unpriced += 1;
    else sum.value += value;
    if (position.unrealized_pnl !== null) sum.unrealized += units(position.unrealized_pnl);
    sums.set(name, sum);
  }
  return [...sums.values()].sort((a, b) => (a.value === b.value ? 0 : a.value < b.value ? 1 : -1));
}

function table(sums) {
  const total = sums.reduce((sum, { value }) => sum + value, 0n);
  const share = (value) => (total === 0n ? 0 : Number((value * 1000n) / total) / 10);
  const names = ['Category', 'Positions', 'Value', 'Share', 'Unrealized'];
  const head = names.map((name, index) => el('th', { scope: 'col', class: index === 0 ? null : 'num' }, name));
  const rows = sums.map(({ name, positions, unpriced, value, unrealized }) =>
    el(
      'tr',
      {},
      el('td', {}, name),
      el(
        'td',
        { class: 'num' },
        count(positions),
        unpriced === 0 ? null : el('small', {}, `${count(unpriced)} unpriced`),
      ),
      el('td', { class: 'num' }, usd(fromUnits(value))),
      el(
        'td',
        { class: 'num' },
        el('meter', { min: 0, max: 100, value: share(value), 'aria-label': `Share of ${name}` }),
        ` ${share(value)} %`,
      ),
      el('td', { class: 'num' }, gain(fromUnits(unrealized))),
    ),
  );
  return el(
    'div',
    { class: 'scroll', role: 'region', tabindex: '0', 'aria-labelledby': 'exposure-title' },
    el('table', {}, el('thead', {}, el('tr', {}, ...head)), el('tbody', {}, ...rows)),
  );
}

/** Shows the sums of a wallet; nothing for a plan without tags. */
export async function showExposure(address) {
  const box = $('exposure');
  box.setAttribute('aria-busy', 'true');
  try {
    const positions = [];
    let cursor;
    for (let page = 0; cursor !== null && page < MAX_PAGES; page += 1) {
      const body = await get(`/v3/wallets/${address}/positions`, {
        status: 'open',
        sort: 'amount',
        limit: PAGE,
        cursor,
      });
      positions.push(...body.positions);
      cursor = body.next_cursor;
    }
    const note =
      cursor === null
        ? `${count(positions.length)} open positions at their current prices, without redeemable ones.`
        : `The ${count(positions.length)} largest open positions at their current prices, without redeemable ones.`;
    box.replaceChildren(
      ...(positions.length === 0
        ? [el('p', { class: 'dim' }, 'No open position: markets that are settled do not count.')]
        : [table(sumUp(positions)), el('p', { class: 'foot' }, note)]),
    );
  } catch (error) {
    if (isPaidOnly(error)) $('exposure-panel').hidden = true;
    else box.replaceChildren(problem(error, () => void showExposure(address)));
  }
  box.removeAttribute('aria-busy');
}
