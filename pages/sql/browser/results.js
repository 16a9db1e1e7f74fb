// The result of a statement as a table.

import { el } from '/app/assets/dom.js';
import { count, kindOf, walletPath } from '/app/assets/format.js';
import { bytesText, durationText, isNumber, textOf } from './values.js';

function cell(value, type) {
  const text = textOf(value);
  if (text === null) return el('td', {}, el('span', { class: 'dim' }, 'NULL'));
  if (text === '') return el('td', {}, el('span', { class: 'dim', title: 'empty text' }, "''"));
  const isWallet = kindOf(text) === 'wallet';
  return el(
    'td',
    { class: isNumber(type) ? 'num' : null, title: text.length > 40 ? text : null },
    isWallet ? el('a', { class: 'mono', href: walletPath(text) }, text) : text,
  );
}

/** Replaces the content of `box` by the first `maxRows` rows. */
export function showTable(box, { meta, data }, maxRows) {
  if (data.length === 0) {
    box.replaceChildren(el('p', { class: 'dim' }, 'The statement has no rows.'));
    return;
  }
  const head = meta.map(({ name, type }) =>
    el('th', { scope: 'col', class: isNumber(type) ? 'num' : null }, name, el('small', {}, type)),
  );
  const body = data
    .slice(0, maxRows)
    .map((row) => el('tr', {}, ...row.map((value, index) => cell(value, meta[index].type))));
  box.replaceChildren(
    el(
      'div',
      { class: 'scroll', role: 'region', tabindex: '0', 'aria-labelledby': 'rows-title' },
      el('table', {}, el('thead', {}, el('tr', {}, ...head)), el('tbody', {}, ...body)),
    ),
  );
}

/** Numbers of a result: rows, time, and what the engine read. */
export function summaryOf({ data, statistics }, maxRows) {
  const rows = data.length > maxRows ? `first ${count(maxRows)} rows` : `${count(data.length)} rows`;
  const { elapsed, rows_read: rowsRead, bytes_read: bytesRead } = statistics;
  return `${rows} · ${durationText(elapsed)} · ${count(rowsRead)} rows and ${bytesText(bytesRead)} read`;
}

/** Note of a result that is longer than the table; null for others. */
export function noteOf({ data }, maxRows) {
  if (data.length <= maxRows) return null;
  return `There are more rows: the table and the chart have the first ${count(maxRows)}. Add LIMIT or aggregate, or download all rows as CSV or Parquet.`;
}
