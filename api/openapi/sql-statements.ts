import { recordedExample } from './recorded-examples.js';

const example = (path: string, name: string): string => recordedExample(path, name) ?? '';
const wallet = `'${example('/v3/wallets/{address}', 'address')}'`;
const token = `toUInt256('${example('/v3/markets/{token_id}', 'token_id')}')`;
const condition = `'${example('/v3/conditions/{condition_id}', 'condition_id')}'`;
const slug = `'${example('/v3/markets/slug/{slug}', 'slug')}'`;

const newest = 'ORDER BY block_number DESC, log_index DESC\nLIMIT 100';
const trades = (where: string): string =>
  `-- A row per maker order; the response of /v3 and /v1 also has the order of each taker.
SELECT traded_at, slug, outcome, maker_side, price, shares, match_usd, maker, taker, tx_hash\nFROM trades\n${where}${newest}`;
/** The view is stored by day: without one it would be read whole. */
const newestTrades = trades('WHERE day >= today() - 1\n');
const walletTrades = `-- The orders of the wallet; the response also has the maker orders that it took.
SELECT traded_at, slug, outcome, side, price, shares, party_usd, fee_usd, is_taker, tx_hash
FROM trade_parties
WHERE wallet = ${wallet}
${newest}`;
const positions = `SELECT token_id, slug, outcome, shares, avg_price, realized_pnl_usd, is_complete, last_at
FROM positions
WHERE wallet = ${wallet}
ORDER BY last_at DESC, token_id
LIMIT 100`;
const candles = (where: string): string =>
  `SELECT start_at, outcome, open, high, low, close, match_usd, matches\nFROM candles_1h\nWHERE ${where}\nORDER BY start_at DESC, outcome\nLIMIT 120`;
const market = (where: string): string =>
  `SELECT question, slug, status, winning_outcome, resolved_at, resolution_source, outcomes, token_ids\nFROM markets\nWHERE ${where}`;
const holders = (where: string): string =>
  `SELECT wallet, outcome, shares, avg_price, realized_pnl_usd\nFROM holders\nWHERE ${where}\nORDER BY shares DESC, wallet\nLIMIT 100`;
const ownTokens = (where: string): string => `token_id IN (SELECT token_id FROM tokens WHERE ${where})`;
const profit = `-- The response leaves combos out and adds unrealized profit.
SELECT sum(p.realized_pnl_usd) AS realized_pnl_usd, sumIf(p.realized_pnl_usd, p.realized_pnl_usd > 0) AS gross_profit_usd,
  sumIf(p.realized_pnl_usd, p.realized_pnl_usd < 0) AS gross_loss_usd, sum(p.bought_usd + p.sold_usd) AS volume_usd
FROM positions AS p
WHERE wallet = ${wallet}`;
const sets = (kind: 'split' | 'merge'): string =>
  `SELECT happened_at, slug, amount, tx_hash\nFROM splits_merges\nWHERE wallet = ${wallet} AND kind = '${kind}'\n${newest}`;
const redemptions = `SELECT redeemed_at, slug, payout_usd, redeemed_through, tx_hash\nFROM redemptions\nWHERE wallet = ${wallet}\n${newest}`;

/** Statements on the public views with the data of GET requests, by path; for the same ids as the examples of the parameters. */
export const sqlStatements: Readonly<Record<string, string>> = {
  '/v3/trades': newestTrades,
  '/v3/markets/{token_id}/trades': trades(`WHERE token_id = ${token}\n`),
  '/v3/markets/slug/{slug}/trades': trades(`WHERE ${ownTokens(`slug = ${slug}`)}\n`),
  '/v1/markets/{id}/trades': trades(`WHERE ${ownTokens(`slug = ${slug}`)}\n`),
  '/v2/onchain/trades': newestTrades,
  '/v2/onchain/markets/{token_id}/trades': trades(`WHERE token_id = ${token}\n`),
  '/v3/wallets/{address}/trades': walletTrades,
  '/v1/wallets/{addr}/trades': walletTrades,
  '/v2/onchain/wallets/{address}/trades': walletTrades,
  '/v3/wallets/{address}/positions': positions,
  '/v1/wallets/{addr}/positions': positions,
  '/v2/wallets/{address}/positions/onchain': positions,
  '/v3/wallets/{address}': profit,
  '/v3/wallets/{address}/pnl': profit,
  '/v3/wallets/{address}/pnl/events': `-- All days with a fill or a fee, combos included.\nSELECT day, wins, losses, realized_pnl_usd, party_usd\nFROM wallet_days\nWHERE wallet = ${wallet}\nORDER BY day`,
  '/v3/wallets/{address}/splits': sets('split'),
  '/v3/wallets/{address}/merges': sets('merge'),
  '/v3/wallets/{address}/redemptions': redemptions,
  '/v2/onchain/wallets/{address}/redemptions': redemptions,
  '/v3/leaderboard': `-- By realized profit, combos included; the response adds unrealized profit.
SELECT wallet, sum(realized_pnl_usd) AS realized_pnl_usd, sum(party_usd) AS volume_usd
FROM wallet_days
GROUP BY wallet
ORDER BY realized_pnl_usd DESC, wallet
LIMIT 100`,
  '/v3/leaderboard/day': `SELECT wallet, sum(match_usd) AS volume_usd, count() AS matches
FROM trades
ARRAY JOIN arrayDistinct([maker, taker]) AS wallet
WHERE day >= yesterday() AND traded_at >= now() - INTERVAL 1 DAY
GROUP BY wallet
ORDER BY volume_usd DESC, wallet
LIMIT 100`,
  '/v3/markets/{token_id}/candles': candles(`token_id = ${token}`),
  '/v2/onchain/candles/{token_id}': candles(`token_id = ${token}`),
  '/v3/markets/slug/{slug}/candles': candles(ownTokens(`slug = ${slug}`)),
  '/v3/markets/condition/{condition_id}/candles': candles(ownTokens(`condition_id = ${condition}`)),
  '/v3/markets/{token_id}': market(`has(token_ids, ${token})`),
  '/v3/markets/slug/{slug}': market(`slug = ${slug}`),
  '/v3/markets/condition/{condition_id}': market(`condition_id = ${condition}`),
  '/v3/conditions/{condition_id}': market(`condition_id = ${condition}`),
  '/v3/markets/search': market("question ILIKE '%bitcoin%' AND question ILIKE '%up%'\nLIMIT 100"),
  '/v3/markets/{token_id}/price': `SELECT price, price_source, priced_at\nFROM prices_now\nWHERE token_id = ${token}`,
  '/v3/markets/{token_id}/positions': holders(`token_id = ${token}`),
  '/v3/markets/slug/{slug}/positions': holders(ownTokens(`slug = ${slug}`)),
  '/v3/markets/condition/{condition_id}/positions': holders(ownTokens(`condition_id = ${condition}`)),
  '/v3/resolutions': `SELECT resolved_at, slug, payouts, condition_id\nFROM resolutions\nORDER BY resolved_at DESC, condition_id\nLIMIT 100`,
  '/v1/orderbook/{token}': `SELECT bids, asks, is_verified, changed_at\nFROM order_books\nWHERE token_id = ${token}`,
  '/v1/crypto/ticks': `SELECT tick_at, price\nFROM ticks\nWHERE feed = 'BTC/USD' AND twap_window_s = 0\nORDER BY tick_at DESC\nLIMIT 100`,
  '/v1/coverage/days': 'SELECT day, source, state, why\nFROM coverage\nORDER BY day DESC, source\nLIMIT 1000',
  '/v3/stats': 'SELECT sum(parties) AS fills, sum(match_usd) AS volume_usd\nFROM volume_days',
};
