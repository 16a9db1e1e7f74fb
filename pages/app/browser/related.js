// The event of a market: its other markets, and its rules.

import { ApiError, get } from './api.js';
import { $, el } from './dom.js';
import { count, marketPath, outcomePrice, usd } from './format.js';

const MAX_SHOWN = 100;

const percent = (text) => (text === null || text === '' ? '–' : `${(Number(text) * 100).toFixed(1)} %`);

function table(markets) {
  const head = [
    ['Market', null],
    ['First outcome', 'num'],
    ['Volume', 'num wide'],
    ['State', 'wide'],
  ].map(([name, kind]) => el('th', { scope: 'col', class: kind }, name));
  const rows = markets.map((one) =>
    el(
      'tr',
      {},
      el(
        'td',
        { class: 'text' },
        el('a', { class: 'row', href: marketPath(one.conditionId) }, one.groupItemTitle || one.question),
      ),
      el('td', { class: 'num' }, percent(outcomePrice(one, 0))),
      el('td', { class: 'num wide' }, usd(one.volume)),
      el('td', { class: 'wide' }, one.closed ? 'closed' : one.active ? 'open' : 'not active'),
    ),
  );
  return el(
    'div',
    { class: 'scroll', role: 'region', tabindex: '0', 'aria-labelledby': 'related-title' },
    el('table', {}, el('thead', {}, el('tr', {}, ...head)), el('tbody', {}, ...rows)),
  );
}

/** The event; null if the catalogue does not list it. An error is shown in the panel. */
async function eventOf({ event_slug: slug }) {
  if (!slug) return null;
  try {
    return await get(`/v1/event/${encodeURIComponent(slug)}`);
  } catch (error) {
    if (error instanceof ApiError && error.status === 404) return null;
    $('related').replaceChildren(el('p', { class: 'dim' }, error.message));
    $('related-panel').hidden = false;
    return null;
  }
}

/** Shows the other markets of the event, largest volume first, and the rules; nothing if the catalogue does not list the event. */
export async function showRelated(market) {
  const event = await eventOf(market);
  $('related').removeAttribute('aria-busy');
  if (event === null) return;
  const others = event.markets
    .filter((one) => one.conditionId !== market.condition_id)
    .sort((a, b) => b.volume - a.volume);
  if (others.length > 0) {
    $('related-title').textContent = `Other markets of “${event.title}”`;
    const foot = others.length > MAX_SHOWN ? `The ${MAX_SHOWN} largest of ${count(others.length)}.` : '';
    $('related').replaceChildren(table(others.slice(0, MAX_SHOWN)), el('p', { class: 'foot' }, foot));
    $('related-panel').hidden = false;
  }
  if (event.description) {
    $('rules').hidden = false;
    $('rules-text').textContent = event.description;
  }
}
