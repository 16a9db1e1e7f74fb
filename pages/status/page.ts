/** Kinds of sources of the calendar, as in `/v1/coverage/days`, with their labels. */
const KINDS: readonly (readonly [value: string, text: string])[] = [
  ['blocks', 'Blocks'],
  ['contract', 'Contracts'],
  ['oracle', 'Oracle prices'],
  ['catalogue', 'Catalogue'],
  ['order_book', 'Order books'],
];

const kinds = KINDS.map(
  ([value, text], index) =>
    `<label><input type="radio" name="kind" value="${value}"${index === 0 ? ' checked' : ''}><span>${text}</span></label>`,
).join('');
const legend = ['available', 'degraded', 'pending', 'missing']
  .map((state) => `<span><i class="day ${state}"></i>${state}</span>`)
  .join('');

/** Body of /status before its data is loaded. */
export const statusBody = `<main><h1 id="title">Status</h1>
<noscript><p class="notice">This page needs JavaScript. The same data without it: <a href="/v1/status/public">/v1/status/public</a>.</p></noscript>
<p id="overall" class="overall" role="status">Waiting for the first response of the API.</p>
<p id="notice" class="lead"></p>
<section><div class="bar"><h2>Sources</h2></div><div id="sources" class="list" aria-busy="true"><p class="dim">Waiting for the first response of the API.</p></div></section>
<section><div class="bar"><h2>Alarms and notices</h2></div><div id="notices"><p class="dim">Waiting for the first response of the API.</p></div></section>
<section><div class="bar"><h2>Tables</h2></div><div id="tables" class="list" aria-busy="true"><p class="dim">Waiting for the first response of the API.</p></div></section>
<section><div class="bar"><h2 id="coverage-title">Coverage by day, UTC</h2><fieldset class="choice" id="kinds"><legend class="unseen">Kind of source</legend>${kinds}</fieldset></div>
<p class="legend day-legend">${legend}</p>
<div id="calendar" class="calendar" aria-busy="true"><p class="dim">Waiting for the coverage of the days.</p></div>
<div id="day" class="list" aria-live="polite"></div></section>
<section><div class="bar"><h2>Versions</h2></div><p id="versions" class="facts"></p>
<p class="hint">The same as JSON: <a href="/v1/status/public">/v1/status/public</a>, <a href="/v1/coverage/days">/v1/coverage/days</a>; with a key also <code>/v1/status</code> and <code>/v1/coverage</code>.</p></section></main>`;
