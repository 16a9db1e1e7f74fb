import { keyForm } from '../app/page.js';

const panel = `<div class="sql-side">
<details id="examples-panel" open><summary>Examples</summary><ul id="examples" class="queries"></ul></details>
<details id="saved-panel"><summary>Saved in this browser</summary>
<form id="save"><label class="unseen" for="save-name">Name of the query</label><div class="field"><input id="save-name" maxlength="80" autocomplete="off" placeholder="Name" required><button type="submit">Save</button></div></form>
<ul id="saved" class="queries"></ul></details>
<details id="schema-panel" open><summary>Views</summary>
<label class="unseen" for="schema-filter">Find a view or column</label><input id="schema-filter" type="search" autocomplete="off" spellcheck="false" placeholder="Find a view or column">
<div id="schema" aria-busy="true"><p class="dim">Loading the views.</p></div></details>
</div>`;

const choice = `<fieldset class="choice" id="result-view"><legend class="unseen">Show the result as</legend><label><input type="radio" name="result-view" value="table" checked><span>Table</span></label><label><input type="radio" name="result-view" value="chart"><span>Chart</span></label></fieldset>`;

const chart = `<div id="chart-panel" hidden><div class="bar">
<span><label for="chart-x">x</label> <select id="chart-x"></select></span><span><label for="chart-y">y</label> <select id="chart-y"></select></span><span><label for="chart-split">Split by</label> <select id="chart-split"></select></span><span><label for="chart-kind">As</label> <select id="chart-kind"><option value="line">line</option><option value="bars">bars</option></select></span></div>
<p id="chart-note" class="legend"></p><div id="chart-box" class="chart-area"></div></div>`;

const work = `<div class="sql-work">
<div id="editor" class="editor"></div>
<div class="bar"><button id="run" class="primary" type="button">Run</button><button id="cancel" type="button" disabled>Cancel</button><button id="csv" type="button">CSV</button><button id="parquet" type="button">Parquet</button><button id="share" type="button">Copy link</button><span id="run-status" role="status"></span></div>
<progress id="progress" aria-label="The statement is running" hidden></progress>
<div id="message"></div>
<section id="result" hidden><div class="bar"><h2 id="rows-title">Result</h2>${choice}</div>
<p id="result-note" class="legend"></p><div id="rows"></div>${chart}</section>
</div>`;

/** Body of /sql before its scripts run. */
export const sqlBody = `<main><noscript><p class="notice">This page needs JavaScript. The same without it: <a href="/docs/sql">SQL over HTTP</a>.</p></noscript>
<h1 id="title">SQL</h1>
<p class="lead">One read-only statement at a time, in ClickHouse's SQL, on the public views. <kbd>Ctrl</kbd> <kbd>Enter</kbd> runs it. <a href="/docs/sql">All views and columns</a>.</p>
${keyForm}<div id="problem"></div><p id="loading-note" class="notice" role="status" hidden></p>
<div id="view" class="sql-page" hidden>${panel}${work}</div></main>
<footer><p>Times are UTC. Editor by <a href="https://codemirror.net/">CodeMirror</a>, charts by <a href="https://www.tradingview.com/">TradingView Lightweight Charts</a>.</p></footer>`;
