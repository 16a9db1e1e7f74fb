import { eventTransactionSql } from '../../schemas/primitives/positions.sql.js';
import {
  AMOUNT,
  amount,
  column,
  FINAL_BLOCKS,
  NULLABLE_TIME,
  type PublicView,
  TIME,
  tokenColumns,
  tokenNamesJoin,
  type ViewColumn,
} from './spec.js';

const PRICE_18 = 'Decimal(38, 18)';
const wallet = (expression: string): ViewColumn => column('wallet', 'String', expression, 'Wallet, 0x and lower case.');

const positionColumns: readonly ViewColumn[] = [
  wallet('p.wallet'),
  ...tokenColumns('p.token_id'),
  column('shares', AMOUNT, amount('p.size'), 'Current shares; 0 when the position is closed.'),
  column(
    'shares_without_cost',
    AMOUNT,
    amount('p.received'),
    'Part of shares that was received by transfer: no cost, and no profit when they leave.',
  ),
  column(
    'avg_price',
    PRICE_18,
    'p.avg_price',
    'USD paid per share bought, before USD fees; for a closed position over its lifetime.',
  ),
  column(
    'cost_usd',
    AMOUNT,
    amount('p.cost'),
    'USD paid for the current shares, at the average price. Includes the cost of fee_shares until no bought share is left; then it is fee_cost_usd.',
  ),
  column(
    'realized_pnl_usd',
    AMOUNT,
    amount('p.realized_pnl'),
    'Profit (negative: loss) of shares sold, merged or redeemed, USD, before fees.',
  ),
  column('bought_shares', AMOUNT, amount('p.total_bought'), 'Shares ever acquired at a cost.'),
  column('bought_usd', AMOUNT, amount('p.bought_usdc'), 'USD ever paid in buys.'),
  column('sold_usd', AMOUNT, amount('p.sold_usdc'), 'USD ever received in sales.'),
  column('fees_usd', AMOUNT, amount('p.fees'), 'Fees paid in USD.'),
  column('fee_shares', AMOUNT, amount('p.fee_shares'), 'Shares charged as fees by the first exchange.'),
  column(
    'fee_cost_usd',
    AMOUNT,
    amount('p.fee_cost'),
    'Cost of fee_shares in USD, recorded when no bought share is left.',
  ),
  column('sent_cost_usd', AMOUNT, amount('p.sent_cost'), 'Cost of shares sent to other wallets, USD.'),
  column('fills', 'UInt32', 'p.fills', 'Buys and sales.'),
  column(
    'unpriced_events',
    'UInt32',
    'p.unpriced',
    'Changes that the recorded history does not fully determine: shares left that never came in, an amount without a price (recorded at cost), a conversion of an unknown number of questions.',
  ),
  column(
    'is_complete',
    'Bool',
    'p.unpriced = 0',
    'False when earlier changes of the position are missing, as later ones show (unpriced_events); amounts then count what is recorded.',
  ),
  column('first_at', TIME, 'p.first_at', 'First change, UTC.'),
  column('last_at', TIME, 'p.last_at', 'Newest change, UTC.'),
  column('last_trade_at', NULLABLE_TIME, 'p.last_trade_at', 'Newest buy or sale, UTC; NULL when there is none.'),
  column('last_redeemed_at', NULLABLE_TIME, 'p.last_redeemed_at', 'Newest redemption, UTC; NULL when there is none.'),
];

const WORTH =
  'Value and unrealized profit need a price: join prices_now on token_id. Total profit at price p is realized_pnl_usd + (shares - shares_without_cost) * p - cost_usd - fees_usd - fee_cost_usd.';

const positions: PublicView = {
  name: 'positions',
  summary: 'One row per wallet and outcome token that it ever had, including closed positions.',
  key: ['wallet', 'token_id'],
  fastBy: ['wallet'],
  freshness: 'Seconds behind final blocks; a row is replaced when its position changes.',
  caveat: `${WORTH} For the holders of one token read holders.`,
  columns: positionColumns,
  from: `positions AS p FINAL ${tokenNamesJoin('p.token_id')}`,
};

const holders: PublicView = {
  name: 'holders',
  summary: 'Open positions, one row per outcome token and wallet that has shares of it; as positions, stored by token.',
  key: ['token_id', 'wallet'],
  fastBy: ['token_id'],
  freshness: 'Seconds behind final blocks; a row is replaced when its position changes.',
  caveat: WORTH,
  columns: positionColumns,
  from: `positions_by_token AS p FINAL ${tokenNamesJoin('p.token_id')} WHERE p.size > 0`,
};

const pnlEvents: PublicView = {
  name: 'pnl_events',
  summary: 'One row per change of a position: the effect of a fill, split, merge, redemption, conversion or transfer.',
  key: ['wallet', 'token_id', 'event_id', 'leg'],
  fastBy: ['wallet', 'happened_at (with wallet)'],
  freshness: FINAL_BLOCKS,
  caveat: 'Split, merge and redemption of a market change both of its tokens: two rows with the same event_id.',
  columns: [
    wallet('e.wallet'),
    column('happened_at', TIME, 'e.timestamp', 'Time of the block, UTC, whole seconds.'),
    column('action', 'String', 'e.action', 'BUY, SELL, SPLIT, MERGE, REDEEM, CONVERT, SEND or RECEIVE.'),
    ...tokenColumns('e.token_id'),
    column('shares_change', AMOUNT, amount('e.shares'), 'Shares added (positive) or removed (negative).'),
    column(
      'untracked_shares',
      AMOUNT,
      amount('e.untracked'),
      'Shares that left without a recorded inflow: neither cost nor profit.',
    ),
    column(
      'party_usd',
      AMOUNT,
      amount('e.usdc'),
      'USD that changed hands in a BUY or SELL, before fees; 0 for other actions. Counts each party of a match.',
    ),
    column(
      'cash_change_usd',
      AMOUNT,
      amount('e.cash'),
      'USD that the wallet received (positive) or paid (negative) for shares with a cost, before USD fees. Shares that were received by transfer, or sold without a recorded inflow, bring 0; party_usd of a SELL counts them. A REDEEM that the recorded history does not explain has its whole payout.',
    ),
    column('cost_change_usd', AMOUNT, amount('e.cost'), 'Change of cost_usd of the position.'),
    column(
      'realized_pnl_usd',
      AMOUNT,
      amount('e.realized_pnl'),
      'Profit (negative: loss) realized by this change, USD, before fees.',
    ),
    column('fee_usd', AMOUNT, amount('e.fee'), 'Fee paid in USD.'),
    column('fee_shares', AMOUNT, amount('e.fee_shares'), 'Fee in shares.'),
    column(
      'is_taker',
      'Bool',
      'e.is_taker',
      'Whether the wallet was the taker of a BUY or SELL; false for other actions.',
    ),
    column('shares_after', AMOUNT, amount('e.size_after'), 'Shares after the change.'),
    column('cost_after_usd', AMOUNT, amount('e.cost_after'), 'cost_usd after the change.'),
    column(
      'realized_after_usd',
      AMOUNT,
      amount('e.realized_after'),
      'realized_pnl_usd of the position after the change.',
    ),
    column(
      'shares_without_cost_after',
      AMOUNT,
      amount('e.received_after'),
      'Part of shares_after that was received by transfer, without a cost. 0 in events of versions without this column.',
    ),
    column(
      'fee_cost_after_usd',
      AMOUNT,
      amount('e.fee_cost_after'),
      'Cost of the shares kept as fees of all holdings that were closed until then, USD. 0 in events of versions without this column.',
    ),
    column(
      'problem',
      'String',
      'e.problem',
      "Why this redemption or conversion could not be fully accounted; '' otherwise. Of other changes, untracked_shares says what is missing: the accounting is complete if problem is '' and untracked_shares is 0.",
    ),
    column('tx_hash', 'String', eventTransactionSql('e.id'), 'Transaction.'),
    column('block_number', 'UInt64', 'e.block_number', 'Block.'),
    column('log_index', 'UInt32', 'e.log_index', 'Index of the log in its block.'),
    column('event_id', 'String', 'e.id', 'Event on the chain.'),
    column('leg', 'UInt16', 'e.leg', 'Number of the change among those of one event.'),
  ],
  from: `pnl_events AS e FINAL ${tokenNamesJoin('e.token_id')}`,
};

const walletDays: PublicView = {
  name: 'wallet_days',
  summary: 'One row per wallet and UTC day with a fill, a realized result or a fee.',
  key: ['wallet', 'day'],
  fastBy: ['wallet'],
  freshness: 'Seconds behind final blocks; the newest day grows.',
  columns: [
    wallet('d.wallet'),
    column('day', 'Date', 'd.day', 'UTC day.'),
    column('fills', 'UInt64', 'sum(d.fills)', 'Buys and sales.'),
    column(
      'party_usd',
      AMOUNT,
      amount('sum(toInt128(d.volume))'),
      'USD bought and sold by the wallet, before fees. Counts each party of a match.',
    ),
    column('fee_usd', AMOUNT, amount('sum(toInt128(d.fees))'), 'Fees paid in USD.'),
    column('realizations', 'UInt64', 'sum(d.realizations)', 'Changes that realized a profit or a loss.'),
    column('wins', 'UInt64', 'sum(d.wins)', 'Changes that realized a profit.'),
    column('losses', 'UInt64', 'sum(d.losses)', 'Changes that realized a loss.'),
    column(
      'realized_pnl_usd',
      AMOUNT,
      amount('sum(toInt128(d.realized_pnl))'),
      'Profits and losses realized, USD, before fees.',
    ),
    column('gross_profit_usd', AMOUNT, amount('sum(toInt128(d.gross_profit))'), 'Sum of the profits.'),
    column('gross_loss_usd', AMOUNT, amount('sum(toInt128(d.gross_loss))'), 'Sum of the losses, negative.'),
  ],
  from: 'wallet_days AS d GROUP BY d.wallet, d.day',
};

const walletTags: PublicView = {
  name: 'wallet_tags',
  summary: 'One row per tag and wallet that traded markets of the tag: sums of the fills of its own orders.',
  key: ['tag', 'wallet'],
  fastBy: ['tag'],
  freshness:
    'Seconds behind positions and the catalogue; tags that a market gets or loses later are applied to its fills.',
  caveat: 'A fill of a market with two tags is in the rows of both, so a sum over tags counts it twice.',
  columns: [
    column('tag', 'String', 'w.tag', 'Slug of the tag, of the market or its event.'),
    wallet("concat('0x', lower(hex(w.wallet)))"),
    column('fills', 'UInt64', 'w.fills', 'Buys and sales.'),
    column(
      'party_usd',
      AMOUNT,
      amount('w.volume'),
      'USD bought and sold by the wallet, before fees. Counts each party of a match.',
    ),
    column('markets', 'UInt32', 'w.markets', 'Distinct markets of the tag that the wallet traded.'),
  ],
  from: 'wallet_tags AS w FINAL WHERE w.fills > 0',
};

const marketNamesJoin =
  'LEFT JOIN (SELECT condition_id, slug, event_slug, neg_risk FROM markets FINAL) AS m ON m.condition_id = w.subject_id';
const actionColumns: readonly ViewColumn[] = [
  wallet('w.wallet'),
  column('slug', 'String', 'm.slug', "Market's slug; '' until the catalogue lists it, and for conversions."),
  column(
    'event_slug',
    'String',
    "ifNull(m.event_slug, '')",
    "Slug of the market's event; '' when there is none or the catalogue does not list the market.",
  ),
  column('tx_hash', 'String', 'w.tx_hash', 'Transaction.'),
  column('block_number', 'UInt64', 'w.block_number', 'Block.'),
  column('log_index', 'UInt32', 'w.log_index', 'Index of the log in its block.'),
  column(
    'index_sets',
    'Array(String)',
    'w.index_sets',
    'Bit masks in decimal: outcomes redeemed, or the questions of a conversion; empty otherwise.',
  ),
  column(
    'is_neg_risk',
    'Nullable(Bool)',
    "if(m.condition_id = '', NULL, m.neg_risk)",
    'Whether the market is one of a multi-outcome event; NULL until the catalogue lists it, and for conversions.',
  ),
];

const redemptions: PublicView = {
  name: 'redemptions',
  summary: 'One row per redemption of shares of a resolved market by a wallet.',
  key: ['block_number', 'log_index'],
  fastBy: ['wallet'],
  freshness: FINAL_BLOCKS,
  caveat:
    'A redemption of losing shares has a row with payout_usd 0. Combos only if the AutoRedeemer redeemed them: pnl_events has all of them.',
  columns: [
    column('redeemed_at', TIME, 'w.timestamp', 'Time of the block, UTC, whole seconds.'),
    column('condition_id', 'String', 'w.subject_id', 'Market.'),
    column('payout_usd', AMOUNT, amount('w.amount'), 'USD paid out; 0 for losing shares.'),
    column(
      'redeemed_through',
      'String',
      "ifNull(w.source, '')",
      "Contract that redeemed for the wallet; '' when the wallet redeemed directly.",
    ),
    ...actionColumns,
  ],
  from: `wallet_events AS w FINAL ${marketNamesJoin} WHERE w.kind = 'redemption'`,
};

const splitsMerges: PublicView = {
  name: 'splits_merges',
  summary:
    'One row per split (USD into a full set of outcomes), merge (back into USD) or conversion (NO shares of a multi-outcome event into the other YES) of a wallet.',
  key: ['block_number', 'log_index'],
  fastBy: ['wallet'],
  freshness: FINAL_BLOCKS,
  caveat:
    'Splits and merges inside a match belong to the match and are not included. Those of combos are in pnl_events only.',
  columns: [
    column('happened_at', TIME, 'w.timestamp', 'Time of the block, UTC, whole seconds.'),
    column('kind', 'String', 'w.kind', 'split, merge or conversion.'),
    column('condition_id', 'String', "if(w.kind = 'conversion', '', w.subject_id)", "Market; '' for conversions."),
    column(
      'neg_risk_market_id',
      'String',
      "if(w.kind = 'conversion', w.subject_id, '')",
      "Multi-outcome event of a conversion; '' for splits and merges.",
    ),
    column(
      'amount',
      AMOUNT,
      amount('w.amount'),
      'Full sets, each of which is 1 USD; of a conversion the NO shares per question.',
    ),
    ...actionColumns,
  ],
  from: `wallet_events AS w FINAL ${marketNamesJoin} WHERE w.kind IN ('split', 'merge', 'conversion')`,
};

export const walletViews: readonly PublicView[] = [
  positions,
  holders,
  pnlEvents,
  walletDays,
  walletTags,
  redemptions,
  splitsMerges,
];
