// Tables of sources and of table groups. Rows are replaced as a whole: they have no state.

import { el, time } from '/app/assets/dom.js';
import { count } from '/app/assets/format.js';
import { ageText } from './notices.js';

const secondsOf = (iso) => Math.floor(Date.parse(iso) / 1000);
const when = (iso) => (iso === null ? '–' : time(secondsOf(iso)));
const number = (value) => (value === null ? '–' : count(value));

function table(label, columns, rows) {
  const kindOf = ({ kind, wide }) => [kind ?? '', wide ? 'wide' : ''].filter((name) => name !== '').join(' ') || null;
  const head = columns.map((column) => el('th', { scope: 'col', class: kindOf(column) }, column.title));
  const body = rows.map((row) =>
    el('tr', {}, ...columns.map((column) => el('td', { class: kindOf(column) }, column.cell(row)))),
  );
  return el(
    'div',
    { class: 'scroll', role: 'region', tabindex: '0', 'aria-label': label },
    el('table', {}, el('thead', {}, el('tr', {}, ...head)), el('tbody', {}, ...body)),
  );
}

/** `look`: ok, warn, or '' for neither. */
const badge = (look, text) => el('span', { class: `badge ${look}` }, text);
const STALE = { disconnected: 'disconnected', no_report: 'no report', no_events: 'no events' };

const sourceColumns = [
  { title: 'Source', cell: (row) => row.source },
  {
    title: 'State',
    cell: (row) =>
      badge(
        row.stale === null && row.health === 'connected' ? 'ok' : 'warn',
        row.stale === null ? (row.health === 'connected' ? 'current' : row.health) : STALE[row.stale],
      ),
  },
  { title: 'Last event', kind: 'num', cell: (row) => ageText(row.last_event_age_seconds) },
  { title: 'Last event, UTC', wide: true, cell: (row) => when(row.last_event_at) },
  { title: 'Head', kind: 'num', wide: true, cell: (row) => number(row.head) },
  { title: 'Final', kind: 'num', wide: true, cell: (row) => number(row.finalized) },
  { title: 'Lag, blocks', kind: 'num', cell: (row) => number(row.lag) },
  {
    title: 'Input',
    cell: (row) =>
      row.mode === 'live'
        ? 'live'
        : el(
            'span',
            {},
            'recorded',
            row.recorded_from === null
              ? null
              : el('small', {}, `day ${row.recorded_from.slice(0, 10)}, shown ${row.shift_days} days later`),
          ),
  },
];

const TABLE_STATES = { loaded: 'loaded', lagging: 'lagging', loading: 'loading', empty: 'no rows yet' };
const tableColumns = [
  { title: 'Table group', cell: (row) => row.table.replaceAll('_', ' ') },
  {
    title: 'State',
    cell: (row) =>
      badge(
        { loaded: 'ok', lagging: 'warn' }[row.state] ?? '',
        row.state === 'loading' && row.percent !== null ? `loading, ${row.percent} %` : TABLE_STATES[row.state],
      ),
  },
  { title: 'Lag', kind: 'num', cell: (row) => ageText(row.lag_seconds) },
  { title: 'Complete before, UTC', cell: (row) => when(row.complete_through) },
  { title: 'Complete through block', kind: 'num', wide: true, cell: (row) => number(row.complete_through_block) },
  { title: 'Records', kind: 'num', wide: true, cell: (row) => count(row.position) },
];

const waiting = (text) => el('p', { class: 'dim' }, text);

export const sourcesTable = (sources) =>
  sources.length === 0
    ? waiting('Waiting for the ingest process: no source has reported yet.')
    : table('Sources', sourceColumns, sources);
export const groupsTable = (groups) =>
  groups.length === 0
    ? waiting('Waiting for the first measurement of the tables.')
    : table('Tables', tableColumns, groups);
