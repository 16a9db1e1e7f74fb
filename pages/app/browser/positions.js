// Open and closed positions of a wallet.

import { get, isPaidOnly } from './api.js';
import { $, chosenOf, el, gain, time } from './dom.js';
import { marketPath, price, shares, short, sourceOf } from './format.js';
import { createFreePositions, paidOnly } from './free-plan.js';
import { createTable } from './table.js';

const PAGE = 50;

const market = (row) =>
  el(
    'a',
    { class: 'row', href: marketPath(row.condition_id ?? row.token_id) },
    row.market ?? `Token ${short(row.token_id)}`,
  );

/** Current price with its source: a settlement is not a quote. */
const priced = (row) =>
  row.price_source === null
    ? el('span', { class: 'dim' }, sourceOf(null))
    : el('span', {}, price(row.current_price), el('small', {}, sourceOf(row.price_source)));

const columns = [
  { title: 'Market', kind: 'text', cell: market },
  { title: 'Outcome', cell: (row) => row.outcome ?? short(row.token_id) },
  { title: 'State', wide: true, cell: (row) => row.status },
  { title: 'Shares', kind: 'num', cell: (row) => shares(row.size) },
  { title: 'Average price', kind: 'num', wide: true, cell: (row) => price(row.avg_price) },
  { title: 'Price', kind: 'num', wide: true, cell: priced },
  { title: 'Unrealized', kind: 'num', wide: true, cell: (row) => gain(row.unrealized_pnl) },
  { title: 'Realized', kind: 'num', wide: true, cell: (row) => gain(row.realized_pnl) },
  { title: 'Profit', kind: 'num', cell: (row) => gain(row.total_pnl) },
  { title: 'Last activity, UTC', kind: 'when', wide: true, cell: (row) => time(Number(row.last_activity_at)) },
];

/** Replaces the list by the open positions of /v1, which have one order, and the selection by a note. */
function openOnly(address, refusal) {
  $('position-sort').remove();
  $('status').replaceWith(
    paidOnly('Open positions, largest first. Closed positions are part of the paid plans.', refusal),
  );
  return createFreePositions(address);
}

export function createPositions(address) {
  const table = createTable({
    id: 'positions',
    columns,
    async load(cursor) {
      const page = await get(`/v3/wallets/${address}/positions`, {
        status: chosenOf('status'),
        sort: chosenOf('position-sort'),
        limit: PAGE,
        cursor,
      });
      return { rows: page.positions, next: page.next_cursor };
    },
    keyOf: (row) => row.token_id,
    instead: (error) => (isPaidOnly(error) ? openOnly(address, error) : null),
    empty: () =>
      el(
        'p',
        {},
        chosenOf('status') === ''
          ? 'This wallet never had a position.'
          : `No position of this wallet is ${chosenOf('status')}.`,
      ),
  });
  for (const name of ['status', 'position-sort']) $(name).addEventListener('change', () => void table.reload());
  return table;
}
