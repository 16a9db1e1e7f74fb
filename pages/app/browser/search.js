// Search field of every view: "/" focuses it, arrow keys select, Enter opens.

import { get, hasKey } from './api.js';
import { $, el } from './dom.js';
import { kindOf, marketPath, short, usd, walletPath } from './format.js';
import { isTrader } from './person.js';

const WAIT_MS = 150;
const SUGGESTED = 8;
const NAME = /^[^\s/]{3,64}$/;

/** Page of an id; null for other texts. */
function pathOf(text) {
  const kind = kindOf(text);
  if (kind === null) return null;
  return kind === 'wallet' ? walletPath(text) : marketPath(text.toLowerCase());
}

export const statusOf = (market) => {
  if (market.resolved) return 'resolved';
  return market.closed ? 'closed' : market.active ? 'open' : 'not active';
};

const marketEntry = (market) => ({
  href: marketPath(market.condition_id),
  label: market.question,
  note: `${statusOf(market)} · ${usd(Number(market.volume_all_time))}`,
});

/** Entry of an id. A market that the catalogue does not list may have trades: its page says what is known. */
async function findId(text, signal) {
  const href = pathOf(text);
  const kind = kindOf(text);
  if (kind === 'wallet') {
    // Owners are looked up at the venue, which may be unreachable.
    const known = await isTrader(text.toLowerCase(), signal).catch((error) => {
      if (error.name === 'AbortError') throw error;
      return false;
    });
    return known ? [{ href, label: short(text), note: 'wallet' }] : [];
  }
  const id = text.toLowerCase();
  const { data } = await get(kind === 'token' ? `/v3/markets/${id}` : `/v3/markets/condition/${id}`, {}, signal);
  if (data.length > 0) return data.map(marketEntry);
  const candles = await get(
    `/v3/markets/${kind === 'token' ? '' : 'condition/'}${id}/candles`,
    { limit: 1 },
    signal,
  ).catch((error) => {
    if (error.status === 404) return null;
    throw error;
  });
  return candles === null ? [] : [{ href, label: short(text), note: `market by ${kind}` }];
}

/** Entry of the wallet with a name; none if nobody has it or names cannot be looked up. */
async function findName(text, signal) {
  if (!NAME.test(text)) return [];
  try {
    const { safe } = await get(`/v1/resolve/${encodeURIComponent(text)}`, {}, signal);
    return [{ href: walletPath(safe), label: `Wallet of “${text}”`, note: short(safe) }];
  } catch (error) {
    if (error.name === 'AbortError') throw error;
    return [];
  }
}

async function findMatches(text, signal) {
  if (pathOf(text) !== null) return findId(text, signal);
  const { data } = await get('/v3/markets/search', { q: text, sort: 'current', limit: SUGGESTED }, signal);
  // A name is looked up at the venue: not for words that markets have.
  return data.length > 0 ? data.map(marketEntry) : findName(text, signal);
}

export function createSearch() {
  const input = $('q');
  const list = $('found');
  const status = $('find-status');
  let options = [];
  let active = -1;
  let pending = null;
  let timer;

  const close = () => {
    list.hidden = true;
    active = -1;
    input.setAttribute('aria-expanded', 'false');
    input.removeAttribute('aria-activedescendant');
  };
  const mark = (index) => {
    active = index;
    [...list.children].forEach((option, at) => {
      option.setAttribute('aria-selected', String(at === index));
      if (at === index) option.scrollIntoView({ block: 'nearest' });
    });
    if (index < 0) input.removeAttribute('aria-activedescendant');
    else input.setAttribute('aria-activedescendant', `found-${index}`);
  };
  const show = (entries) => {
    options = entries;
    list.replaceChildren(
      ...entries.map(({ label, note }, index) =>
        el(
          'li',
          { role: 'option', id: `found-${index}`, 'aria-selected': 'false' },
          el('div', {}, el('span', {}, label), el('span', { class: 'note' }, note)),
        ),
      ),
    );
    list.hidden = entries.length === 0;
    input.setAttribute('aria-expanded', String(entries.length > 0));
    mark(-1);
  };

  const open = (href) => {
    location.assign(href);
    close();
  };

  const search = async () => {
    pending?.abort();
    const text = input.value.trim();
    status.textContent = '';
    if (text.length < 2 || !hasKey()) {
      show([]);
      return;
    }
    pending = new AbortController();
    try {
      const entries = await findMatches(text, pending.signal);
      show(entries);
      if (entries.length > 0) status.textContent = '';
      else if (kindOf(text) === 'wallet') status.textContent = `${short(text)} has not traded. Enter opens its page.`;
      else status.textContent = `Neither a market nor a wallet has “${text}”.`;
    } catch (error) {
      if (error.name === 'AbortError') return;
      show([]);
      status.textContent = error.message;
    }
  };

  input.addEventListener('input', () => {
    clearTimeout(timer);
    pending?.abort();
    // Enter means the text, not a suggestion of an earlier one.
    mark(-1);
    timer = setTimeout(() => void search(), WAIT_MS);
  });
  input.addEventListener('keydown', (event) => {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (step !== undefined) {
      event.preventDefault();
      if (options.length === 0) return;
      list.hidden = false;
      input.setAttribute('aria-expanded', 'true');
      // Index -1 is the text itself.
      const positions = options.length + 1;
      mark(((active + 1 + step + positions) % positions) - 1);
    } else if (event.key === 'Escape' && !list.hidden) {
      event.preventDefault();
      close();
    }
  });
  input.addEventListener('blur', () => setTimeout(close, 150));
  // Keep the focus in the field, so that a click is not preceded by blur.
  list.addEventListener('mousedown', (event) => event.preventDefault());
  list.addEventListener('click', ({ target }) => {
    const option = options[[...list.children].indexOf(target.closest('li'))];
    if (option !== undefined) open(option.href);
  });
  $('find').addEventListener('submit', (event) => {
    clearTimeout(timer);
    pending?.abort();
    const text = input.value.trim();
    const href = options[active]?.href ?? pathOf(text);
    if (href !== null) {
      event.preventDefault();
      open(href);
    } else if (text === '') event.preventDefault();
  });
  document.addEventListener('keydown', (event) => {
    const typing = event.target.closest?.('input, textarea, select, [contenteditable]');
    if (event.key !== '/' || event.ctrlKey || event.metaKey || event.altKey || (typing && typing.type !== 'radio'))
      return;
    event.preventDefault();
    input.focus();
    input.select();
  });
}
