// A short list as a table; narrow screens show each row as a block with the names of the columns.

import { $, el } from '/app/assets/dom.js';

/** `columns`: `{ title, cell(row), kind }`; `empty`: text without rows. `labelledBy`: id of the heading. */
export function showList(id, { columns, rows, empty, labelledBy }) {
  const box = $(id);
  box.removeAttribute('aria-busy');
  if (rows.length === 0) {
    box.replaceChildren(el('p', { class: 'dim' }, empty));
    return;
  }
  const head = columns.map(({ title, kind }) =>
    el('th', { scope: 'col', class: kind ?? null }, title === '' ? el('span', { class: 'unseen' }, 'Actions') : title),
  );
  const body = rows.map((row) =>
    el(
      'tr',
      { role: 'row' },
      ...columns.map(({ title, cell, kind }) =>
        el('td', { class: kind ?? null, 'data-name': title, role: 'cell' }, cell(row)),
      ),
    ),
  );
  const table = el(
    'table',
    { 'aria-labelledby': labelledBy, role: 'table' },
    el('thead', { role: 'rowgroup' }, el('tr', { role: 'row' }, ...head)),
    el('tbody', { role: 'rowgroup' }, ...body),
  );
  box.replaceChildren(
    el('div', { class: 'scroll', role: 'region', tabindex: '0', 'aria-labelledby': labelledBy }, table),
  );
}
