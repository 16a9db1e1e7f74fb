import { hexText } from '../../infra/clickhouse/hex.js';
import {
  AMOUNT,
  amount,
  column,
  FINAL_BLOCKS,
  NULLABLE_AMOUNT,
  type PublicView,
  pricePerShare,
  TIME,
  tokenColumns,
  tokenNamesJoin,
  type ViewColumn,
} from './spec.js';

const trades: PublicView = {
  name: 'trades',
  summary:
    'One row per match: the fill of one maker order. Each traded dollar is in exactly one row, so volume is sum(match_usd).',
  key: ['block_number', 'log_index'],
  fastBy: ['day', 'traded_at', 'token_id'],
  freshness: FINAL_BLOCKS,
  caveat:
    "When both orders buy (or both sell), the exchange mints (or merges) a pair of outcomes: the row then has the maker's outcome, and the taker traded the other outcome at 1 - price.",
  columns: [
    column('traded_at', TIME, 'm.traded_at', 'Time of the block, UTC. Whole seconds; several blocks may share one.'),
    column('day', 'Date', 'toDate(m.traded_at)', 'UTC day of traded_at.'),
    ...tokenColumns('m.token_id'),
    column('maker_side', 'String', 'm.side', "BUY or SELL: side of the maker's order."),
    column(
      'price',
      NULLABLE_AMOUNT,
      pricePerShare('m.usdc', 'm.shares'),
      'USD per share, rounded to 6 decimals; NULL when no shares moved.',
    ),
    column(
      'shares',
      AMOUNT,
      amount('m.shares'),
      'Shares of the token that the maker order bought or sold, before fees.',
    ),
    column(
      'match_usd',
      AMOUNT,
      amount('m.usdc'),
      'USD that the maker order paid or received for the shares. The sum is the volume counted once per match.',
    ),
    column('maker', 'String', 'm.maker', 'Wallet of the maker order, 0x and lower case.'),
    column('taker', 'String', 'm.taker', 'Wallet of the taker, 0x and lower case.'),
    column(
      'maker_fee_usd',
      AMOUNT,
      amount('m.fee'),
      "Fee of the maker order in USD. The taker's fee is in trade_parties.",
    ),
    column('is_combo', 'Bool', 'm.exchange_version = 3', 'Whether the match is of the combo exchange.'),
    column(
      'exchange_version',
      'UInt8',
      'm.exchange_version',
      'Generation of the exchange contract: 1, 2, or 3 for combos.',
    ),
    column(
      'order_hash',
      'String',
      hexText('m.order_hash'),
      'Hash of the maker order; one order may fill in several rows.',
    ),
    column('tx_hash', 'String', hexText('m.tx_hash'), 'Transaction.'),
    column('block_number', 'UInt64', 'm.block_number', 'Block. Sort by (block_number, log_index), not by time.'),
    column('log_index', 'UInt32', 'm.log_index', 'Index of the OrderFilled log in its block.'),
  ],
  from: `matches_by_day AS m FINAL ${tokenNamesJoin('m.token_id')}`,
};

/** `wallet`: SQL of the wallet whose order it is. */
const partyColumns = (wallet: string): readonly ViewColumn[] => [
  column('wallet', 'String', wallet, 'Wallet whose order it is, 0x and lower case.'),
  column('traded_at', TIME, 'p.timestamp', 'Time of the block, UTC, whole seconds.'),
  column('is_taker', 'Bool', 'p.is_taker_order', 'Whether the wallet was the taker (true) or the maker (false).'),
  column('side', 'String', 'p.side', "BUY or SELL: side of the wallet's order."),
  ...tokenColumns('p.token_id'),
  column(
    'price',
    NULLABLE_AMOUNT,
    pricePerShare('p.usdc', 'p.shares'),
    'USD per share, rounded to 6 decimals, before fees; NULL when no shares moved.',
  ),
  column('shares', AMOUNT, amount('p.shares'), 'Shares bought or sold, before fees.'),
  column(
    'party_usd',
    AMOUNT,
    amount('p.usdc'),
    'USD paid or received for the shares, before fees. Its sum over all wallets counts each match once per party: about twice the volume.',
  ),
  column('fee_usd', AMOUNT, amount('p.fee'), 'Fee in USD; a fee in shares at its value.'),
  column(
    'fee_shares',
    AMOUNT,
    amount('p.fee_shares'),
    'Part of the fee that was charged in shares (first exchange, buys); included in fee_usd.',
  ),
  column(
    'counterparty',
    'String',
    "if(p.is_taker_order, '', p.taker)",
    "The taker's wallet on a maker's row; '' on a taker's row, whose makers are the rows of trades with the same tx_hash.",
  ),
  column('builder', 'String', 'p.builder', "Builder code of the order; '' when it has none."),
  column(
    'exchange_version',
    'UInt8',
    'p.exchange_version',
    'Generation of the exchange contract: 1, 2, or 3 for combos.',
  ),
  column('order_hash', 'String', hexText('p.order_hash'), 'Hash of the order.'),
  column('tx_hash', 'String', hexText('p.tx_hash'), 'Transaction.'),
  column('block_number', 'UInt64', 'p.block_number', 'Block.'),
  column('log_index', 'UInt32', 'p.log_index', 'Index of the OrderFilled log in its block.'),
];

const tradeParties: PublicView = {
  name: 'trade_parties',
  summary:
    "One row per party of a trade: a maker order's fill is a row of its wallet, the taker's order is one row with the sum of its matches. sum(party_usd) counts both sides of each match.",
  key: ['block_number', 'log_index'],
  fastBy: ['wallet'],
  freshness: FINAL_BLOCKS,
  caveat:
    "Amounts are those of the order's log. A combo match that its counterparty filled by a direct call has no row for the counterparty; pnl_events has one. For one market use trades, for one day of all wallets trade_parties_by_time.",
  columns: partyColumns('p.wallet'),
  from: `fills_by_wallet AS p FINAL ${tokenNamesJoin('p.token_id')} WHERE p.role = 'maker'`,
};

const tradePartiesByTime: PublicView = {
  name: 'trade_parties_by_time',
  summary: 'The rows of trade_parties, stored by time.',
  key: ['block_number', 'log_index'],
  fastBy: ['traded_at'],
  freshness: FINAL_BLOCKS,
  columns: partyColumns('p.maker'),
  from: `fills AS p FINAL ${tokenNamesJoin('p.token_id')}`,
};

const volumeDays: PublicView = {
  name: 'volume_days',
  summary: 'One row per UTC day with trades: the volume by both ways of counting.',
  key: ['day'],
  fastBy: ['day'],
  freshness: FINAL_BLOCKS,
  columns: [
    column('day', 'Date', 'toDate(f.timestamp)', 'UTC day.'),
    column('matches', 'UInt64', 'countIf(NOT f.is_taker_order)', 'Matches: rows of trades.'),
    column(
      'match_usd',
      AMOUNT,
      amount('sumIf(toUInt128(f.usdc), NOT f.is_taker_order)'),
      'USD, each match once: the volume of the venue. Equals sum(match_usd) of trades.',
    ),
    column('parties', 'UInt64', 'count()', 'Fills of orders: rows of trade_parties.'),
    column(
      'party_usd',
      AMOUNT,
      amount('sum(toUInt128(f.usdc))'),
      'USD, each party of a match: the volume of all wallets. Equals sum(party_usd) of trade_parties; about twice match_usd.',
    ),
    column('fee_usd', AMOUNT, amount('sum(toUInt128(f.fee))'), 'Fees of all parties in USD.'),
  ],
  from: 'fills AS f FINAL GROUP BY day',
};

export const tradeViews: readonly PublicView[] = [trades, tradeParties, tradePartiesByTime, volumeDays];
