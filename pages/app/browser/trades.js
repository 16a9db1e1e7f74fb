// Rows of trades from the API's lists and from the event socket.

import { el, side, time, wallet } from './dom.js';
import { fromUnits, marketPath, price, shares, short, usd } from './format.js';
import { transactionLink } from './links.js';

const PAGE = 50;

/** A row of a /v3 list. */
const fromList = (row) => ({
  key: `${row.transaction_hash}-${row.id.slice(row.id.lastIndexOf('_') + 1)}`,
  atS: Number(row.timestamp),
  wallet: row.maker,
  taker: row.taker,
  side: row.direction,
  outcome: row.outcome,
  title: row.market,
  condition: row.condition_id,
  token: row.token_id,
  price: row.price,
  shares: row.size,
  usd: row.amount_usd,
  fee: row.fee,
  tx: row.transaction_hash,
});

const exchanges = new Set(document.body.dataset.exchanges?.split(' '));
/** True for the fill of a maker's order; the taker's own order, whose counterparty is the exchange, repeats the sum of those fills. */
export const isMatch = ({ data }) => !exchanges.has(data.taker);

/** A `trade` frame of the event socket. */
export function fromFrame({ data }) {
  const [usdUnits, shareUnits] =
    data.side === 'BUY' ? [data.maker_amount, data.taker_amount] : [data.taker_amount, data.maker_amount];
  return {
    key: `${data.tx_hash}-${data.log_index}`,
    block: data.block_number,
    atS: Math.floor(data.timestamp / 1000),
    wallet: data.maker,
    taker: data.taker,
    side: data.side,
    outcome: data.outcome ?? null,
    title: data.market_title ?? null,
    condition: data.condition_id ?? null,
    token: data.token_id,
    price: data.price,
    shares: fromUnits(shareUnits),
    usd: fromUnits(usdUnits),
    fee: data.fee,
    tx: data.tx_hash,
  };
}

/** Test for rows that a `retract` frame voids. Rows of the API's lists have no block: they are final. */
export const voidedBy =
  ({ data: { from_block: from, to_block: to } }) =>
  ({ block }) =>
    block >= from && block <= to;

/** A page of a /v3 list of trades, in the form that `createTable` expects. */
export async function tradesPage(get, path, query, cursor) {
  const page = await get(path, { ...query, limit: PAGE, cursor });
  return { rows: page.trades.map(fromList), next: page.next_cursor };
}

export const tradeKey = (row) => row.key;
export const tradeTime = (row) => row.atS;

const outcome = (row) => row.outcome ?? short(row.token);
/** Narrow screens have no room for a column of outcomes. */
const market = (row) =>
  el(
    'span',
    {},
    el('a', { class: 'row', href: marketPath(row.condition ?? row.token) }, row.title ?? `Token ${short(row.token)}`),
    el('small', { class: 'phone-only' }, outcome(row)),
  );

const columns = {
  time: { title: 'Time, UTC', cell: (row) => time(row.atS) },
  maker: { title: 'Maker', wide: true, cell: (row) => wallet(row.wallet) },
  rowMaker: { title: 'Maker', wide: true, cell: (row) => wallet(row.wallet, true) },
  /** With the maker, for whom narrow screens have no column. */
  timeAndMaker: {
    title: 'Time, UTC',
    cell: (row) => el('span', {}, time(row.atS), el('small', { class: 'phone-only' }, wallet(row.wallet))),
  },
  taker: { title: 'Taker', wide: true, cell: (row) => wallet(row.taker) },
  market: { title: 'Market', kind: 'text', cell: market },
  makerSide: { title: 'Maker side', cell: (row) => side(row.side) },
  side: { title: 'Side', cell: (row) => side(row.side) },
  outcome: { title: 'Outcome', cell: outcome },
  wideOutcome: { title: 'Outcome', wide: true, cell: outcome },
  price: { title: 'Price per share', kind: 'num', cell: (row) => price(row.price) },
  shares: { title: 'Shares', kind: 'num', wide: true, cell: (row) => shares(row.shares) },
  usd: { title: 'Amount', kind: 'num', cell: (row) => usd(row.usd) },
  fee: { title: 'Fee', kind: 'num', wide: true, cell: (row) => usd(row.fee) },
  tx: {
    title: 'Transaction',
    wide: true,
    cell: (row) => transactionLink(row.tx),
  },
};

const pick = (...names) => names.map((name) => columns[name]);
export const marketColumns = pick(
  ...['timeAndMaker', 'makerSide', 'outcome', 'price', 'shares', 'usd', 'rowMaker', 'taker', 'tx'],
);
export const walletColumns = pick('time', 'market', 'side', 'wideOutcome', 'price', 'shares', 'usd', 'fee', 'tx');
export const freeWalletColumns = [
  ...pick('time', 'market', 'side', 'wideOutcome', 'price'),
  { ...columns.shares, wide: false },
  ...pick('tx'),
];
/** Without the wallets: a list in half of the page. */
export const largeColumns = pick('time', 'market', 'makerSide', 'wideOutcome', 'price', 'usd');
export const newestColumns = pick('time', 'market', 'makerSide', 'wideOutcome', 'price', 'usd', 'maker', 'taker');
