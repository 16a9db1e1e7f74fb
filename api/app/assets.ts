import { type PageHost, serveContent, serveModules } from '../http/browser-files.js';
import type { AppView } from './page.js';
import { appCss } from './style.js';

/** What every view starts with, and what a view adds. */
const SHARED_MODULES = ['main.js', 'api.js', 'dom.js', 'format.js', 'loading.js', 'search.js', 'table.js', 'trades.js'];
const VIEW_MODULES: Readonly<Record<AppView, readonly string[]>> = {
  home: ['home.js'],
  market: ['market.js', 'candles.js', 'charts.js', 'holders.js', 'live.js'],
  wallet: ['wallet.js', 'charts.js', 'equity.js', 'free.js', 'positions.js'],
};
const ASSETS = '/app/assets';
export const appScript = `${ASSETS}/main.js`;
export const appStylesheet = `${ASSETS}/app.css`;

/** Scripts of a view, for browsers to fetch at once instead of one after the other. */
export const appPreloads = (view: AppView): readonly string[] => [
  ...[...SHARED_MODULES, ...VIEW_MODULES[view]].map((name) => `${ASSETS}/${name}`),
  ...['key.js', ...(view === 'home' ? [] : ['library.js'])].map((name) => `/console/${name}`),
];

/** Scripts and sheet of /app. */
export function mountAppAssets(host: PageHost): void {
  serveContent(host, appStylesheet, { content: appCss, type: 'text/css; charset=utf-8', maxAgeS: 0 });
  const names = [...new Set([...SHARED_MODULES, ...Object.values(VIEW_MODULES).flat()])];
  serveModules(host, { prefix: ASSETS, folder: 'api/app/browser', names });
}
