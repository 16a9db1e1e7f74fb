// Lists of the API as CSV files, page by page.

import { $, el } from './dom.js';
import { count } from './format.js';

const MAX_ROWS = 20_000;
/** A text that a spreadsheet would take for a formula. */
const FORMULA = /^[=+\-@\t\r]/;

/** A cell (RFC 4180). Numbers stay numbers; null is empty. */
function cell(value) {
  if (value === null || value === undefined) return '';
  if (typeof value === 'number' || typeof value === 'boolean') return String(value);
  const text = FORMULA.test(value) && !/^-?\d+(\.\d+)?$/.test(value) ? `'${value}` : value;
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

/** CSV of rows. `columns`: `[name, value(row)]`. */
const csvOf = (columns, rows) =>
  [columns.map(([name]) => name), ...rows.map((row) => columns.map(([, value]) => value(row)))]
    .map((cells) => cells.map(cell).join(','))
    .join('\r\n')
    .concat('\r\n');

function save(name, text) {
  const url = URL.createObjectURL(new Blob([text], { type: 'text/csv' }));
  const link = el('a', { href: url, download: name });
  document.body.append(link);
  link.click();
  link.remove();
  setTimeout(() => URL.revokeObjectURL(url), 10_000);
}

/**
 * Button that downloads all rows of a list. `id`: of the button, with a status element `<id>-status`. `name()`: of the file. `load(cursor)`: resolves to
 * `{ rows, next }`; cursor null: first page; next null: last page.
 */
export function createCsvButton({ id, name, columns, load }) {
  const button = $(id);
  const status = $(`${id}-status`);
  button.addEventListener('click', async () => {
    button.disabled = true;
    const rows = [];
    try {
      let next = null;
      do {
        const page = await load(next);
        rows.push(...page.rows);
        next = page.next;
        status.textContent = `${count(rows.length)} rows`;
      } while (next !== null && rows.length < MAX_ROWS);
      save(name(), csvOf(columns, rows.slice(0, MAX_ROWS)));
      status.textContent =
        next === null
          ? `${count(rows.length)} rows saved`
          : `The newest ${count(MAX_ROWS)} rows saved; more: npm run export, or SQL`;
    } catch (error) {
      status.textContent = error.message;
    }
    button.disabled = false;
  });
}

const iso = (seconds) =>
  seconds === null || seconds === undefined ? null : new Date(Number(seconds) * 1000).toISOString();

/** Columns of /v3 positions. */
export const positionCsv = [
  ...['market', 'slug', 'outcome', 'status', 'size', 'avg_price', 'current_price', 'price_source', 'initial_value'],
  ...['realized_pnl', 'unrealized_pnl', 'total_pnl', 'total_bought', 'complete', 'condition_id', 'token_id'],
]
  .map((name) => [name, (row) => row[name]])
  .concat([['last_activity_at', (row) => iso(row.last_activity_at)]]);

/** Columns of /v3 trades. */
export const tradeCsv = [
  ['time', (row) => iso(row.timestamp)],
  ...['market', 'slug', 'outcome', 'direction', 'price', 'size', 'amount_usd', 'fee', 'maker', 'taker'].map((name) => [
    name,
    (row) => row[name],
  ]),
  ...['condition_id', 'token_id', 'transaction_hash', 'order_hash'].map((name) => [name, (row) => row[name]]),
];
