import { recordedScript } from './status/assets.js';

export const escapeHtml = (text: string): string =>
  text.replace(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`);

/** Icon of all pages: two bars. */
export const ICON_SVG =
  '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 16 16"><rect x="2" y="6" width="5" height="8" fill="#1f6feb"/><rect x="9" y="2" width="5" height="12" fill="#6ea8ff"/></svg>';
/** Inlined in each page to save a request. */
const ICON = `data:image/svg+xml,${encodeURIComponent(ICON_SVG)}`;

const stylesheetLink = (href: string): string => `<link rel="stylesheet" href="${href}">`;
const preloadLink = (href: string): string => `<link rel="modulepreload" href="${href}">`;
export const REFERENCE_STYLESHEET = '/docs/swagger-ui.css';

const DESCRIPTION =
  'Prediction-market data: markets, wallets, trades, prices and order books over REST, WebSocket and SQL.';
/** Path of the picture of pages that have none of their own. */
export const CARD_PATH = '/card.png';
const meta = (entries: readonly (readonly [kind: string, name: string, text: string])[]): string =>
  entries.map(([kind, name, text]) => `<meta ${kind}="${name}" content="${escapeHtml(text)}">`).join('');
/** Markup of the picture that previews of links show: the one at an address, or the general one across their width. */
export const pictureCard = (image: { readonly address: string } | { readonly baseUrl: string }): string =>
  meta([
    ['property', 'og:image', 'address' in image ? image.address : `${image.baseUrl}${CARD_PATH}`],
    ['name', 'twitter:card', 'address' in image ? 'summary' : 'summary_large_image'],
  ]);
/** What other sites and messengers show of a link. */
const card = (title: string, description: string, baseUrl: string | undefined): string =>
  meta([
    ['name', 'description', description],
    ['property', 'og:site_name', 'Oddstream'],
    ['property', 'og:type', 'website'],
    ['property', 'og:title', title],
    ['property', 'og:description', description],
  ]) + (baseUrl === undefined ? meta([['name', 'twitter:card', 'summary']]) : pictureCard({ baseUrl }));
/** Complete HTML document. `head`: markup before all scripts; `sheets`, `preloads`: addresses; `attributes`: of the body element; `script`: markup after the body; `description`, `pictureBase` (public address of the API, whose picture is shown): for previews of links. */
export function htmlDocument(
  title: string,
  body: string,
  options: {
    script?: string;
    head?: string;
    sheets?: readonly string[];
    preloads?: readonly string[];
    attributes?: string;
    description?: string;
    pictureBase?: string;
  } = {},
): string {
  const { description = DESCRIPTION, head = '', pictureBase } = options;
  const { script = '', sheets = [REFERENCE_STYLESHEET, '/docs/docs.css'], preloads = [], attributes = '' } = options;
  return `<!doctype html><html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1"><meta name="color-scheme" content="light dark"><title>${escapeHtml(title)}</title>${card(title, description, pictureBase)}<link rel="icon" href="${ICON}">${head}${sheets.map(stylesheetLink).join('')}${preloads.map(preloadLink).join('')}</head><body${attributes}>${body}${script}<script type="module" src="${recordedScript}"></script></body></html>`;
}

/** Header with the navigation of all pages. */
export const pageHeader = `<header><div><a class="brand" href="/">Oddstream</a><nav><a href="/app">Explore</a><a href="/app/copy">Copy</a><a href="/docs">Docs</a><a href="/sql">SQL</a><a href="/console">Console</a><a href="/docs#plans">Plans</a><a href="/dashboard">Dashboard</a><a href="/openapi.json">OpenAPI</a><a href="/asyncapi.json">AsyncAPI</a><a href="/status">Status</a></nav></div><p id="recorded" class="recorded" hidden></p></header>`;
