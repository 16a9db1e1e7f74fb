// The requests, messages and statements that return what the home page shows.

import { sqlText } from './as-code.js';
import { LARGE_USD, largeTrades, spotPrices } from './home-stream.js';
import { MARKETS, TOP_WALLETS } from './overview.js';

const COINS = ['btc', 'eth', 'sol', 'bnb', 'xrp', 'doge', 'hype'];
const LAST_DAY = "day >= toDate(now('UTC')) - 1 AND traded_at >= now('UTC') - INTERVAL 1 DAY";
const TRADE_COLUMNS = 'traded_at, slug, maker_side, outcome, price, match_usd, maker, taker, tx_hash';
const NEWEST_FIRST = 'ORDER BY block_number DESC, log_index DESC';

/** Slugs of the current 5-minute windows. */
function currentWindows() {
  const startS = Math.floor(Date.now() / 300_000) * 300;
  return COINS.map((coin) => sqlText(`${coin}-updown-5m-${startS}`)).join(', ');
}

/** The code of the home page. `page`: rows of a page of a list. */
export const newestCode = (page) => ({
  rest: [
    { title: 'newest trades', path: '/v3/trades', query: { matches_only: true, limit: page } },
    {
      title: 'large trades',
      path: '/v3/trades',
      query: { matches_only: true, min_amount_usd: LARGE_USD, limit: page },
    },
    { title: 'totals', path: '/v3/stats' },
    { title: 'current windows', path: '/v1/crypto/active' },
    { title: 'top wallets', path: '/v3/leaderboard/day', query: { limit: TOP_WALLETS } },
    { title: 'trending', path: '/v3/markets/trending', query: { limit: MARKETS } },
    { title: 'ending soon', path: '/v3/markets/ending', query: { limit: MARKETS } },
  ],
  socket: [
    {
      title: 'new trades',
      message: {
        action: 'subscribe',
        type: 'trades',
        filters: { event_types: ['trade', 'retract'], snapshot_count: page },
      },
    },
    { title: 'large trades', message: largeTrades },
    { title: 'prices of the coins', message: spotPrices },
  ],
  sql: [
    {
      title: 'newest trades',
      text: `SELECT ${TRADE_COLUMNS}
FROM trades
WHERE day >= (SELECT max(day) FROM volume_days) - 1
${NEWEST_FIRST}
LIMIT ${page}`,
    },
    {
      title: 'large trades',
      text: `SELECT ${TRADE_COLUMNS}
FROM trades
WHERE match_usd >= ${LARGE_USD}
${NEWEST_FIRST}
LIMIT ${page}`,
    },
    { title: 'totals', text: 'SELECT sum(match_usd) AS volume_usd, sum(parties) AS fills FROM volume_days' },
    {
      title: 'current windows',
      text: `SELECT asset, open_price, close_price, start_at, end_at\nFROM windows\nWHERE slug IN (${currentWindows()})`,
    },
    {
      title: 'top wallets',
      text: `SELECT wallet, sum(match_usd) AS volume_usd, count() AS matches
FROM (SELECT match_usd, arrayJoin(arrayDistinct([maker, taker])) AS wallet FROM trades WHERE ${LAST_DAY})
GROUP BY wallet
ORDER BY volume_usd DESC, wallet
LIMIT ${TOP_WALLETS}`,
    },
    {
      title: 'trending',
      text: `SELECT slug, sum(match_usd) AS volume_usd, count() AS matches
FROM trades
WHERE ${LAST_DAY} AND slug != ''
GROUP BY slug
ORDER BY volume_usd DESC
LIMIT ${MARKETS}`,
    },
    {
      title: 'ending soon',
      text: `SELECT question, slug, end_at, catalogue_volume_usd
FROM markets
WHERE is_active AND NOT is_closed AND NOT is_archived AND end_at > now('UTC') AND end_at < now('UTC') + INTERVAL 7 DAY
  AND NOT match(slug, '-updown-(5|15)m-')
ORDER BY end_at, catalogue_volume_usd DESC
LIMIT ${MARKETS}`,
    },
  ],
});

/** The code of search results: every word must occur. */
export function searchCode(words, page) {
  const text = "concat(question, '\\n', slug, '\\n', event_title)";
  const conditions = words.split(/\s+/).map((word) => `positionCaseInsensitiveUTF8(${text}, ${sqlText(word)}) > 0`);
  return {
    rest: [{ title: 'markets', path: '/v3/markets/search', query: { q: words, sort: 'current', limit: page } }],
    socket: [],
    sql: [
      {
        title: 'markets',
        text: `WITH found AS (
  SELECT condition_id, question, status, catalogue_volume_usd, token_ids, ifNull(toUnixTimestamp(end_at), 4294967295) AS end_s,
    is_active AND NOT is_closed AND end_s > toUnixTimestamp(now()) AS is_open
  FROM markets
  WHERE ${conditions.join('\n    AND ')}
)
SELECT f.condition_id AS condition_id, any(f.question) AS question, any(f.status) AS status,
  any(f.catalogue_volume_usd) AS catalogue_volume_usd, sum(v.usd) AS traded_usd
FROM (SELECT *, arrayJoin(token_ids) AS token_id FROM found) AS f
LEFT JOIN (
  SELECT token_id, sum(match_usd) AS usd FROM candles_1d
  WHERE token_id IN (SELECT arrayJoin(token_ids) FROM found) GROUP BY token_id
) AS v ON v.token_id = f.token_id
GROUP BY f.condition_id
ORDER BY multiIf(sum(v.usd) > 0, if(max(f.is_open), 0, 1), max(f.is_open), 2, 3) AS class, if(class = 2, max(f.end_s), 0),
  greatest(any(f.catalogue_volume_usd), sum(v.usd)) DESC, condition_id
LIMIT ${page}`,
      },
    ],
  };
}
