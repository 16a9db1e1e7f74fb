/** Values of a selection with their labels. */
type OptionList = readonly (readonly [value: string, text: string])[];
const sameTextOptions = (values: readonly string[]): OptionList => values.map((value) => [value, value]);

const RESOLUTIONS = ['1m', '5m', '15m', '1h', '4h', '1d'];
const FIRST_RESOLUTION = '1h';
const CHART_KINDS: OptionList = [
  ['candles', 'Candles'],
  ['line', 'Line'],
];
const UNITS: OptionList = [
  ['cents', '¢'],
  ['percent', '%'],
];
const HOLDER_SORTS: OptionList = [
  ['amount', 'Largest'],
  ['volume', 'Most bought'],
  ['pnl', 'Most earned'],
];
const STATUSES: OptionList = [
  ['', 'All'],
  ['open', 'Open'],
  ['redeemable', 'Redeemable'],
  ['redeemed', 'Redeemed'],
  ['closed', 'Closed'],
];
const POSITION_SORTS: OptionList = [
  ['recent', 'Newest'],
  ['amount', 'Largest'],
  ['realized_pnl', 'Most earned'],
];
const CURVES: OptionList = [
  ['market', 'Marked to market'],
  ['realized', 'Realized, by position'],
];

/** Views of /app by path. */
export const appViews = {
  home: '/app',
  wallet: '/app/wallet/{address}',
  market: '/app/market/{id}',
  copy: '/app/copy',
} as const;
/** Title of the page of a market whose own title is not known. */
export const MARKET_TITLE = 'Market · Oddstream';
export type AppView = keyof typeof appViews;

const search = `<form id="find" role="search" action="/app">
<label class="unseen" for="q">Search markets, wallets and tokens</label>
<div class="field"><input id="q" name="q" type="search" autocomplete="off" spellcheck="false" maxlength="300" role="combobox" aria-expanded="false" aria-controls="found" aria-autocomplete="list" placeholder="Market, wallet, token or name"><kbd aria-hidden="true">/</kbd>
<ul id="found" role="listbox" aria-label="Suggestions" hidden></ul></div>
<p id="find-status" role="status"></p>
</form>`;

/** Form for the key that all of these pages use. */
export const keyForm = `<form id="key-form" class="notice" hidden>
<p id="key-words">These pages use the public API with your key. The key is stored in this browser, for all its pages and tabs, until you forget it.</p>
<label for="key">API key</label>
<div class="field"><input id="key" name="key" type="password" autocomplete="off" placeholder="odds_live_..." required><button class="primary" type="submit">Use this key</button></div>
<p class="hint">On your own machine <code>npm start</code> prints a ready key. Elsewhere: <code>POST /v1/keys</code>, see <a href="/docs">the reference</a>.</p>
</form>`;

const skeleton = '<span class="bone"></span>';

/** Table of `createTable`; the browser adds head, rows and footer. */
const table = (id: string, title: string, tools = '', hidden = ''): string =>
  `<section id="${id}-panel"${hidden}><div class="bar"><h2 id="${id}-title">${title}</h2>${tools}</div><div id="${id}" class="list" aria-busy="true"></div></section>`;

/** Button of `createCsvButton`. */
const csvButton = (list: string): string =>
  `<button id="${list}-csv" type="button" aria-label="Download ${list} as CSV">CSV</button><span id="${list}-csv-status" role="status"></span>`;

const radios = (name: string, label: string, values: OptionList, chosen: string): string =>
  `<fieldset class="choice" id="${name}"><legend class="unseen">${label}</legend>${values
    .map(
      ([value, text]) =>
        `<label><input type="radio" name="${name}" value="${value}"${value === chosen ? ' checked' : ''}><span>${text}</span></label>`,
    )
    .join('')}</fieldset>`;

const tiles = (count: number): string =>
  `<dl id="tiles" class="tiles" aria-busy="true">${`<div><dt>${skeleton}</dt><dd>${skeleton}</dd></div>`.repeat(count)}</dl>`;

/** Chart with its legend, states and the same numbers as a table. */
const chart = (id: string, title: string, tools: string, summary: string, hidden = ''): string =>
  `<section id="${id}-panel"${hidden}><div class="bar"><h2 id="${id}-title">${title}</h2>${tools}</div>
<p id="${id}-legend" class="legend">&nbsp;</p>
<div id="${id}-box" class="chart" aria-busy="true"><div id="${id}-canvas" class="canvas" aria-hidden="true"></div><div id="${id}-state"></div></div>
<details id="${id}-details"><summary>${summary}</summary><div id="${id}-rows" class="list"></div></details></section>`;

/** Collapsed panel of `showAsCode`. */
const asCode =
  '<details id="as-code" class="as-code" hidden><summary>This view as REST, WebSocket and SQL</summary><div id="as-code-body"></div></details>';

/** Box of a part of the home page that refreshes itself. */
const box = (id: string, title: string): string =>
  `<section><h2>${title}</h2><div id="${id}" class="list" aria-busy="true">${skeleton}</div></section>`;

const home = `<h1 id="title">Markets and wallets</h1>
<p class="lead">Every market and wallet of the venue, from the same API you can call. Press <kbd>/</kbd> to search.</p>
${asCode}<div id="overview">${tiles(4)}
<div class="columns">${box('windows', 'Current 5-minute windows')}${box('top-wallets', 'Top wallets of the last 24 hours')}</div>
<div class="columns">${box('trending', 'Trending: most traded in 24 hours')}${box('ending', 'Ending soon')}</div>
${table('large', 'Large trades')}</div>
${table('results', 'Newest trades', '<button id="live" type="button" aria-pressed="false" hidden>Live</button><span id="live-status" role="status"></span>')}`;

const market = `<h1 id="title">${skeleton}</h1>
<p id="facts" class="facts">${skeleton}</p>
${asCode}${tiles(2)}
${chart(
  'candles',
  'Candles',
  `<fieldset class="choice" id="outcome" hidden><legend class="unseen">Outcome</legend></fieldset>${radios('resolution', 'Resolution', sameTextOptions(RESOLUTIONS), FIRST_RESOLUTION)}${radios('kind', 'Kind of chart', CHART_KINDS, 'candles')}${radios('unit', 'Unit of prices', UNITS, 'cents')}`,
  'Candles as a table',
)}
${chart('coin', 'Price of the coin', '', 'Prices as a table', ' hidden')}
<section id="book" aria-busy="true"><div class="bar"><h2>Order book</h2><p id="book-state" class="book-state">${skeleton}</p></div>
<div class="book"><div id="book-depth" class="depth"></div><div id="book-ladder"></div></div></section>
${table('trades', 'Trades', '<button id="live" type="button" aria-pressed="false" hidden>Live</button><span id="live-status" role="status"></span>')}
${table('holders', 'Holders', radios('holder-sort', 'Sort order of holders', HOLDER_SORTS, 'amount'))}
${table('related', 'Other markets of the event', '', ' hidden')}
<section id="resolution-panel"><div class="bar"><h2>Resolution</h2></div><dl id="resolution-list" class="rows"><div><dt>State</dt><dd>${skeleton}</dd></div></dl></section>
<details id="rules" hidden><summary>Rules</summary><p id="rules-text" class="rules"></p></details>`;

const wallet = `<h1 id="title">Wallet</h1>
<p id="facts" class="facts">${skeleton}</p>
${asCode}${tiles(4)}
${chart(
  'equity',
  'Profit',
  `${radios('curve', 'PnL curve', CURVES, 'market')}<fieldset class="choice" id="period"><legend class="unseen">Period</legend></fieldset>`,
  'Profit as a table',
)}
${table(
  'positions',
  'Positions',
  `${radios('status', 'Status', STATUSES, '')}${radios('position-sort', 'Sort order of positions', POSITION_SORTS, 'recent')}${csvButton('positions')}`,
)}
${table('exposure', 'Open positions by category')}
${table('trades', 'Trades', csvButton('trades'))}`;

const COPY_PERIODS = ['7d', '14d', '30d', '60d', '90d', '180d'];
const slider = (id: string, label: string, max: number, step: number, value: number): string =>
  `<label class="slider" for="${id}"><span>${label}</span><input id="${id}" type="range" min="0" max="${max}" step="${step}" value="${value}"><output id="${id}-value" for="${id}"></output></label>`;

const copy = `<h1 id="title">Copy trading</h1>
<p class="lead">Wallets of your private pool, and what copying their trades would have brought: every fill with slippage, settlements at face value.</p>
<form id="add" class="notice"><label for="addresses">Add wallets to the pool</label>
<div class="field"><input id="addresses" name="addresses" autocomplete="off" spellcheck="false" placeholder="0x…, several separated by spaces or commas" required><button class="primary" type="submit">Add</button></div>
<p id="add-status" role="status" class="hint"></p></form>
<section id="pool-panel"><div class="bar"><h2>Pool</h2>${radios('period', 'Period', sameTextOptions(COPY_PERIODS), '30d')}<span id="pool-status" role="status"></span></div>
<div id="pool" class="list" aria-busy="true"></div></section>
<section id="score-panel" hidden><div class="bar"><h2 id="score-title">Backtest</h2><span id="score-status" role="status"></span></div>
<div class="sliders">${slider('slippage', 'Slippage', 10, 0.25, 2)}${slider('delay', 'Delay', 600, 5, 0)}${slider('liquidity', 'Least volume of a token', 6, 0.5, 0)}</div>
<dl id="score-tiles" class="tiles"></dl>
<p id="score-legend" class="legend">&nbsp;</p>
<div id="score-box" class="chart" aria-busy="true"><div id="score-canvas" class="canvas" aria-hidden="true"></div><div id="score-state"></div></div>
<details id="score-details"><summary>Cash flow as a table</summary><div id="score-rows" class="list"></div></details></section>`;

const bodies: Readonly<Record<AppView, string>> = { home, market, wallet, copy };

/** Body of a view before its data is loaded. */
export const appBody = (view: AppView): string =>
  `<main><noscript><p class="notice">These pages need JavaScript. The same data without it: <a href="/docs">the API</a>.</p></noscript>${search}${keyForm}<div id="problem"></div><section id="loading" class="notice" role="status" aria-live="polite" hidden></section><div id="view">${bodies[view]}</div></main>
<footer><p>Times are UTC, hover for local time. Amounts are US dollars (USDC). Charts by <a href="https://www.tradingview.com/">TradingView Lightweight Charts</a>. <button id="forget-key" class="link" type="button" hidden>Forget the key of this browser</button></p></footer>`;
