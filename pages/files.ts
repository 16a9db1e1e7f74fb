import { watchedContracts } from '../schemas/coverage/sources.js';
import { appFiles, appPreloads, appScript, appStylesheet } from './app/assets.js';
import { type AppView, appBody, appViews, MARKET_TITLE } from './app/page.js';
import { consoleFiles } from './console/assets.js';
import { consoleBody } from './console/page.js';
import {
  appPolicy,
  basePolicy,
  consolePolicy,
  dashboardPolicy,
  type SocketAddress,
  sqlPolicy,
} from './content-security-policy.js';
import { dashboardFiles, dashboardPreloads, dashboardScript, dashboardStylesheet } from './dashboard/assets.js';
import { type DashboardOptions, type DashboardView, dashboardBody, dashboardViews } from './dashboard/page.js';
import { docsFiles } from './docs/assets.js';
import { homeBody } from './docs/page.js';
import type { ReferenceDocument } from './docs/reference-markdown.js';
import { CARD_PATH, escapeHtml, htmlDocument, ICON_SVG, pageHeader, REFERENCE_STYLESHEET } from './layout.js';
import { sqlFiles, sqlImportMap, sqlImportMapHash, sqlPreloads, sqlScript, sqlStylesheet } from './sql/assets.js';
import { sqlBody } from './sql/page.js';
import { HTML, readSourceFile, type StaticFile } from './static-file.js';
import { statusFiles, statusPreloads, statusScript, statusStylesheet } from './status/assets.js';
import { statusBody } from './status/page.js';
import { testPaymentFiles } from './test-payment/page.js';
import { withVersionedAssets } from './versioned-assets.js';

/** Contracts that are the counterparty of a taker's own order. */
const EXCHANGES = watchedContracts.flatMap((one) => (one.exchangeVersion === null ? [] : [one.address])).join(' ');

/** Picture of previews of links; it is a screenshot of this project's home page. */
const pictureFile: StaticFile = {
  path: CARD_PATH,
  content: readSourceFile('pictures', 'card.png'),
  type: 'image/png',
  maxAgeS: 86_400,
};

/** Titles and descriptions of the app's views before their data is loaded, and for previews of links. */
const APP_CARDS: Readonly<Record<AppView, { title: string; description: string }>> = {
  home: {
    title: 'Markets and wallets · Oddstream',
    description: 'Current 5-minute windows, large trades, top wallets and every market of the venue, live.',
  },
  market: {
    title: MARKET_TITLE,
    description:
      'Prices, candles, order book, trades and holders of a prediction market, live, with the source of each price.',
  },
  wallet: {
    title: 'Wallet · Oddstream',
    description: 'Profit over time, positions, exposure and trades of a wallet, exact to the base unit.',
  },
  copy: {
    title: 'Copy trading · Oddstream',
    description: 'What copying the trades of wallets would have brought, with slippage.',
  },
};

/** All pages (`/`, `/docs`, `/console`, `/app`, `/sql`, `/status`, `/dashboard`) and their assets. `baseUrl`: public address of the API. */
export function pageFiles(options: {
  readonly baseUrl: string;
  readonly openApi: ReferenceDocument;
  readonly socket: SocketAddress;
  readonly dashboard: DashboardOptions;
  /** Whether purchases are confirmed without money. */
  readonly testPayments: boolean;
}): readonly StaticFile[] {
  const { baseUrl, socket, dashboard } = options;
  const socketData = `data-port="${socket.port}" data-socket="${escapeHtml(socket.url ?? '')}"`;
  const html = (
    path: string,
    content: string,
    contentSecurityPolicy: StaticFile['contentSecurityPolicy'] = () => basePolicy,
  ): StaticFile => ({ path, content, type: HTML, maxAgeS: 0, contentSecurityPolicy });
  const consolePage = htmlDocument('Oddstream console', `${pageHeader}${consoleBody}`, {
    script: '<script type="module" src="/console/main.js"></script>',
    sheets: [REFERENCE_STYLESHEET, '/docs/docs.css', '/console/console.css'],
    attributes: ` class="console" ${socketData}`,
  });
  const appPage = (view: AppView) =>
    htmlDocument(APP_CARDS[view].title, `${pageHeader}${appBody(view)}`, {
      description: APP_CARDS[view].description,
      pictureBase: baseUrl,
      script: `<script type="module" src="${appScript}"></script>`,
      sheets: ['/docs/docs.css', appStylesheet],
      preloads: appPreloads(view),
      attributes: ` class="app" data-view="${view}" data-exchanges="${EXCHANGES}" ${socketData}`,
    });
  const dashboardPage = (view: DashboardView) =>
    htmlDocument('Oddstream dashboard', `${pageHeader}${dashboardBody(view, dashboard)}`, {
      script: `<script type="module" src="${dashboardScript}"></script>`,
      sheets: ['/docs/docs.css', appStylesheet, dashboardStylesheet],
      preloads: dashboardPreloads(view),
      attributes: ` class="app dash" data-view="${view}"`,
    });
  const statusPage = htmlDocument('Oddstream status', `${pageHeader}${statusBody}`, {
    pictureBase: baseUrl,
    description: 'Sources, lag of the tables, alarms, and which days of data are complete.',
    script: `<script type="module" src="${statusScript}"></script>`,
    sheets: ['/docs/docs.css', appStylesheet, statusStylesheet],
    preloads: statusPreloads,
    attributes: ' class="app"',
  });
  const sqlPage = htmlDocument('Oddstream SQL', `${pageHeader}${sqlBody}`, {
    head: sqlImportMap,
    pictureBase: baseUrl,
    description: 'SQL on markets, wallets, trades and prices: examples, results as table, chart, CSV and Parquet.',
    script: `<script type="module" src="${sqlScript}"></script>`,
    sheets: ['/docs/docs.css', appStylesheet, sqlStylesheet],
    preloads: sqlPreloads,
    attributes: ' class="app sql"',
  });
  return withVersionedAssets([
    html('/', htmlDocument('Oddstream', homeBody(baseUrl, dashboard.hasBilling), { pictureBase: baseUrl })),
    // Browsers request it for responses that name no icon, such as JSON.
    { path: '/favicon.ico', content: ICON_SVG, type: 'image/svg+xml; charset=utf-8', maxAgeS: 86_400 },
    pictureFile,
    html('/console', consolePage, (request) => consolePolicy(socket, request)),
    ...consoleFiles(),
    ...Object.entries(appViews).map(([view, path]) =>
      html(path, appPage(view as AppView), (request) => appPolicy(socket, request)),
    ),
    ...appFiles(),
    ...Object.entries(dashboardViews).map(([view, path]) =>
      html(path, dashboardPage(view as DashboardView), () => dashboardPolicy),
    ),
    ...dashboardFiles(),
    html('/sql', sqlPage, () => sqlPolicy(sqlImportMapHash)),
    ...sqlFiles(),
    html('/status', statusPage, () => dashboardPolicy),
    ...statusFiles(),
    ...(options.testPayments ? testPaymentFiles(() => dashboardPolicy) : []),
    ...docsFiles({ baseUrl, openApi: options.openApi, hasPrices: dashboard.hasBilling }),
  ]);
}
