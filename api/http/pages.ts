import type { Express, Request, RequestHandler, Response } from 'express';
import { appViews, MARKET_TITLE } from '../../pages/app/page.js';
import type { SocketAddress } from '../../pages/content-security-policy.js';
import type { DashboardOptions } from '../../pages/dashboard/page.js';
import type { ReferenceDocument } from '../../pages/docs/reference-markdown.js';
import { pageFiles } from '../../pages/files.js';
import { escapeHtml, pictureCard } from '../../pages/layout.js';
import type { StaticFile } from '../../pages/static-file.js';
import { VERSIONED_PREFIX } from '../../pages/versioned-assets.js';
import type { MarketCard } from '../catalog/market-card.js';
import { createMemoryFile } from './memory-file.js';
import { guardPage } from './site-guards.js';

const JSON_TYPE = 'application/json; charset=utf-8';

/** Response of `/` for clients that do not accept HTML. */
const ENTRY_POINTS = {
  name: 'Oddstream',
  docs: '/docs',
  openapi: '/openapi.json',
  app: '/app',
  sql: '/sql',
  console: '/console',
  dashboard: '/dashboard',
  asyncapi: '/asyncapi.json',
  status: '/v1/status',
  status_page: '/status',
  keys: '/v1/keys',
};

/** Mounts the pages with their assets, `/openapi.json` and `/asyncapi.json`, all from memory. */
export function mountPages(
  app: Express,
  options: {
    openApi: ReferenceDocument;
    asyncApi: unknown;
    baseUrl: string;
    socket: SocketAddress;
    dashboard: DashboardOptions;
    testPayments: boolean;
    /** Card of a market by its id in the path, for previews of links; null if unknown. */
    marketCard: (id: string) => Promise<MarketCard | null>;
  },
): void {
  // Clients on any origin may read the documents; pages and their assets are for this origin only.
  for (const name of ['openApi', 'asyncApi'] as const) {
    const document = { content: JSON.stringify(options[name]), type: JSON_TYPE, maxAgeS: 0 };
    app.get(`/${name.toLowerCase()}.json`, createMemoryFile(document));
  }
  const guard = guardPage(new URL(options.baseUrl).origin);
  for (const file of pageFiles(options)) {
    const path = file.path.replace(/\{(\w+)\}/g, ':$1');
    const serve = file.path === appViews.market ? serveMarket(file, options) : serveFile(file);
    app.get(path, guard, ...(path === '/' ? [entryPointsForClients] : []), serve);
    // Of another version, while releases change: this one's file, which browsers must not keep as the other's.
    if (file.version !== undefined) app.get(`${VERSIONED_PREFIX}:version${path}`, guard, serve);
  }
}

const entryPointsForClients: RequestHandler = (request, response, next) => {
  if (request.accepts(['json', 'html']) === 'html') next();
  else response.json(ENTRY_POINTS);
};

/** The page of a market, with the market's title and picture where its card has the general ones. */
function serveMarket(
  file: StaticFile,
  options: { baseUrl: string; marketCard: (id: string) => Promise<MarketCard | null> },
): RequestHandler {
  const serve = serveFile(file);
  const page = String(file.content);
  const general = pictureCard(options);
  return async (request: Request, response: Response, next) => {
    const card = await options.marketCard(String(request.params.id));
    if (card === null) return serve(request, response, next);
    const title = escapeHtml(`${card.title} · Oddstream`);
    const titled = page.replaceAll(escapeHtml(MARKET_TITLE), () => title);
    const { image } = card;
    setPolicy(file, request, response);
    response.setHeader('cache-control', 'no-cache');
    response
      .type(file.type)
      .send(image === null ? titled : titled.replace(general, () => pictureCard({ address: image })));
  };
}

function setPolicy(file: StaticFile, request: Request, response: Response): void {
  const policy = file.contentSecurityPolicy?.({ secure: request.secure, host: request.headers.host });
  if (policy !== undefined) response.setHeader('content-security-policy', policy);
}

function serveFile(file: StaticFile): RequestHandler {
  const { version, maxAgeS } = file;
  const lifetimeS = ({ params }: Request) => (params.version === version ? maxAgeS : 0);
  const respond = createMemoryFile(version === undefined ? file : { ...file, maxAgeS: lifetimeS });
  return (request: Request, response: Response) => {
    setPolicy(file, request, response);
    return respond(request, response);
  };
}
