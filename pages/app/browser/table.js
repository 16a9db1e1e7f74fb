// A table that loads page by page: placeholders while it loads, the API's error text if it fails.

import { problem } from './api.js';
import { $, bone, el } from './dom.js';
import { count } from './format.js';

const BONES = 6;
/** Interval of attempts of a quiet list after an error that may pass. */
const RETRY_MS = 10_000;

/**
 * Creates a table. `id`: of its box; the heading is `<id>-title`. `columns`: `{ title, cell(row), kind: 'num' | 'text' | undefined, wide }`; wide columns
 * are hidden on narrow screens. `load(cursor)`: resolves to `{ rows, next }`; cursor null: first page; next null: last page. `keyOf(row)`: rows with a
 * key that is already shown are skipped. `empty`: text of an empty list. `instead(error)`: replaces the table after an error by another one, or null. `timeOf(row)`: prepended rows that are older than the newest row are skipped. `keepNewest`: most rows per loaded page of a list that rows are prepended to. `isQuiet`: errors are shown as a note, not as an alert.
 */
export function createTable({
  id,
  columns,
  load,
  keyOf,
  empty,
  timeOf = null,
  onError = null,
  instead = () => null,
  keepNewest = null,
  isQuiet = false,
}) {
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
  /** key -> line. */
  let shown = new Map();
  /** line -> row. */
  const rowOf = new WeakMap();
  let next = null;
  let generation = 0;
  let pages = 0;
  /** Older rows were removed: the next page would leave a gap. */
  let isTrimmed = false;
  /** Rows that arrive while the first page is loading; null afterwards. */
  let queued = null;

  const lineOf = (row, fresh = false) => {
    const line = el(
      'tr',
      { class: fresh ? 'fresh' : null },
      ...columns.map(({ cell, kind, wide }) => el('td', { class: classOf(kind, wide) }, cell(row))),
    );
    rowOf.set(line, row);
    return line;
  };
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

  const append = (rows) => {
    for (const row of rows) {
      const line = lineOf(row);
      shown.set(keyOf(row), line);
      body.append(line);
    }
  };
  /** Removes the oldest rows of a list that grows by itself. */
  const trim = (most) => {
    if (shown.size <= most) return;
    const kept = new Set([...body.children].slice(0, most));
    for (const [key, line] of shown) {
      if (kept.has(line)) continue;
      line.remove();
      shown.delete(key);
    }
    isTrimmed = true;
  };

  const newest = () => rowOf.get(body.firstElementChild) ?? null;
  /** True for a row of before the loaded page. */
  const isOlder = (row) => {
    const top = newest();
    return timeOf !== null && top !== null && timeOf(row) < timeOf(top);
  };

  const putOnTop = (rows) => {
    for (const row of rows) {
      if (shown.has(keyOf(row)) || isOlder(row)) continue;
      const line = lineOf(row, true);
      shown.set(keyOf(row), line);
      body.prepend(line);
    }
    if (keepNewest !== null) trim(keepNewest * Math.max(1, pages));
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
      append(rows);
      next = page.next;
      pages += 1;
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
        if (started !== generation) return;
        next = cursor;
        void more();
      };
      if (isQuiet) {
        foot.replaceChildren(el('p', {}, error.message));
        if ([0, 429].includes(error.status) || error.status >= 500) setTimeout(again, RETRY_MS);
      } else foot.replaceChildren(problem(error, again));
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
    const rest = isTrimmed ? ', the newest' : next === null ? ', that is all' : '';
    const words = el('span', { role: 'status' }, `${count(shown.size)} shown${rest}`);
    if (next === null || isTrimmed) {
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
    /** Requests the first page again and replaces its rows in place; not while more pages are shown or a row has the focus. */
    async refresh() {
      const started = generation;
      const isInUse = () =>
        started !== generation || pages > 1 || box.hasAttribute('aria-busy') || body.contains(document.activeElement);
      if (isInUse()) return;
      const page = await load(null).catch(() => null);
      // Without a response the rows stay as they are.
      if (page === null || isInUse()) return;
      next = page.next;
      shown = new Map();
      body.replaceChildren();
      append(page.rows);
      footer(true);
      hideEmpty();
    },
    /** Loads the first page again. */
    reload() {
      generation += 1;
      pages = 0;
      queued = [];
      next = null;
      shown = new Map();
      isTrimmed = false;
      body.replaceChildren();
      return more();
    },
    /** The row at the top; null if there is none, or the first page is loading. */
    newest,
    /** Inserts a new row at the top, unless it is shown or older than the one there; while the first page is loading, after it. */
    prepend(row) {
      if (queued === null) putOnTop([row]);
      else queued.push(row);
    },
    /** Removes rows. */
    discard(isVoid) {
      queued = queued?.filter((row) => !isVoid(row)) ?? null;
      for (const [key, line] of shown) {
        if (!isVoid(rowOf.get(line))) continue;
        line.remove();
        shown.delete(key);
      }
      if (!box.hasAttribute('aria-busy')) footer(true);
      hideEmpty();
    },
  };
}

const classOf = (kind, wide) => [kind ?? '', wide ? 'wide' : ''].filter((name) => name !== '').join(' ') || null;
