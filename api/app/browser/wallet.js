// /app/wallet/{address}

import { get } from './api.js';
import { $, el, title } from './dom.js';
import { short } from './format.js';
import { createTable } from './table.js';
import { tradeKey, tradesPage, walletColumns } from './trades.js';

export function showWallet(address) {
  title(`Wallet ${short(address)}`);
  $('facts').replaceChildren(el('span', { class: 'mono' }, address));
  // The wallet's own orders only: they hold what it took from others already.
  const trades = createTable({
    id: 'trades',
    columns: walletColumns,
    load: (place) => tradesPage(get, `/v3/wallets/${encodeURIComponent(address)}/trades`, { side: 'maker' }, place),
    keyOf: tradeKey,
    empty: 'This wallet has not traded.',
  });
  void trades.reload();
}
