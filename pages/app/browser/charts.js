// Parts that the charts share: colours, legend, and the same numbers as a table.

import { chartLook, colour } from '/console/library.js';
import { $, el } from './dom.js';

/** Elements of a chart's panel, by its id. */
export const panel = (id) => ({
  box: $(`${id}-box`),
  canvas: $(`${id}-canvas`),
  state: $(`${id}-state`),
  legend: $(`${id}-legend`),
  details: $(`${id}-details`),
  rows: $(`${id}-rows`),
});

/** The library's logo needs an inline style, which the policy forbids; the page footer names the library instead. */
export const chartOptions = () => ({
  ...chartLook(),
  layout: { ...chartLook().layout, attributionLogo: false },
  timeScale: { timeVisible: true, secondsVisible: false, borderColor: colour('--line') },
});

/** Shows `[name, text]` pairs above a chart; null: an empty line of the same height. */
export function setLegend(legend, parts) {
  if (parts === null) legend.textContent = '\u00a0';
  else legend.replaceChildren(...parts.flatMap(([name, text]) => [`${name} `, el('b', {}, text)]));
}

/** The numbers of a chart as a table for screen readers. `names`: column names; the first column is a time. */
export function numberTable(box, { label, names, rows, foot }) {
  const head = names.map((name, index) => el('th', { scope: 'col', class: index === 0 ? null : 'num' }, name));
  const body = rows.map((cells) =>
    el('tr', {}, ...cells.map((cell, index) => el('td', { class: index === 0 ? null : 'num' }, cell))),
  );
  const table = el('table', {}, el('thead', {}, el('tr', {}, ...head)), el('tbody', {}, ...body));
  const scroll = el('div', { class: 'scroll', role: 'region', tabindex: '0', 'aria-label': label }, table);
  box.replaceChildren(scroll, el('div', { class: 'foot' }, ...foot));
}
