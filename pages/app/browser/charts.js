// What the charts of these pages share: look, words above, and their numbers as a table.

import { chartLook, colour } from '/console/library.js';
import { $, el } from './dom.js';

/** Parts of a chart's panel, by the id it was made with. */
export const panel = (id) => ({
  box: $(`${id}-box`),
  canvas: $(`${id}-canvas`),
  state: $(`${id}-state`),
  legend: $(`${id}-legend`),
  details: $(`${id}-details`),
  rows: $(`${id}-rows`),
});

/** The library's own mark needs an inline style; the page's foot names it instead. */
export const look = () => ({
  ...chartLook(),
  layout: { ...chartLook().layout, attributionLogo: false },
  timeScale: { timeVisible: true, secondsVisible: false, borderColor: colour('--line') },
});

/** Puts `[name, text]` pairs above a chart; null: nothing, in the same height. */
export function say(legend, parts) {
  if (parts === null) legend.textContent = '\u00a0';
  else legend.replaceChildren(...parts.flatMap(([name, text]) => [`${name} `, el('b', {}, text)]));
}

/** The same numbers for those who do not see the chart. `names`: of the columns, the first one a time. */
export function numbers(box, { label, names, rows, foot }) {
  const head = names.map((name, index) => el('th', { scope: 'col', class: index === 0 ? null : 'num' }, name));
  const body = rows.map((cells) =>
    el('tr', {}, ...cells.map((cell, index) => el('td', { class: index === 0 ? null : 'num' }, cell))),
  );
  const table = el('table', {}, el('thead', {}, el('tr', {}, ...head)), el('tbody', {}, ...body));
  const scroll = el('div', { class: 'scroll', role: 'region', tabindex: '0', 'aria-label': label }, table);
  box.replaceChildren(scroll, el('div', { class: 'foot' }, ...foot));
}
