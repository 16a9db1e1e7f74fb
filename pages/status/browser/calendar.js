// Calendar of the days with data, a table per month; the details of a chosen day below it.

import { $, chosenOf, el } from '/app/assets/dom.js';

const DAY_MS = 86_400_000;
const WEEKDAYS = ['Mo', 'Tu', 'We', 'Th', 'Fr', 'Sa', 'Su'];
const LABELS = {
  blocks: 'Blocks',
  contract: 'Contracts',
  oracle: 'Oracle prices',
  catalogue: 'Catalogue',
  order_book: 'Order books',
};

const dayText = (ms) => new Date(ms).toISOString().slice(0, 10);
const dayName = new Intl.DateTimeFormat('en-GB', { dateStyle: 'long', timeZone: 'UTC' });
const monthName = new Intl.DateTimeFormat('en-GB', { month: 'long', year: 'numeric', timeZone: 'UTC' });

export function createCalendar() {
  const box = $('calendar');
  /** day -> kind -> entry. */
  let days = new Map();
  let chosen = null;

  const details = () => {
    const entries = days.get(chosen);
    if (entries === undefined) {
      $('day').replaceChildren();
      return;
    }
    const rows = Object.keys(LABELS).map((kind) => {
      const entry = entries.get(kind);
      const part = entry !== undefined && entry.sources > 1 ? ` (${entry.available} of ${entry.sources} complete)` : '';
      return el(
        'tr',
        {},
        el('td', {}, LABELS[kind]),
        el('td', {}, `${entry?.state ?? 'missing'}${part}`),
        el('td', { class: 'text' }, entry?.why ?? 'No data of this day.'),
      );
    });
    const head = ['Kind', 'State', 'Reason'].map((name) => el('th', { scope: 'col' }, name));
    const table = el(
      'table',
      {},
      el('caption', { class: 'unseen' }, `Coverage of ${chosen}`),
      el('thead', {}, el('tr', {}, ...head)),
      el('tbody', {}, ...rows),
    );
    $('day').replaceChildren(
      el('h3', {}, chosen),
      el('div', { class: 'scroll', role: 'region', tabindex: '0', 'aria-label': `Coverage of ${chosen}` }, table),
    );
  };

  const cell = (day, kind) => {
    const number = String(Number(day.slice(8)));
    const entries = days.get(day);
    if (entries === undefined) return el('span', { class: 'day', title: `${day}: missing` }, number);
    const state = entries.get(kind)?.state ?? 'missing';
    const button = el(
      'button',
      {
        type: 'button',
        class: `day ${state}`,
        'data-day': day,
        'aria-pressed': String(day === chosen),
        'aria-label': `${dayName.format(Date.parse(day))}, ${state}`,
        title: `${day}: ${state}`,
      },
      number,
    );
    button.addEventListener('click', () => {
      chosen = day;
      draw();
      box.querySelector(`[data-day="${day}"]`)?.focus();
    });
    return button;
  };

  const month = (year, index, kind) => {
    const firstMs = Date.UTC(year, index, 1);
    const length = Math.round((Date.UTC(year, index + 1, 1) - firstMs) / DAY_MS);
    const blanks = (new Date(firstMs).getUTCDay() + 6) % 7;
    const cells = [
      ...Array.from({ length: blanks }, () => null),
      ...Array.from({ length }, (_, day) => cell(dayText(firstMs + day * DAY_MS), kind)),
    ];
    const weeks = Array.from({ length: Math.ceil(cells.length / 7) }, (_, week) =>
      el('tr', {}, ...cells.slice(week * 7, week * 7 + 7).map((one) => el('td', {}, one))),
    );
    return el(
      'table',
      {},
      el('caption', {}, monthName.format(firstMs)),
      el('thead', {}, el('tr', {}, ...WEEKDAYS.map((name) => el('th', { scope: 'col' }, name)))),
      el('tbody', {}, ...weeks),
    );
  };

  const draw = () => {
    if (days.size === 0) {
      box.replaceChildren(el('p', { class: 'dim' }, 'No day has data yet: the page waits for the first rows.'));
      return;
    }
    const kind = chosenOf('kind');
    const months = [...new Set([...days.keys()].map((day) => day.slice(0, 7)))].sort();
    // Only months with data: a recording has days far apart.
    box.replaceChildren(...months.map((text) => month(Number(text.slice(0, 4)), Number(text.slice(5)) - 1, kind)));
    details();
  };
  $('kinds').addEventListener('change', draw);

  return {
    show(entries) {
      days = new Map();
      for (const entry of entries) {
        const ofDay = days.get(entry.day) ?? new Map();
        days.set(entry.day, ofDay.set(entry.kind, entry));
      }
      chosen ??= entries[0]?.day ?? null;
      const focused = document.activeElement?.dataset.day;
      draw();
      if (focused !== undefined) box.querySelector(`[data-day="${focused}"]`)?.focus();
      box.removeAttribute('aria-busy');
    },
    /** Shows why the coverage is not there. */
    fail(text) {
      if (days.size === 0) box.replaceChildren(el('p', { class: 'dim' }, text));
    },
  };
}
