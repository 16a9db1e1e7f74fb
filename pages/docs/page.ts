import { plans } from '../../schemas/plans.js';
import { escapeHtml, pageHeader } from '../layout.js';
import { docsNavigation } from './guide-page.js';

const number = (value: number | null): string => (value === null ? 'none' : value.toLocaleString('en-US'));

/** Prices only where billing is configured. */
function planTable(hasPrices: boolean): string {
  const price = (usd: number): string => (usd === 0 ? 'free' : `${usd} USD`);
  const rows = Object.values(plans).map((terms) =>
    [
      terms.title,
      ...(hasPrices ? [price(terms.priceUsdPerMonth)] : []),
      number(terms.standardPerMinute),
      number(terms.heavyPerMinute),
      number(terms.apiKeys),
    ]
      .map((cell) => `<td>${escapeHtml(cell)}</td>`)
      .join(''),
  );
  return `<section id="plans"><h2>Plans</h2><div class="scroll" role="region" tabindex="0" aria-label="Plans"><table><thead><tr><th>Plan</th>${hasPrices ? '<th>Per month</th>' : ''}<th>Requests/min</th><th>Trade history/min</th><th>Keys</th></tr></thead><tbody>${rows.map((row) => `<tr>${row}</tr>`).join('')}</tbody></table></div></section>`;
}

/** The page at `/`. */
export const homeBody = (baseUrl: string, hasPrices: boolean): string => `${pageHeader}<main>
<h1>Prediction-market data</h1>
<p>Catalogue, oracle prices and every on-chain fill, over REST and WebSocket.</p>
<ol>
<li>Create an API key, here or in <a href="/dashboard">your dashboard</a>: <pre class="command">curl -X POST ${escapeHtml(baseUrl)}/v1/keys -H 'content-type: application/json' -d '{"name":"first"}'</pre></li>
<li>Send a request: <pre class="command">curl '${escapeHtml(baseUrl)}/v1/crypto/candles?symbol=BTC' -H 'x-api-key: YOUR_KEY'</pre></li>
</ol>
<p><a href="/app">Markets and wallets</a> · <a href="/sql">SQL</a> · <a href="/docs">Documentation</a> · <a href="/console">Stream console</a> · <a href="/openapi.json">OpenAPI 3.1</a> · <a href="/asyncapi.json">AsyncAPI 3</a> · <a href="/status">Status</a> of the sources, the tables and the days.</p>
${planTable(hasPrices)}</main>`;

/** The page at `/docs`: Swagger UI renders the reference into it. */
export const referenceBody = (hasPrices: boolean): string =>
  `${pageHeader}<main class="guide">${docsNavigation('reference')}<div class="wide"><p class="twin"><a href="/docs/reference.md">This page as Markdown</a></p><div id="reference"></div>${planTable(hasPrices)}</div></main>`;
