/** An example query of docs/SQL.md and /sql. The SQL runs as user analyst on database market and has one result on the recorded history. */
export interface ExampleQuery {
  readonly title: string;
  readonly sql: string;
  readonly note?: string;
}

const WALLET = '0xf539c942036cc7633a1e0015209a1343e9b2dda9';
const SLUG = 'btc-updown-5m-1774233600';

export const exampleQueries: readonly ExampleQuery[] = [
  {
    title: 'How much was traded per day?',
    note: '`match_usd` is the volume. `party_usd` is the volume of all wallets: about twice as much, but not exactly, because two buyers who mint a pair pay different prices.',
    sql: 'SELECT day, matches, match_usd, parties, party_usd FROM volume_days ORDER BY day',
  },
  {
    title: 'How much was traded per hour of one day?',
    sql: `SELECT toStartOfHour(traded_at) AS hour, count() AS matches, sum(match_usd) AS volume_usd
FROM trades
WHERE day = '2026-03-31'
GROUP BY hour
ORDER BY hour`,
  },
  {
    title: 'Which markets were traded most on a day?',
    sql: `SELECT slug, count() AS matches, sum(match_usd) AS volume_usd
FROM trades
WHERE day = '2026-04-05'
GROUP BY slug
ORDER BY volume_usd DESC, slug
LIMIT 5`,
  },
  {
    title: 'What are the trades of one market?',
    note: 'The tables below `trades` have tokens, not names: `token_id IN (...)` reads a few granules, `slug = ...` reads the token column of every row.',
    sql: `SELECT traded_at, outcome, maker_side, price, shares, match_usd
FROM trades
WHERE token_id IN (SELECT token_id FROM tokens WHERE slug = '${SLUG}')
ORDER BY block_number, log_index
LIMIT 5`,
  },
  {
    title: 'How large is a trade?',
    sql: `SELECT count() AS matches, min(match_usd) AS smallest, quantileExact(0.5)(match_usd) AS median, quantileExact(0.99)(match_usd) AS p99, max(match_usd) AS largest
FROM trades`,
  },
  {
    title: 'Which wallets traded most?',
    sql: `SELECT wallet, sum(fills) AS fills, sum(party_usd) AS traded_usd
FROM wallet_days
GROUP BY wallet
ORDER BY traded_usd DESC
LIMIT 5`,
  },
  {
    title: 'Is a wallet a maker or a taker?',
    sql: `SELECT is_taker, side, count() AS fills, sum(party_usd) AS traded_usd, sum(fee_usd) AS fees_usd
FROM trade_parties
WHERE wallet = '${WALLET}'
GROUP BY is_taker, side
ORDER BY is_taker, side`,
  },
  {
    title: 'What did a wallet earn per day?',
    sql: `SELECT day, fills, party_usd, wins, losses, realized_pnl_usd, fee_usd
FROM wallet_days
WHERE wallet = '${WALLET}'
ORDER BY day`,
  },
  {
    title: 'Which wallets realized the most?',
    sql: `SELECT wallet, sum(realized_pnl_usd) AS realized_usd, sum(gross_profit_usd) AS profits_usd, sum(gross_loss_usd) AS losses_usd
FROM wallet_days
GROUP BY wallet
ORDER BY realized_usd DESC
LIMIT 5`,
  },
  {
    title: 'What are the open positions of a wallet worth?',
    sql: `SELECT p.slug, p.outcome, p.shares, p.cost_usd, n.price, round(p.shares * n.price, 6) AS worth_usd
FROM positions AS p
LEFT JOIN prices_now AS n ON n.token_id = p.token_id
WHERE p.wallet = '0xeebde7a0e019a63e6b476eb425505b7b3e6eba30' AND p.shares > 0
ORDER BY p.shares DESC, p.token_id
LIMIT 5`,
  },
  {
    title: 'Which events changed a position?',
    sql: `SELECT happened_at, action, outcome, shares_change, cash_change_usd, realized_pnl_usd, shares_after
FROM pnl_events
WHERE wallet = '0xeebde7a0e019a63e6b476eb425505b7b3e6eba30'
  AND token_id IN (SELECT token_id FROM tokens WHERE slug = 'eth-updown-5m-1774964700')
ORDER BY block_number DESC, log_index DESC, leg DESC
LIMIT 6`,
  },
  {
    title: 'Who holds the outcomes of a market?',
    sql: `SELECT wallet, outcome, shares, avg_price
FROM holders
WHERE token_id IN (SELECT token_id FROM tokens WHERE slug = '${SLUG}')
ORDER BY shares DESC, wallet
LIMIT 5`,
  },
  {
    title: 'How did the price of a market move?',
    sql: `SELECT start_at, outcome, open, high, low, close, matches, match_usd
FROM candles_1m
WHERE token_id IN (SELECT token_id FROM tokens WHERE slug = '${SLUG}')
ORDER BY start_at, outcome`,
  },
  {
    title: 'How often does the price go up in five minutes?',
    sql: `SELECT asset, count() AS windows, countIf(settled_outcome = 'Up') AS up, countIf(settled_outcome = 'Down') AS down, countIf(settled_outcome IS NULL) AS unsettled
FROM windows
WHERE duration = '5m'
GROUP BY asset
ORDER BY asset`,
  },
  {
    title: 'Which windows moved the price most?',
    sql: `SELECT slug, start_at, round(open_price, 2) AS open_usd, round(close_price, 2) AS close_usd, round(close_price - open_price, 2) AS moved_usd, settled_outcome
FROM windows
WHERE feed = 'BTC/USD' AND is_complete AND open_price IS NOT NULL
ORDER BY abs(close_price - open_price) DESC
LIMIT 5`,
  },
  {
    title: 'Where do the ticks here and the settlement disagree?',
    note: 'Only where the oracle did not publish the second in which a window begins or ends.',
    sql: `SELECT slug, round(open_price, 2) AS open_usd, round(close_price, 2) AS close_usd, price_outcome, settled_outcome
FROM windows
WHERE price_outcome != settled_outcome
ORDER BY start_at`,
  },
  {
    title: 'Where are the longest gaps between ticks?',
    sql: `SELECT tick_at, dateDiff('second', before, tick_at) AS gap_s
FROM (
  SELECT tick_at, lagInFrame(tick_at, 1, tick_at) OVER (ORDER BY tick_at ROWS BETWEEN 1 PRECEDING AND CURRENT ROW) AS before
  FROM ticks
  WHERE feed = 'BTC/USD' AND twap_window_s = 0
)
ORDER BY gap_s DESC, tick_at
LIMIT 5`,
  },
  {
    title: 'Who redeemed how much?',
    sql: `SELECT wallet, count() AS redemptions, countIf(payout_usd = 0) AS of_lost_shares, sum(payout_usd) AS paid_usd
FROM redemptions
GROUP BY wallet
ORDER BY paid_usd DESC
LIMIT 5`,
  },
  {
    title: 'How much was merged back per day?',
    sql: `SELECT toDate(happened_at) AS day, kind, count() AS actions, sum(amount) AS merged_usd
FROM splits_merges
GROUP BY day, kind
ORDER BY day, kind`,
  },
  {
    title: 'Which coins are traded most?',
    sql: `SELECT m.crypto_asset AS asset, count() AS matches, sum(t.match_usd) AS volume_usd
FROM trades AS t
LEFT JOIN markets AS m ON m.condition_id = t.condition_id
WHERE t.day = '2026-03-23'
GROUP BY asset
ORDER BY volume_usd DESC`,
  },
];
