// /app: search results, or the newest trades.

import { get } from './api.js';
import { $, el, title } from './dom.js';
import { marketPath, usd } from './format.js';
import { statusOf } from './search.js';
import { createTable } from './table.js';
import { newestColumns, tradeKey, tradesPage } from './trades.js';

const PAGE = 50;

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

export function showHome() {
  const words = new URLSearchParams(location.search).get('q')?.trim() ?? '';
  if (words === '') {
    const table = createTable({
      id: 'results',
      columns: newestColumns,
      load: (cursor) => tradesPage(get, '/v3/trades', {}, cursor),
      keyOf: tradeKey,
      empty: 'No trade has been recorded yet.',
    });
    void table.reload();
    return;
  }
  $('q').value = words;
  $('results-title').textContent = 'Search results, largest volume first';
  title(`Search: ${words}`);
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
