// The requests, messages and statements that return what the page of a market shows.

import { sqlText, sqlTokens } from './as-code.js';
import { chosenOf } from './dom.js';

/** View and bucket of the candles of a resolution; views exist for 1m, 5m, 1h and 1d. */
const CANDLES = {
  '1m': ['candles_1m', null],
  '5m': ['candles_5m', null],
  '15m': ['candles_5m', '15 MINUTE'],
  '1h': ['candles_1h', null],
  '4h': ['candles_1h', '4 HOUR'],
  '1d': ['candles_1d', null],
};

function candlesSql(token, resolution) {
  const [view, bucket] = CANDLES[resolution];
  const where = `WHERE token_id = toUInt256('${token}')\nORDER BY start_at DESC\nLIMIT 120`;
  if (bucket === null) return `SELECT start_at, open, high, low, close, match_usd, matches\nFROM ${view}\n${where}`;
  return `SELECT toStartOfInterval(c.start_at, INTERVAL ${bucket}, 'UTC') AS start, argMin(c.open, c.start_at) AS open, max(c.high) AS high,
  min(c.low) AS low, argMax(c.close, c.start_at) AS close, sum(c.match_usd) AS match_usd, sum(c.matches) AS matches
FROM ${view} AS c
WHERE c.token_id = toUInt256('${token}')
GROUP BY start
ORDER BY start DESC
LIMIT 120`;
}

const HOLDER_ORDER = { amount: 'shares', volume: 'bought_shares', pnl: 'realized_pnl_usd' };

/** The code that names tokens. */
function tokenCode({ token, tokens, resolution, sort, page }) {
  const own = `token_id IN (${sqlTokens(tokens)})`;
  return {
    rest: [
      { title: 'price', path: `/v3/markets/${token}/price` },
      { title: 'candles', path: `/v3/markets/${token}/candles`, query: { resolution, limit: 120 } },
    ],
    sql: [
      { title: 'prices', text: `SELECT outcome, price, price_source, priced_at\nFROM prices_now\nWHERE ${own}` },
      { title: 'candles', text: candlesSql(token, resolution) },
      {
        title: 'trades',
        text: `SELECT traded_at, maker_side, outcome, price, shares, match_usd, maker, taker, tx_hash\nFROM trades\nWHERE ${own}\nORDER BY block_number DESC, log_index DESC\nLIMIT ${page}`,
      },
      {
        title: 'holders with shares',
        text: `SELECT wallet, outcome, shares, avg_price, bought_shares, realized_pnl_usd, is_complete\nFROM holders\nWHERE ${own}\nORDER BY ${HOLDER_ORDER[sort]} DESC, wallet\nLIMIT ${page}`,
      },
    ],
  };
}

/** The code of a market's page. `filter`: parameters that select its trades; `first`: its first token, undefined if none is known; `page`: rows of a page of a list. */
export function marketCode({ market, filter, first, page }) {
  const { condition_id: condition, token_ids: tokens, listed } = market;
  const token = chosenOf('outcome') ?? first;
  const resolution = chosenOf('resolution');
  const sort = chosenOf('holder-sort');
  const byToken = token === undefined ? { rest: [], sql: [] } : tokenCode({ token, tokens, resolution, sort, page });
  const markets = listed ? [{ title: 'market', path: `/v3/markets/condition/${condition}` }] : [];
  const holdersPath =
    condition === null ? `/v3/markets/${token}/positions` : `/v3/markets/condition/${condition}/positions`;
  const filters = listed ? { condition_ids: [condition] } : { tokens };
  return {
    rest: [
      ...markets,
      ...byToken.rest,
      { title: 'trades', path: '/v3/trades', query: { ...filter, matches_only: true, limit: page } },
      { title: 'holders', path: holdersPath, query: { sort, limit: page } },
    ],
    socket: [
      {
        title: 'new trades',
        message: {
          action: 'subscribe',
          type: 'trades',
          filters: { ...filters, event_types: ['trade', 'retract'], snapshot_count: page },
        },
      },
    ],
    sql: [
      ...(listed
        ? [
            {
              title: 'market',
              text: `SELECT question, status, winning_outcome, resolved_at, end_at, catalogue_volume_usd, liquidity_usd\nFROM markets\nWHERE condition_id = ${sqlText(condition)}`,
            },
          ]
        : []),
      ...byToken.sql,
    ],
  };
}
