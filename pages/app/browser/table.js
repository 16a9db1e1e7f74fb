// A table that loads page by page: placeholders while it loads, the API's error text if it fails.

import { problem } from './api.js';
import { $, bone, el } from './dom.js';
import { count } from './format.js';

const BONES = 6;

/**
 * Creates a table. `id`: of its box; the heading is `<id>-title`. `columns`: `{ title, cell(row), kind: 'num' | 'text' | undefined, wide }`; wide columns
 * are hidden on narrow screens. `load(cursor)`: resolves to `{ rows, next }`; cursor null: first page; next null: last page. `keyOf(row)`: rows with a
 * key that is already shown are skipped. `empty`: text of an empty list. `instead(error)`: replaces the table after an error by another one, or null.
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
  let generation = 0;
  /** Rows that arrive while the first page is loading; null afterwards. */
  let queued = null;

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
    const cursor = next;
    const started = generation;
    const first = cursor === null;
    box.setAttribute('aria-busy', 'true');
    const waiting = bones(first ? BONES : 2);
    body.append(...waiting);
    hideEmpty();
    foot.replaceChildren();
    try {
      const page = await load(cursor);
      if (started !== generation) return;
      for (const row of waiting) row.remove();
      const rows = page.rows.filter((row) => !shown.has(keyOf(row)));
      for (const row of rows) shown.add(keyOf(row));
      body.append(...rows.map((row) => rowOf(row)));
      next = page.next;
      const arrived = queued ?? [];
      queued = null;
      if (arrived.length > 0) putOnTop(arrived);
      footer(first);
    } catch (error) {
      if (started !== generation) return;
      const other = instead(error);
      if (other !== null) return other.reload();
      for (const row of waiting) row.remove();
      const again = () => {
        next = cursor;
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
    /** Loads the first page again. */
    reload() {
      generation += 1;
      queued = [];
      next = null;
      shown = new Set();
      body.replaceChildren();
      return more();
    },
    /** Inserts a new row at the top, unless it is shown; while the first page is loading, after it. */
    prepend(row) {
      if (queued === null) putOnTop([row]);
      else queued.push(row);
    },
  };
}

const classOf = (kind, wide) => [kind ?? '', wide ? 'wide' : ''].filter((name) => name !== '').join(' ') || null;
