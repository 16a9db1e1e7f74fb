// The requests, messages and statements that return what the page of a wallet shows.

import { sqlText } from './as-code.js';
import { chosenOf } from './dom.js';

const CURVE_PATHS = {
  market: (wallet) => `/v1/trader/${wallet}/pnl`,
  realized: (wallet) => `/v2/trader/${wallet}/equity`,
};
const ORDER = { recent: 'p.last_at', amount: 'p.shares', realized_pnl: 'p.realized_pnl_usd' };
const STATUS = {
  open: ' AND p.shares > 0 AND NOT n.is_resolved',
  redeemable: ' AND p.shares > 0 AND n.is_resolved',
  redeemed: ' AND p.shares = 0 AND p.last_redeemed_at IS NOT NULL',
  closed: ' AND p.shares = 0 AND p.last_redeemed_at IS NULL',
};

/** The code of a wallet's page. `page`: rows of a page of a list. */
export function walletCode(wallet, page) {
  const status = chosenOf('status') ?? '';
  const sort = chosenOf('position-sort') ?? 'recent';
  const owner = `wallet = ${sqlText(wallet)}`;
  return {
    rest: [
      { title: 'totals', path: `/v3/wallets/${wallet}`, query: { include_accounting_summary: true } },
      { title: 'profit after fees', path: `/v1/wallets/${wallet}/summary` },
      {
        title: 'profit',
        path: CURVE_PATHS[chosenOf('curve')](wallet),
        query: { period: chosenOf('period') },
      },
      { title: 'positions', path: `/v3/wallets/${wallet}/positions`, query: { status, sort, limit: page } },
      { title: 'trades', path: `/v3/wallets/${wallet}/trades`, query: { side: 'maker', limit: page } },
    ],
    socket: [
      {
        title: 'new trades',
        message: {
          action: 'subscribe',
          type: 'wallets',
          filters: { wallets: [wallet], event_types: ['trade', 'retract'], snapshot_count: page },
        },
      },
    ],
    sql: [
      {
        title: 'profit by day',
        text: `SELECT day, fills, party_usd, wins, losses, realized_pnl_usd, fee_usd\nFROM wallet_days\nWHERE ${owner}\nORDER BY day`,
      },
      {
        title: 'positions',
        text: `SELECT p.token_id AS token_id, p.slug AS slug, p.outcome AS outcome, p.shares AS shares, p.avg_price AS avg_price, n.price AS price,
  n.price_source AS price_source, p.realized_pnl_usd AS realized_pnl_usd, p.last_at AS last_at
FROM positions AS p
LEFT JOIN prices_now AS n ON n.token_id = p.token_id
WHERE p.${owner}${STATUS[status] ?? ''}
ORDER BY ${ORDER[sort]} DESC, p.token_id
LIMIT ${page}`,
      },
      {
        title: 'trades',
        text: `SELECT traded_at, slug, outcome, side, price, shares, party_usd, fee_usd, is_taker, tx_hash\nFROM trade_parties\nWHERE ${owner} AND exchange_version < 3\nORDER BY block_number DESC, log_index DESC\nLIMIT ${page}`,
      },
    ],
  };
}
