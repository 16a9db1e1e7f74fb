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

/** Who is behind the address, as far as anyone knows. */
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
      'The sums of a wallet are part of the paid plans. Its profit over time, open positions and trades are in yours.',
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

/** What is no address is asked about once, for the API's words. */
async function showRefusal(text) {
  const asked = encodeURIComponent(text);
  try {
    await get(`/v3/wallets/${asked}`).catch((error) => {
      if (isPaidOnly(error)) return get(`/v1/wallets/${asked}/positions`);
      throw error;
    });
  } catch (error) {
    $('view').replaceChildren($('title'), problem(error, null));
  }
}

export function showWallet(address) {
  title(`Wallet ${short(address)}`);
  if (kindOf(address) !== 'wallet') return showRefusal(address);
  void showSummary(address);
  void identity(address);
  void createEquity(address).show();
  void createPositions(address).reload();
  // The wallet's own orders only: they hold what it took from others already.
  const trades = createTable({
    id: 'trades',
    columns: walletColumns,
    load: (place) => tradesPage(get, `/v3/wallets/${address}/trades`, { side: 'maker' }, place),
    keyOf: tradeKey,
    instead: (error) => (isPaidOnly(error) ? createFreeTrades(address) : null),
    empty: 'This wallet has not traded.',
  });
  return trades.reload();
}
