// /app/wallet/{address}

import { get, isPaidOnly, problem } from './api.js';
import { $, el, gain, tile, title } from './dom.js';
import { createEquity } from './equity.js';
import { count, kindOf, short, usd } from './format.js';
import { createFreeTrades, paidOnly } from './free-plan.js';
import { createPositions } from './positions.js';
import { createTable } from './table.js';
import { tradeKey, tradesPage, walletColumns } from './trades.js';

const KINDS = { deposit_wallet: 'deposit wallet', safe: 'safe', proxy: 'proxy wallet' };

/** Shows name and type of the wallet, if known. */
async function identity(address) {
  const shown = el('span', { class: 'mono' }, address);
  try {
    const found = await get(`/v1/resolve/${encodeURIComponent(address)}`);
    if (found.username !== null) title(found.username);
    const kind = KINDS[found.type];
    $('facts').replaceChildren(shown, ...(kind === undefined ? [] : [el('span', {}, kind)]));
  } catch (error) {
    $('facts').replaceChildren(shown, el('span', {}, error.message));
  }
}

const tilesOf = (summary) => [
  tile('Profit', gain(summary.total_pnl), `${usd(summary.total_volume)} traded`),
  tile('Realized', gain(summary.net_realized_pnl), 'before fees'),
  tile('Unrealized', gain(summary.unrealized_pnl), `${count(summary.open_positions)} open`),
  tile('Positions', count(summary.position_count), `${count(summary.wins)} won, ${count(summary.losses)} lost`),
];

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
    box.replaceChildren(...tilesOf(await get(`/v3/wallets/${encodeURIComponent(address)}`)));
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

export function showWallet(address) {
  title(`Wallet ${short(address)}`);
  if (kindOf(address) !== 'wallet') return showApiError(address);
  void showSummary(address);
  void identity(address);
  void createEquity(address).show();
  void createPositions(address).reload();
  // The wallet's own orders only: a taker order's row already includes the makers' fills that it matched.
  const trades = createTable({
    id: 'trades',
    columns: walletColumns,
    load: (cursor) => tradesPage(get, `/v3/wallets/${address}/trades`, { side: 'maker' }, cursor),
    keyOf: tradeKey,
    instead: (error) => (isPaidOnly(error) ? createFreeTrades(address) : null),
    empty: 'This wallet has not traded.',
  });
  return trades.reload();
}
