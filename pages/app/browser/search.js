// Search field of every view: "/" focuses it, arrow keys select, Enter opens.

import { get, hasKey } from './api.js';
import { $, el } from './dom.js';
import { kindOf, marketPath, short, usd, walletPath } from './format.js';

const WAIT_MS = 150;
const SUGGESTED = 8;
const NAME = /^[^\s/]{3,64}$/;

/** Entry for a text that is an id; needs no request. */
function directMatches(text) {
  const kind = kindOf(text);
  if (kind === null) return [];
  const href = kind === 'wallet' ? walletPath(text) : marketPath(text.toLowerCase());
  return [{ href, label: short(text), note: kind === 'wallet' ? 'wallet' : `market by ${kind}` }];
}

export const statusOf = (market) => {
  if (market.winning_outcome_index !== null) return 'resolved';
  return market.closed ? 'closed' : market.active ? 'open' : 'not active';
};

async function findMatches(text, signal) {
  const { data } = await get('/v3/markets/search', { q: text, limit: SUGGESTED }, signal);
  const markets = data.map((market) => ({
    href: marketPath(market.condition_id),
    label: market.question,
    note: `${statusOf(market)} · ${usd(Number(market.volume_all_time))}`,
  }));
  const named = NAME.test(text) ? [{ name: text, href: '#', label: `Wallet of “${text}”`, note: 'name' }] : [];
  return [...markets, ...named];
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
      ...entries.map(({ href, label, note }, index) =>
        el(
          'li',
          { role: 'option', id: `found-${index}`, 'aria-selected': 'false' },
          el('a', { href, tabindex: '-1' }, el('span', {}, label), el('span', { class: 'note' }, note)),
        ),
      ),
    );
    list.hidden = entries.length === 0;
    input.setAttribute('aria-expanded', String(entries.length > 0));
    mark(-1);
  };

  const openName = async (name) => {
    status.textContent = `Opening ${name} ...`;
    try {
      const { safe } = await get(`/v1/resolve/${encodeURIComponent(name)}`);
      location.assign(walletPath(safe));
    } catch (error) {
      status.textContent = error.message;
    }
  };
  const open = (option) => {
    if (option.name === undefined) location.assign(option.href);
    else void openName(option.name);
    close();
  };

  const search = async () => {
    pending?.abort();
    const text = input.value.trim();
    status.textContent = '';
    const matches = directMatches(text);
    if (text.length < 2 || matches.length > 0 || !hasKey()) {
      show(matches);
      return;
    }
    pending = new AbortController();
    try {
      const entries = await findMatches(text, pending.signal);
      show(entries);
      const markets = entries.filter(({ name }) => name === undefined).length;
      status.textContent = markets === 0 ? `No market has “${text}”.` : '';
    } catch (error) {
      if (error.name === 'AbortError') return;
      show([]);
      status.textContent = error.message;
    }
  };

  input.addEventListener('input', () => {
    clearTimeout(timer);
    pending?.abort();
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
  list.addEventListener('click', (event) => {
    const index = [...list.children].indexOf(event.target.closest('li'));
    const option = options[index];
    if (option?.name === undefined) return;
    event.preventDefault();
    open(option);
  });
  $('find').addEventListener('submit', (event) => {
    clearTimeout(timer);
    pending?.abort();
    const text = input.value.trim();
    const [matches] = directMatches(text);
    const option = options[active] ?? matches;
    if (option !== undefined) {
      event.preventDefault();
      open(option);
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
