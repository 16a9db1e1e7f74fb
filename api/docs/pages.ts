import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import type { Express, Response } from 'express';
import { plans } from '../../schemas/plans.js';
import { appPreloads, appScript, appSheet, mountAppAssets } from '../app/assets.js';
import { type AppView, appBody, appViews } from '../app/page.js';
import { mountConsoleAssets } from '../console/assets.js';
import { consoleBody } from '../console/page.js';
import type { PageHost } from '../http/browser-files.js';
import { guardPage } from '../http/site-guards.js';
import { docsCss } from './style.js';

const ASSETS = { 'swagger-ui.css': 'text/css', 'swagger-ui-bundle.js': 'text/javascript' } as const;
const CSP =
  "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; connect-src 'self'; base-uri 'none'; frame-ancestors 'none'";

/** The socket may be on another host or port than the page. */
const CONSOLE_CSP = CSP.replace("connect-src 'self'", "connect-src 'self' ws: wss:");
/** Nothing inline, and of the network only this address and the event socket's. */
const appCsp = ({ url, port }: SocketAddress): string => {
  const sockets = url === null ? `ws://*:${port} wss://*:${port}` : new URL(url).origin;
  return CSP.replace(" 'unsafe-inline'", '').replace(
    "connect-src 'self'",
    `connect-src 'self' ${sockets}; form-action 'self'`,
  );
};

const escapeHtml = (text: string): string => text.replace(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`);

const number = (value: number | null): string => (value === null ? 'none' : value.toLocaleString('en-US'));

function planTable(): string {
  const rows = Object.values(plans).map((terms) =>
    [
      terms.title,
      terms.priceUsdPerMonth === 0 ? 'free' : `${terms.priceUsdPerMonth} USD`,
      number(terms.standardPerMinute),
      number(terms.heavyPerMinute),
      number(terms.apiKeys),
    ]
      .map((cell) => `<td>${escapeHtml(cell)}</td>`)
      .join(''),
  );
  return `<section id="plans"><h2>Plans</h2><div class="scroll"><table><thead><tr><th>Plan</th><th>Per month</th><th>Requests/min</th><th>Trade history/min</th><th>Keys</th></tr></thead><tbody>${rows.map((row) => `<tr>${row}</tr>`).join('')}</tbody></table></div></section>`;
}

/** Two bars. */
const ICON_SVG =
  '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 16 16"><rect x="2" y="6" width="5" height="8" fill="#1f6feb"/><rect x="9" y="2" width="5" height="12" fill="#6ea8ff"/></svg>';
/** In the page itself, so that no request is made for it. */
const ICON = `data:image/svg+xml,${encodeURIComponent(ICON_SVG)}`;

const sheet = (href: string): string => `<link rel="stylesheet" href="${href}">`;
const preload = (href: string): string => `<link rel="modulepreload" href="${href}">`;
const REFERENCE_SHEET = '/docs/swagger-ui.css';

function page(
  title: string,
  body: string,
  options: { script?: string; sheets?: readonly string[]; preloads?: readonly string[]; attributes?: string } = {},
): string {
  const { script = '', sheets = [REFERENCE_SHEET, '/docs/docs.css'], preloads = [], attributes = '' } = options;
  return `<!doctype html><html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1"><meta name="color-scheme" content="light dark"><title>${escapeHtml(title)}</title><link rel="icon" href="${ICON}">${sheets.map(sheet).join('')}${preloads.map(preload).join('')}</head><body${attributes}>${body}${script}</body></html>`;
}

/** Swagger UI has a dark sheet of its own under a class; it follows the reader's setting as our sheet does. */
const INIT = `const dark = matchMedia('(prefers-color-scheme: dark)');
const follow = () => document.documentElement.classList.toggle('dark-mode', dark.matches);
dark.addEventListener('change', follow);
follow();
SwaggerUIBundle({
  url: '/openapi.json',
  dom_id: '#reference',
  deepLinking: true,
  docExpansion: 'list',
  defaultModelsExpandDepth: -1,
  displayRequestDuration: true,
  tryItOutEnabled: true,
  persistAuthorization: false,
  validatorUrl: null,
});
`;

const header = `<header><div><a class="brand" href="/">Oddstream</a><nav><a href="/app">Explore</a><a href="/docs">Reference</a><a href="/console">Console</a><a href="/docs#plans">Plans</a><a href="/openapi.json">OpenAPI</a><a href="/asyncapi.json">AsyncAPI</a><a href="/readyz">Health</a></nav></div></header>`;

const home = (baseUrl: string): string => `${header}<main>
<h1>Prediction-market data</h1>
<p>Catalogue, oracle prices and every fill on chain, over REST and WebSocket.</p>
<ol>
<li>Make a key: <pre class="command">curl -X POST ${escapeHtml(baseUrl)}/v1/keys -H 'content-type: application/json' -d '{"name":"first"}'</pre></li>
<li>Ask: <pre class="command">curl '${escapeHtml(baseUrl)}/v1/crypto/candles?symbol=BTC' -H 'x-api-key: YOUR_KEY'</pre></li>
</ol>
<p><a href="/app">Markets and wallets</a> · <a href="/docs">All endpoints</a> · <a href="/console">Stream console</a> · <a href="/openapi.json">OpenAPI 3.1</a> · <a href="/asyncapi.json">AsyncAPI 3</a> · <code>GET /v1/status</code> says what data this is.</p>
${planTable()}</main>`;

/** Where the event socket is, for pages and documents. `url` null: on the host a page was opened on, at `port`. */
export interface SocketAddress {
  readonly url: string | null;
  readonly port: number;
}

/**
 * The pages for people: `/`, `/docs`, `/console`, `/app` and their assets, `/openapi.json` and `/asyncapi.json`. Everything is served from here,
 * nothing from the network.
 */
export function mountPages(
  app: Express,
  options: { openApi: unknown; asyncApi: unknown; baseUrl: string; socket: SocketAddress },
): void {
  const assets = dirname(createRequire(import.meta.url).resolve('swagger-ui-dist/package.json'));
  const openApi = JSON.stringify(options.openApi);
  const asyncApi = JSON.stringify(options.asyncApi);
  const html = (response: Response, text: string, csp = CSP) => {
    response.setHeader('content-security-policy', csp);
    response.setHeader('x-content-type-options', 'nosniff');
    response.type('text/html').send(text);
  };
  // The documents are for programs of any site, as the API is; what browsers show or run is not.
  const guard = guardPage(new URL(options.baseUrl).origin);
  const pages: PageHost = { get: (path, handler) => app.get(path, guard, handler) };
  pages.get('/', (request, response) => {
    if (request.accepts(['json', 'html']) === 'html') {
      html(response, page('Oddstream', home(options.baseUrl)));
      return;
    }
    response.json({
      name: 'Oddstream',
      docs: '/docs',
      openapi: '/openapi.json',
      app: '/app',
      console: '/console',
      asyncapi: '/asyncapi.json',
      status: '/v1/status',
      keys: '/v1/keys',
    });
  });
  // Browsers ask for it on answers that are no page of ours and so name no icon.
  pages.get('/favicon.ico', (_request, response) => {
    response.setHeader('cache-control', 'public, max-age=86400');
    response.type('image/svg+xml').send(ICON_SVG);
  });
  app.get('/openapi.json', (_request, response) => {
    response.type('application/json').send(openApi);
  });
  app.get('/asyncapi.json', (_request, response) => {
    response.type('application/json').send(asyncApi);
  });
  const { url, port } = options.socket;
  const socketData = `data-port="${port}" data-socket="${escapeHtml(url ?? '')}"`;
  const consolePage = page('Oddstream console', `${header}${consoleBody}`, {
    script: '<script type="module" src="/console/main.js"></script>',
    sheets: [REFERENCE_SHEET, '/docs/docs.css', '/console/console.css'],
    attributes: ` class="console" ${socketData}`,
  });
  pages.get('/console', (_request, response) => html(response, consolePage, CONSOLE_CSP));
  mountConsoleAssets(pages);
  for (const [view, path] of Object.entries(appViews)) {
    const text = page('Oddstream', `${header}${appBody(view as AppView)}`, {
      script: `<script type="module" src="${appScript}"></script>`,
      sheets: ['/docs/docs.css', appSheet],
      preloads: appPreloads(view as AppView),
      attributes: ` class="app" data-view="${view}" ${socketData}`,
    });
    pages.get(path.replace(/\{(\w+)\}/g, ':$1'), (_request, response) => html(response, text, appCsp(options.socket)));
  }
  mountAppAssets(pages);
  const docs = page('Oddstream API reference', `${header}<main><div id="reference"></div>${planTable()}</main>`, {
    script: '<script src="/docs/swagger-ui-bundle.js"></script><script src="/docs/init.js"></script>',
  });
  pages.get('/docs', (_request, response) => html(response, docs));
  pages.get('/docs/init.js', (_request, response) => {
    response.type('text/javascript').send(INIT);
  });
  pages.get('/docs/docs.css', (_request, response) => {
    response.type('text/css').send(docsCss);
  });
  for (const [name, type] of Object.entries(ASSETS)) {
    pages.get(`/docs/${name}`, (_request, response, next) => {
      response.setHeader('content-type', `${type}; charset=utf-8`);
      response.setHeader('cache-control', 'public, max-age=86400');
      response.sendFile(join(assets, name), { cacheControl: false }, (error?: Error) => {
        if (error !== undefined && !response.headersSent) next(error);
      });
    });
  }
}
