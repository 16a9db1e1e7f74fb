// /app/copy: the pool of the key as a table that can be sorted, and the backtest of one wallet.

import { problem } from './api.js';
import { changePool, copyGet } from './copy-requests.js';
import { createCopyScore } from './copy-score.js';
import { $, chosenOf, el, gain, time, title, wallet } from './dom.js';
import { count, kindOf, usd } from './format.js';

/** While wallets wait for their first score. */
const PENDING_POLL_MS = 6_000;
const POLL_MS = 60_000;
const PERIODS = ['180d', '90d', '60d', '30d', '14d', '7d'];
const SVG = 'http://www.w3.org/2000/svg';

/** Columns that can be sorted by: a field of the score. */
const COLUMNS = [
  { field: 'actual_pnl_usdc', name: 'Cash flow', cell: (score) => gain(score.actual_pnl_usdc) },
  { field: 'backtest_copy_pnl_usdc', name: 'Backtest', cell: (score) => gain(score.backtest_copy_pnl_usdc) },
  { field: 'slippage_amount_usdc', name: 'Slippage', cell: (score) => usd(score.slippage_amount_usdc), wide: true },
  {
    field: 'slippage_cost_rate_pct',
    name: 'Rate',
    cell: (score) => (score.slippage_cost_rate_pct === null ? '–' : `${score.slippage_cost_rate_pct.toFixed(2)} %`),
  },
  { field: 'trade_count', name: 'Trades', cell: (score) => count(score.trade_count), wide: true },
];

/**
 * Cumulative cash flow over 180 days at the ends of the periods: what came before a period is the sum of the longest less its own. null while a
 * period has no score.
 */
function pathOf(periods) {
  const sums = PERIODS.map((period) => periods[period]?.actual_pnl_usdc);
  if (sums.some((sum) => sum === undefined)) return null;
  const [whole] = sums;
  return [...sums.map((sum) => whole - sum), whole];
}

/** Name of a control of the table, by which it is found again after the table was drawn again. */
const nameOf = (control) => control.getAttribute('aria-label') ?? (control.title || control.textContent);

function sparkline(periods) {
  const path = pathOf(periods);
  if (path === null) return el('span', { class: 'dim' }, '–');
  const days = [...PERIODS.map((period) => -Number.parseInt(period, 10)), 0];
  const [low, high] = [Math.min(...path), Math.max(...path)];
  const points = path.map((value, i) => {
    const y = high === low ? 13 : 24 - ((value - low) / (high - low)) * 22;
    return `${(((days[i] + 180) / 180) * 94 + 1).toFixed(1)},${y.toFixed(1)}`;
  });
  const svg = document.createElementNS(SVG, 'svg');
  svg.setAttribute('viewBox', '0 0 96 26');
  svg.setAttribute('class', `spark ${path.at(-1) < 0 ? 'down' : 'up'}`);
  svg.setAttribute('role', 'img');
  svg.setAttribute('aria-label', `Cash flow over 180 days: ${usd(path.at(-1))}`);
  const line = document.createElementNS(SVG, 'polyline');
  line.setAttribute('points', points.join(' '));
  svg.append(line);
  return svg;
}

export function showCopy() {
  title('Copy trading');
  let snapshot = null;
  let sort = { field: 'backtest_copy_pnl_usdc', descending: true };
  let selected = null;
  let timer;
  const score = createCopyScore();

  const scoreOf = (entry) => entry.periods[chosenOf('period')] ?? null;
  const ordered = () => {
    const direction = sort.descending ? -1 : 1;
    return snapshot.wallets.toSorted((a, b) => {
      const [x, y] = [scoreOf(a)?.[sort.field] ?? null, scoreOf(b)?.[sort.field] ?? null];
      if (x === null || y === null) return x === y ? a.wallet.localeCompare(b.wallet) : x === null ? 1 : -1;
      return (x - y) * direction || a.wallet.localeCompare(b.wallet);
    });
  };

  const select = (address) => {
    selected = address;
    draw();
    void score.show(address, chosenOf('period'));
  };

  const remove = async (address, button) => {
    button.disabled = true;
    button.textContent = 'Removing…';
    try {
      await changePool('DELETE', [address]);
      snapshot.wallets = snapshot.wallets.filter((entry) => entry.wallet !== address);
      if (selected === address) {
        selected = null;
        score.hide();
      }
      draw();
    } catch (error) {
      $('add-status').replaceChildren(problem(error, () => void remove(address, button)));
      button.disabled = false;
      button.textContent = 'Remove';
    }
  };

  const rowOf = (entry) => {
    const found = scoreOf(entry);
    const state =
      entry.error !== undefined
        ? el(
            'span',
            { class: 'bad-number', title: `Since ${new Date(entry.error.ts * 1000).toISOString()}` },
            entry.error.error,
          )
        : found === null
          ? el('span', { class: 'dim' }, 'pending')
          : found.toxic_for_copying
            ? el('span', { class: 'toxic', title: 'Slippage takes more than 15 % of the cash flow' }, 'toxic')
            : null;
    const removal = el('button', { type: 'button', 'aria-label': `Remove ${entry.wallet}` }, 'Remove');
    removal.addEventListener('click', () => void remove(entry.wallet, removal));
    const test = el('button', { type: 'button', 'aria-label': `Backtest ${entry.wallet}` }, 'Backtest');
    test.addEventListener('click', () => select(entry.wallet));
    return el(
      'tr',
      { 'aria-selected': entry.wallet === selected ? 'true' : null },
      el('td', {}, wallet(entry.wallet)),
      el('td', { class: 'wide' }, sparkline(entry.periods)),
      ...COLUMNS.map(({ cell, wide }) =>
        el('td', { class: wide ? 'num wide' : 'num' }, found === null ? '–' : cell(found)),
      ),
      el('td', {}, state),
      el('td', {}, test, ' ', removal),
    );
  };

  const head = ({ field, name, wide }) => {
    const button = el('button', { type: 'button' }, name);
    button.addEventListener('click', () => {
      sort = { field, descending: sort.field === field ? !sort.descending : true };
      draw();
    });
    const order = sort.field === field ? (sort.descending ? 'descending' : 'ascending') : null;
    return el('th', { scope: 'col', class: wide ? 'num wide' : 'num', 'aria-sort': order }, button);
  };

  const draw = () => {
    if (snapshot === null) return;
    const { wallets, last_refresh: refreshed } = snapshot;
    if (wallets.length === 0) {
      $('pool').replaceChildren(
        el('p', { class: 'dim' }, 'The pool is empty. Add wallets above; each is scored at once.'),
      );
      $('pool-status').textContent = '';
      return;
    }
    const columns = [
      el('th', { scope: 'col' }, 'Wallet'),
      el('th', { scope: 'col', class: 'wide' }, '180 days'),
      ...COLUMNS.map(head),
      el('th', { scope: 'col' }, 'State'),
      el('th', { scope: 'col' }, el('span', { class: 'unseen' }, 'Actions')),
    ];
    const table = el('table', {}, el('thead', {}, el('tr', {}, ...columns)), el('tbody', {}, ...ordered().map(rowOf)));
    const scroll = el('div', { class: 'scroll', role: 'region', tabindex: '0', 'aria-label': 'Pool' }, table);
    const focused = $('pool').contains(document.activeElement) ? nameOf(document.activeElement) : null;
    $('pool').replaceChildren(scroll);
    if (focused !== null)
      [...$('pool').querySelectorAll('a, button, [tabindex]')]
        .find((control) => nameOf(control) === focused)
        ?.focus({ preventScroll: true });
    $('pool-status').replaceChildren(
      `${count(wallets.length)} ${wallets.length === 1 ? 'wallet' : 'wallets'}`,
      ...(refreshed === null ? [] : [', all scored ', time(refreshed)]),
    );
  };

  const load = async () => {
    clearTimeout(timer);
    try {
      snapshot = await copyGet('snapshot');
      draw();
      const pending = snapshot.wallets.some(
        ({ periods, error }) => error === undefined && Object.values(periods).includes(null),
      );
      timer = setTimeout(() => void load(), pending ? PENDING_POLL_MS : POLL_MS);
    } catch (error) {
      $('pool').replaceChildren(problem(error, () => void load()));
    }
    $('pool').removeAttribute('aria-busy');
  };

  $('add').addEventListener('submit', async (event) => {
    event.preventDefault();
    const addresses = $('addresses')
      .value.split(/[\s,;]+/)
      .filter((text) => text !== '');
    const wrong = addresses.find((text) => kindOf(text) !== 'wallet');
    if (wrong !== undefined) {
      $('add-status').textContent = `${wrong.slice(0, 60)} is not a wallet address (0x and 40 hex digits).`;
      return;
    }
    const button = $('add').querySelector('button');
    button.disabled = true;
    $('add-status').textContent = 'Adding…';
    try {
      const result = await changePool('POST', addresses);
      $('addresses').value = '';
      const known = result.already_tracked === 0 ? '' : `, ${count(result.already_tracked)} were in the pool`;
      $('add-status').textContent = result.hint ?? `${count(result.added)} added${known}.`;
      await load();
    } catch (error) {
      $('add-status').replaceChildren(problem(error, null));
    }
    button.disabled = false;
  });
  $('period').addEventListener('change', () => {
    draw();
    if (selected !== null) void score.show(selected, chosenOf('period'));
  });
  return load();
}
