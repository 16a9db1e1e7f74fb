// The requests, messages and statements that return what the home page shows.

import { sqlText } from './as-code.js';

/** The code of the newest trades. */
export const newestCode = (page) => ({
  rest: [{ title: 'newest trades', path: '/v3/trades', query: { matches_only: true, limit: page } }],
  socket: [
    {
      title: 'new trades',
      message: {
        action: 'subscribe',
        type: 'trades',
        filters: { event_types: ['trade'], snapshot_count: page },
      },
    },
  ],
  sql: [
    {
      title: 'newest trades',
      text: `SELECT traded_at, slug, maker_side, outcome, price, match_usd, maker, taker, tx_hash
FROM trades
WHERE day >= (SELECT max(day) FROM volume_days) - 1
ORDER BY block_number DESC, log_index DESC
LIMIT ${page}`,
    },
  ],
});

/** The code of search results: every word must occur. */
export const searchCode = (words, page) => ({
  rest: [{ title: 'markets', path: '/v3/markets/search', query: { q: words, limit: page } }],
  socket: [],
  sql: [
    {
      title: 'markets',
      text: `SELECT condition_id, question, status, catalogue_volume_usd, tags
FROM markets
WHERE ${words
        .split(/\s+/)
        .map(
          (word) =>
            `positionCaseInsensitiveUTF8(concat(question, '\\n', slug, '\\n', event_title), ${sqlText(word)}) > 0`,
        )
        .join('\n  AND ')}
ORDER BY catalogue_volume_usd DESC, condition_id
LIMIT ${page}`,
    },
  ],
});
