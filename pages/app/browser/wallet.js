// /app/wallet/{address}

import { get, isPaidOnly, problem } from './api.js';
import { showAsCode } from './as-code.js';
import { createCsvButton, positionCsv, tradeCsv } from './csv.js';
import { $, chosenOf, el, gain, tile, title } from './dom.js';
import { createEquity } from './equity.js';
import { showExposure } from './exposure.js';
import { count, kindOf, short, usd, walletPath } from './format.js';
import { createFreeTrades, paidOnly } from './free-plan.js';
import { addressLink, copyButton, venueWalletLink } from './links.js';
import { findPerson, personFacts } from './person.js';
import { createPositions } from './positions.js';
import { createTable } from './table.js';
import { tradeKey, tradesPage, walletColumns } from './trades.js';
import { walletCode } from './wallet-code.js';

/** Rows of a page of a list, and of a page of a download. */
const PAGE = 50;
const CSV_PAGE = 300;

/** `sums`: /v1/wallets/{wallet}/summary, whose net PnL is the end of the profit chart. */
const tilesOf = (summary, sums) => {
  const { fee_fill_count: charged, order_owner_fill_count: all } = summary.accounting_summary.fees_paid;
  return [
    tile('Profit after fees', gain(sums.net_pnl), 'at current prices'),
    tile('Profit before fees', gain(summary.total_pnl), `${usd(summary.total_volume)} traded`),
    tile('Fees', usd(sums.fees + sums.fees_in_shares), `${count(charged)} of ${count(all)} fills`),
    tile('Realized', gain(summary.net_realized_pnl), 'before fees'),
    tile('Unrealized', gain(summary.unrealized_pnl), `${count(summary.open_positions)} open, and unredeemed`),
    tile('Positions', count(summary.position_count), `${count(summary.wins)} won, ${count(summary.losses)} lost`),
  ];
};

const withoutSums = (refusal) =>
  el(
    'div',
    { class: 'notice' },
    paidOnly(
      'The totals of a wallet are part of the paid plans. Your plan includes its PnL over time, open positions and trades.',
      refusal,
    ),
  );

async function showSummary(address) {
  const box = $('tiles');
  box.setAttribute('aria-busy', 'true');
  try {
    const query = { include_accounting_summary: true };
    const wallet = encodeURIComponent(address);
    const [summary, sums] = await Promise.all([
      get(`/v3/wallets/${wallet}`, query),
      get(`/v1/wallets/${wallet}/summary`),
    ]);
    box.replaceChildren(...tilesOf(summary, sums));
  } catch (error) {
    box.replaceChildren(isPaidOnly(error) ? withoutSums(error) : problem(error, () => void showSummary(address)));
  }
  box.removeAttribute('aria-busy');
}

/** Shows the API's error text for a text that is not an address. */
async function showApiError(text) {
  const encoded = encodeURIComponent(text);
  try {
    await get(`/v3/wallets/${encoded}`).catch((error) => {
      if (isPaidOnly(error)) return get(`/v1/wallets/${encoded}/positions`);
      throw error;
    });
  } catch (error) {
    $('view').replaceChildren($('title'), problem(error, null));
  }
}

/** Shows what is known of the person; moves to the trading wallet if the address is an owner key that has not traded. */
async function showPerson(address) {
  const shown = el(
    'span',
    {},
    el('span', { class: 'mono' }, address),
    ' ',
    copyButton(address, 'address'),
    ' ',
    addressLink(address),
    ' ',
    venueWalletLink(address),
  );
  $('facts').replaceChildren(shown);
  try {
    const { person, wallet } = await findPerson(address, new URLSearchParams(location.search).get('from'));
    if (wallet !== address) {
      location.replace(`${walletPath(wallet)}?from=${address}`);
      return;
    }
    $('facts').replaceChildren(shown, ...personFacts(address, person));
  } catch (error) {
    $('facts').replaceChildren(shown, el('span', {}, error.message));
  }
}

/** Buttons that download all positions and trades. */
function createDownloads(address) {
  /** All pages of a file have the status that was chosen at its start. */
  let status;
  createCsvButton({
    id: 'positions-csv',
    name: () => `oddstream-positions-${address}.csv`,
    columns: positionCsv,
    async load(cursor) {
      if (cursor === null) status = chosenOf('status');
      const query = { status, sort: 'recent', limit: CSV_PAGE, cursor };
      const page = await get(`/v3/wallets/${address}/positions`, query);
      return { rows: page.positions, next: page.next_cursor };
    },
  });
  createCsvButton({
    id: 'trades-csv',
    name: () => `oddstream-trades-${address}.csv`,
    columns: tradeCsv,
    async load(cursor) {
      const page = await get(`/v3/wallets/${address}/trades`, { side: 'maker', limit: CSV_PAGE, cursor });
      return { rows: page.trades, next: page.next_cursor };
    },
  });
}

/** What the free plan does not include has no downloads. */
function withoutDownloads() {
  for (const id of ['positions-csv', 'trades-csv']) $(id).hidden = true;
}

export function showWallet(text) {
  const isAddress = kindOf(text) === 'wallet';
  const address = isAddress ? text.toLowerCase() : text;
  title(`Wallet ${short(address)}`);
  if (!isAddress) return showApiError(text);
  void showPerson(address);
  void showSummary(address);
  void createEquity(address).show();
  void createPositions(address).reload();
  void showExposure(address);
  createDownloads(address);
  showAsCode(() => walletCode(address, PAGE));
  // The wallet's own orders only: a taker order's row already includes the makers' fills that it matched.
  const trades = createTable({
    id: 'trades',
    columns: walletColumns,
    load: (cursor) => tradesPage(get, `/v3/wallets/${address}/trades`, { side: 'maker' }, cursor),
    keyOf: tradeKey,
    instead(error) {
      if (!isPaidOnly(error)) return null;
      withoutDownloads();
      return createFreeTrades(address);
    },
    empty: 'This wallet has not traded.',
  });
  return trades.reload();
}
