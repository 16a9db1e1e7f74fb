// What keys of the free plan see of a wallet: the lists of /v1, where /v3 is for paid plans.

import { get } from './api.js';
import { el, gain } from './dom.js';
import { marketPath, price, shares, short, usd } from './format.js';
import { createTable } from './table.js';
import { freeWalletColumns } from './trades.js';

const PAGE = 50;

/** What the plan leaves out, in a sentence. */
export function paidOnly(words, { upgradeUrl = null } = {}) {
  const plans = upgradeUrl === null ? [] : [' ', el('a', { href: upgradeUrl }, 'Plans')];
  return el('p', { class: 'dim' }, words, ...plans);
}

/** /v1 pages by offset, counted from the newest row of its first page; a full page may have another behind it. */
const pageOf = async (path, query, place) => {
  const offset = place ?? 0;
  return { offset, body: await get(path, { ...query, limit: PAGE, offset }) };
};
const nextOf = ({ offset, body }) => (body.count < PAGE ? null : offset + PAGE);

const market = (row) =>
  el('a', { class: 'row', href: marketPath(row.conditionId || row.asset) }, row.title || `Token ${short(row.asset)}`);
/** An open market has no price of 0: it has none yet. */
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

/** What a wallet holds, the largest first. */
export function createFreePositions(address) {
  return createTable({
    id: 'positions',
    columns: positionColumns,
    async load(place) {
      const page = await pageOf(`/v1/wallets/${address}/positions`, {}, place);
      return { rows: page.body.positions, next: nextOf(page) };
    },
    keyOf: (row) => row.asset,
    empty: 'This wallet holds nothing now.',
  });
}

/** Orders of a wallet. Rows have no id: one order may have filled twice in a transaction, so their place tells them apart. */
export function createFreeTrades(address) {
  return createTable({
    id: 'trades',
    columns: freeWalletColumns,
    async load(place) {
      const page = await pageOf(`/v1/wallets/${address}/trades`, {}, place);
      const rows = page.body.trades.map((row, index) => ({
        key: page.offset + index,
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
      return { rows, next: nextOf(page) };
    },
    keyOf: (row) => row.key,
    empty: 'This wallet has not traded.',
  });
}
