// /app: search results, or the newest trades.

import { get } from './api.js';
import { showAsCode, sqlText } from './as-code.js';
import { $, el, title } from './dom.js';
import { marketPath, usd } from './format.js';
import { statusOf } from './search.js';
import { createTable } from './table.js';
import { newestColumns, tradeKey, tradesPage } from './trades.js';

const PAGE = 50;
/** Each match is one row. */
const NEWEST = { matches_only: true };

const marketColumns = [
  {
    title: 'Market',
    kind: 'text',
    cell: (row) => el('a', { class: 'row', href: marketPath(row.condition_id) }, row.question),
  },
  { title: 'State', cell: statusOf },
  { title: 'Volume', kind: 'num', cell: (row) => usd(Number(row.volume_all_time)) },
  { title: 'Tags', kind: 'text', wide: true, cell: (row) => (row.tag_slugs ?? []).join(', ') },
];

/** The code of the newest trades. */
const tradesCode = () => ({
  rest: [{ title: 'newest trades', path: '/v3/trades', query: { ...NEWEST, limit: PAGE } }],
  socket: [
    {
      title: 'new trades',
      message: {
        action: 'subscribe',
        type: 'trades',
        filters: { event_types: ['trade'], snapshot_count: PAGE },
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
LIMIT ${PAGE}`,
    },
  ],
});

/** The code of search results: every word must occur. */
const searchCode = (words) => ({
  rest: [{ title: 'markets', path: '/v3/markets/search', query: { q: words, limit: PAGE } }],
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
LIMIT ${PAGE}`,
    },
  ],
});

export function showHome() {
  const words = new URLSearchParams(location.search).get('q')?.trim() ?? '';
  if (words === '') {
    const table = createTable({
      id: 'results',
      columns: newestColumns,
      load: (cursor) => tradesPage(get, '/v3/trades', NEWEST, cursor),
      keyOf: tradeKey,
      empty: 'No trade has been recorded yet.',
    });
    showAsCode(tradesCode);
    void table.reload();
    return;
  }
  $('q').value = words;
  $('results-title').textContent = 'Search results, largest volume first';
  title(`Search: ${words}`);
  showAsCode(() => searchCode(words));
  const table = createTable({
    id: 'results',
    columns: marketColumns,
    async load(cursor) {
      const page = await get('/v3/markets/search', { q: words, limit: PAGE, offset: cursor });
      return { rows: page.data, next: page.has_more ? page.offset + page.rows_returned : null };
    },
    keyOf: (row) => row.condition_id,
    empty: `No market has “${words}” in its question, slug or event. Every word must occur.`,
  });
  void table.reload();
}
