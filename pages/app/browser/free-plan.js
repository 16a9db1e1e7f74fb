// Lists of a wallet for the free plan: from /v1, because /v3 requires a paid plan.

import { get } from './api.js';
import { el, gain } from './dom.js';
import { marketPath, price, shares, short, usd } from './format.js';
import { createTable } from './table.js';
import { freeWalletColumns } from './trades.js';

const PAGE = 50;

/** Note that names what the plan does not include. */
export function paidOnly(words, { upgradeUrl = null } = {}) {
  const plans = upgradeUrl === null ? [] : [' ', el('a', { href: upgradeUrl }, 'Plans')];
  return el('p', { class: 'dim' }, words, ...plans);
}

const market = (row) =>
  el('a', { class: 'row', href: marketPath(row.conditionId || row.asset) }, row.title || `Token ${short(row.asset)}`);
/** In an open market 0 means that there is no price. */
const known = (row) => (row.curPrice === 0 && !row.redeemable ? null : row.curPrice);

const positionColumns = [
  { title: 'Market', kind: 'text', cell: market },
  { title: 'Outcome', cell: (row) => row.outcome || short(row.asset) },
  { title: 'State', wide: true, cell: (row) => (row.redeemable ? 'resolved' : 'open') },
  { title: 'Shares', kind: 'num', cell: (row) => shares(row.size) },
  { title: 'Average price', kind: 'num', wide: true, cell: (row) => price(row.avgPrice) },
  { title: 'Price', kind: 'num', wide: true, cell: (row) => price(known(row)) },
  { title: 'Worth', kind: 'num', wide: true, cell: (row) => usd(known(row) === null ? null : row.currentValue) },
  { title: 'Unrealized', kind: 'num', cell: (row) => gain(row.cashPnl) },
  { title: 'Realized', kind: 'num', wide: true, cell: (row) => gain(row.realizedPnl) },
];

/** Positions of a wallet, largest first. */
export function createFreePositions(address) {
  return createTable({
    id: 'positions',
    columns: positionColumns,
    async load(cursor) {
      const page = await get(`/v1/wallets/${address}/positions`, { limit: PAGE, cursor });
      return { rows: page.positions, next: page.next_cursor };
    },
    keyOf: (row) => row.asset,
    empty: 'This wallet has no open positions.',
  });
}

/** Trades of a wallet. Rows have no id and an order may fill twice in a transaction: a number distinguishes them. */
export function createFreeTrades(address) {
  let number = 0;
  return createTable({
    id: 'trades',
    columns: freeWalletColumns,
    async load(cursor) {
      const page = await get(`/v1/wallets/${address}/trades`, { limit: PAGE, cursor });
      const rows = page.trades.map((row) => ({
        key: number++,
        atS: row.timestamp,
        side: row.side,
        outcome: row.outcome || null,
        title: row.title || null,
        condition: row.conditionId || null,
        token: row.asset,
        price: row.price,
        shares: row.size,
        tx: row.transactionHash,
      }));
      return { rows, next: page.next_cursor };
    },
    keyOf: (row) => row.key,
    empty: 'This wallet has not traded.',
  });
}
