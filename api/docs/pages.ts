import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import type { Express, Request, Response } from 'express';
import { hostnameOf } from '../../infra/http/request-guard.js';
import { plans } from '../../schemas/plans.js';
import { appPreloads, appScript, appStylesheet, mountAppAssets } from '../app/assets.js';
import { type AppView, appBody, appViews } from '../app/page.js';
import { mountConsoleAssets } from '../console/assets.js';
import { consoleBody } from '../console/page.js';
import { type PageHost, serveContent, serveFile } from '../http/browser-files.js';
import { createMemoryFile } from '../http/memory-file.js';
import { guardPage } from '../http/site-guards.js';
import { docsCss } from './style.js';

const HTML = 'text/html; charset=utf-8';
const JSON_TYPE = 'application/json; charset=utf-8';
const ASSETS = { 'swagger-ui.css': 'text/css', 'swagger-ui-bundle.js': 'text/javascript' } as const;
const CSP =
  "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; connect-src 'self'; base-uri 'none'; frame-ancestors 'none'";

/**
 * Origin of the event socket as the pages open it: on the host the page was opened on when none is set. A policy cannot name an IPv6 address
 * (browsers ignore such a source), so there it is the scheme alone.
 */
const socketSource = ({ url, port }: SocketAddress, request: Request): string => {
  const scheme = url === null ? (request.secure ? 'wss:' : 'ws:') : new URL(url).protocol;
  const name = url === null ? (hostnameOf(request.headers.host ?? '') ?? 'localhost') : new URL(url).hostname;
  if (name.includes(':')) return scheme;
  return url === null ? `${scheme}//${name}:${port}` : new URL(url).origin;
};
/** Of the network only this address and the event socket. */
const consoleCsp = (socket: SocketAddress, request: Request): string =>
  CSP.replace("connect-src 'self'", `connect-src 'self' ${socketSource(socket, request)}`);
/** The same, and nothing inline. */
const appCsp = (socket: SocketAddress, request: Request): string =>
  consoleCsp(socket, request).replace(" 'unsafe-inline'", '').replace('; base-uri', "; form-action 'self'; base-uri");

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

const stylesheetLink = (href: string): string => `<link rel="stylesheet" href="${href}">`;
const preloadLink = (href: string): string => `<link rel="modulepreload" href="${href}">`;
const REFERENCE_STYLESHEET = '/docs/swagger-ui.css';

function page(
  title: string,
  body: string,
  options: { script?: string; sheets?: readonly string[]; preloads?: readonly string[]; attributes?: string } = {},
): string {
  const { script = '', sheets = [REFERENCE_STYLESHEET, '/docs/docs.css'], preloads = [], attributes = '' } = options;
  return `<!doctype html><html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1"><meta name="color-scheme" content="light dark"><title>${escapeHtml(title)}</title><link rel="icon" href="${ICON}">${sheets.map(stylesheetLink).join('')}${preloads.map(preloadLink).join('')}</head><body${attributes}>${body}${script}</body></html>`;
}

/** Swagger UI has a dark sheet of its own under a class; it follows the reader's setting as our sheet does. */
const SWAGGER_INIT = `const dark = matchMedia('(prefers-color-scheme: dark)');
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
  /** A page from memory, with the policy for the request. */
  const html = (text: string, csp: (request: Request) => string = () => CSP) => {
    const answer = createMemoryFile({ content: text, type: HTML, maxAgeS: 0 });
    return (request: Request, response: Response) => {
      response.setHeader('content-security-policy', csp(request));
      return answer(request, response);
    };
  };
  // The documents are for programs of any site, as the API is; what browsers show or run is not.
  const guard = guardPage(new URL(options.baseUrl).origin);
  const documents: PageHost = { get: (path, handler) => app.get(path, handler) };
  const pages: PageHost = { get: (path, handler) => app.get(path, guard, handler) };
  const homePage = html(page('Oddstream', home(options.baseUrl)));
  pages.get('/', (request, response) => {
    if (request.accepts(['json', 'html']) === 'html') return homePage(request, response);
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
  serveContent(documents, '/openapi.json', { content: openApi, type: JSON_TYPE, maxAgeS: 0 });
  serveContent(documents, '/asyncapi.json', { content: asyncApi, type: JSON_TYPE, maxAgeS: 0 });
  const { url, port } = options.socket;
  const socketData = `data-port="${port}" data-socket="${escapeHtml(url ?? '')}"`;
  const consolePage = page('Oddstream console', `${header}${consoleBody}`, {
    script: '<script type="module" src="/console/main.js"></script>',
    sheets: [REFERENCE_STYLESHEET, '/docs/docs.css', '/console/console.css'],
    attributes: ` class="console" ${socketData}`,
  });
  pages.get(
    '/console',
    html(consolePage, (request) => consoleCsp(options.socket, request)),
  );
  mountConsoleAssets(pages);
  for (const [view, path] of Object.entries(appViews)) {
    const text = page('Oddstream', `${header}${appBody(view as AppView)}`, {
      script: `<script type="module" src="${appScript}"></script>`,
      sheets: ['/docs/docs.css', appStylesheet],
      preloads: appPreloads(view as AppView),
      attributes: ` class="app" data-view="${view}" ${socketData}`,
    });
    pages.get(
      path.replace(/\{(\w+)\}/g, ':$1'),
      html(text, (request) => appCsp(options.socket, request)),
    );
  }
  mountAppAssets(pages);
  const docs = page('Oddstream API reference', `${header}<main><div id="reference"></div>${planTable()}</main>`, {
    script: '<script src="/docs/swagger-ui-bundle.js"></script><script src="/docs/init.js"></script>',
  });
  pages.get('/docs', html(docs));
  serveContent(pages, '/docs/init.js', { content: SWAGGER_INIT, type: 'text/javascript; charset=utf-8', maxAgeS: 0 });
  serveContent(pages, '/docs/docs.css', { content: docsCss, type: 'text/css; charset=utf-8', maxAgeS: 0 });
  for (const [name, type] of Object.entries(ASSETS)) {
    serveFile(pages, `/docs/${name}`, { name: join(assets, name), type: `${type}; charset=utf-8`, maxAgeS: 86_400 });
  }
}
