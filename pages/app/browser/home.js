// /app: search results, or the newest trades.

import { get } from './api.js';
import { showAsCode } from './as-code.js';
import { $, el, title } from './dom.js';
import { marketPath, usd } from './format.js';
import { newestCode, searchCode } from './home-code.js';
import { LARGE_USD, openHomeStream } from './home-stream.js';
import { createLive } from './live.js';
import { showOverview } from './overview.js';
import { statusOf } from './search.js';
import { createTable } from './table.js';
import {
  fromFrame,
  isMatch,
  largeColumns,
  newestColumns,
  tradeKey,
  tradesPage,
  tradeTime,
  voidedBy,
} from './trades.js';
import { createWindows } from './windows.js';

const PAGE = 50;
/** Each match is one row. */
const NEWEST = { matches_only: true };
/** Rows of a list that grows by itself. */
const MAX_LIVE_ROWS = 300;

const marketColumns = [
  {
    title: 'Market',
    kind: 'text',
    cell: (row) => el('a', { class: 'row', href: marketPath(row.condition_id) }, row.question),
  },
  { title: 'State', cell: statusOf },
  { title: 'Volume (catalogue)', kind: 'num', cell: (row) => usd(Number(row.volume_all_time)) },
  { title: 'Tags', kind: 'text', wide: true, cell: (row) => (row.tag_slugs ?? []).join(', ') },
];

/** Large trades: the newest ones, then new ones as they come. */
function createLargeTrades() {
  const table = createTable({
    id: 'large',
    columns: largeColumns,
    load: (cursor) => tradesPage(get, '/v3/trades', { ...NEWEST, min_amount_usd: LARGE_USD }, cursor),
    keyOf: tradeKey,
    timeOf: tradeTime,
    keepNewest: MAX_LIVE_ROWS,
    empty: `Waiting for a trade of at least $${LARGE_USD}.`,
    isQuiet: true,
  });
  $('large-title').textContent = `Trades of at least $${LARGE_USD}`;
  void table.reload();
  return table;
}

function showNewest() {
  showAsCode(() => newestCode(PAGE));
  const table = createTable({
    id: 'results',
    columns: newestColumns,
    load: (cursor) => tradesPage(get, '/v3/trades', NEWEST, cursor),
    keyOf: tradeKey,
    timeOf: tradeTime,
    keepNewest: MAX_LIVE_ROWS,
    empty: 'Waiting for the first trade.',
  });
  void table.reload();
  createLive({
    filters: {},
    newest: table.newest,
    onTrade(frame) {
      if (isMatch(frame)) table.prepend(fromFrame(frame));
    },
    onRetract: (frame) => table.discard(voidedBy(frame)),
    onReturn: table.reload,
  });
  showOverview();
  const windows = createWindows();
  const large = createLargeTrades();
  openHomeStream({
    onPrice: windows.onPrice,
    onLive: windows.setLive,
    onTrade(frame) {
      if (isMatch(frame)) large.prepend(fromFrame(frame));
    },
    onRetract: (frame) => large.discard(voidedBy(frame)),
    onMissed: () => void large.reload(),
  });
}

export function showHome() {
  const words = new URLSearchParams(location.search).get('q')?.trim() ?? '';
  if (words === '') {
    showNewest();
    return;
  }
  $('overview').remove();
  $('q').value = words;
  $('results-title').textContent = 'Search results, open and traded markets first';
  title(`Search: ${words}`);
  showAsCode(() => searchCode(words, PAGE));
  const table = createTable({
    id: 'results',
    columns: marketColumns,
    async load(cursor) {
      const page = await get('/v3/markets/search', { q: words, sort: 'current', limit: PAGE, cursor });
      return { rows: page.data, next: page.next_cursor };
    },
    keyOf: (row) => row.condition_id,
    empty: `No market has “${words}” in its question, slug or event. Every word must occur.`,
  });
  void table.reload();
}
