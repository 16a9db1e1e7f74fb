// Current and former holders of a market.

import { get } from './api.js';
import { $, chosenOf, gain, wallet } from './dom.js';
import { fromUnits, price, shares, short } from './format.js';
import { createTable } from './table.js';

const PAGE = 50;

export function createHolders(market) {
  const outcomes = new Map(market.token_ids.map((token, index) => [token, market.token_outcomes[index]]));
  const [only] = market.token_ids;
  const path =
    market.condition_id === null
      ? `/v3/markets/${only}/positions`
      : `/v3/markets/condition/${market.condition_id}/positions`;
  const tokenOf = (row) => row.token_id ?? only;
  const table = createTable({
    id: 'holders',
    columns: [
      { title: 'Wallet', cell: (row) => wallet(row.user, true) },
      { title: 'Outcome', cell: (row) => outcomes.get(tokenOf(row)) ?? short(tokenOf(row)) },
      { title: 'Shares', kind: 'num', cell: (row) => shares(fromUnits(row.amount)) },
      { title: 'Average price', kind: 'num', cell: (row) => price(fromUnits(row.avg_price)) },
      { title: 'Bought, shares', kind: 'num', wide: true, cell: (row) => shares(fromUnits(row.total_bought)) },
      { title: 'Realized', kind: 'num', cell: (row) => gain(fromUnits(row.realized_pnl)) },
    ],
    async load(cursor) {
      const page = await get(path, { sort: chosenOf('holder-sort'), limit: PAGE, cursor });
      return { rows: page.data, next: page.next_cursor };
    },
    keyOf: (row) => `${row.user}-${tokenOf(row)}`,
    empty: 'This market has no holders.',
  });
  $('holder-sort').addEventListener('change', () => void table.reload());
  return table;
}
