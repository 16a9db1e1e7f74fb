// A table that fills itself page by page: bones while it loads, the API's words where it cannot.

import { problem } from './api.js';
import { $, bone, el } from './dom.js';
import { count } from './format.js';

const BONES = 6;

/**
 * `id`: of its box, whose heading is `<id>-title`. `columns`: `{ title, cell(row), kind: 'num' | 'text' | undefined, wide }`, wide ones are left
 * out on narrow screens. `load(place)`: resolves to `{ rows, next }`, place null for the first page, next null after the last.
 * `keyOf(row)`: a row with a key that is shown already is passed over. `empty`: what an empty list says.
 * `instead(error)`: makes another table of the box where that is the answer to a refusal, else null.
 */
export function createTable({ id, columns, load, keyOf, empty, onError = null, instead = () => null }) {
  const box = $(id);
  const head = el(
    'tr',
    {},
    ...columns.map(({ title, kind, wide }) => el('th', { scope: 'col', class: classOf(kind, wide) }, title)),
  );
  const body = el('tbody');
  const scroll = el(
    'div',
    { class: 'scroll', role: 'region', tabindex: '0', 'aria-labelledby': `${id}-title` },
    el('table', {}, el('thead', {}, head), body),
  );
  const foot = el('div', { class: 'foot' });
  box.replaceChildren(scroll, foot);
  let shown = new Set();
  let next = null;
  let turn = 0;
  /** Rows that came while the first page was on its way; null afterwards. */
  let early = null;

  const rowOf = (row, fresh = false) =>
    el(
      'tr',
      { class: fresh ? 'fresh' : null },
      ...columns.map(({ cell, kind, wide }) => el('td', { class: classOf(kind, wide) }, cell(row))),
    );
  const bones = (rows) =>
    Array.from({ length: rows }, () =>
      el(
        'tr',
        { 'aria-hidden': 'true' },
        ...columns.map(({ kind, wide }) => el('td', { class: classOf(kind, wide) }, bone())),
      ),
    );
  const hideEmpty = () => {
    scroll.hidden = body.childElementCount === 0;
  };

  const putOnTop = (rows) => {
    for (const row of rows) {
      if (shown.has(keyOf(row))) continue;
      shown.add(keyOf(row));
      body.prepend(rowOf(row, true));
    }
    if (!box.hasAttribute('aria-busy')) footer(true);
    hideEmpty();
  };

  const more = async () => {
    const place = next;
    const mine = turn;
    const first = place === null;
    box.setAttribute('aria-busy', 'true');
    const waiting = bones(first ? BONES : 2);
    body.append(...waiting);
    hideEmpty();
    foot.replaceChildren();
    try {
      const page = await load(place);
      if (mine !== turn) return;
      for (const row of waiting) row.remove();
      const rows = page.rows.filter((row) => !shown.has(keyOf(row)));
      for (const row of rows) shown.add(keyOf(row));
      body.append(...rows.map((row) => rowOf(row)));
      next = page.next;
      const waited = early ?? [];
      early = null;
      if (waited.length > 0) putOnTop(waited);
      footer(first);
    } catch (error) {
      if (mine !== turn) return;
      const other = instead(error);
      if (other !== null) return other.reload();
      for (const row of waiting) row.remove();
      const again = () => {
        next = place;
        void more();
      };
      foot.replaceChildren(problem(error, again));
      onError?.(error);
    }
    box.removeAttribute('aria-busy');
    hideEmpty();
  };

  const footer = (first) => {
    if (shown.size === 0) {
      foot.replaceChildren(typeof empty === 'function' ? empty() : el('p', {}, empty));
      return;
    }
    const words = el('span', { role: 'status' }, `${count(shown.size)} shown${next === null ? ', that is all' : ''}`);
    if (next === null) {
      const hadFocus = !first && document.activeElement === document.body;
      foot.replaceChildren(words);
      if (hadFocus) scroll.focus({ preventScroll: true });
      return;
    }
    const button = el(
      'button',
      { type: 'button', 'aria-label': `Load more: ${$(`${id}-title`).textContent}` },
      'Load more',
    );
    button.addEventListener('click', () => void more());
    foot.replaceChildren(button, words);
    if (!first) button.focus({ preventScroll: true });
  };

  return {
    /** From the first page on again. */
    reload() {
      turn += 1;
      early = [];
      next = null;
      shown = new Set();
      body.replaceChildren();
      return more();
    },
    /** Puts a new row on top, unless it is there; while the first page is on its way, after that. */
    prepend(row) {
      if (early === null) putOnTop([row]);
      else early.push(row);
    },
  };
}

const classOf = (kind, wide) => [kind ?? '', wide ? 'wide' : ''].filter((name) => name !== '').join(' ') || null;
