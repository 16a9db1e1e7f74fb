import { type PageHost, serveContent, serveModules } from '../http/browser-files.js';
import type { AppView } from './page.js';
import { appCss } from './style.js';

/** What every view starts with, and what a view adds. */
const SHARED = ['main.js', 'api.js', 'dom.js', 'format.js', 'loading.js', 'search.js', 'table.js', 'trades.js'];
const OF_VIEW: Readonly<Record<AppView, readonly string[]>> = {
  home: ['home.js'],
  market: ['market.js', 'candles.js', 'charts.js', 'holders.js', 'live.js'],
  wallet: ['wallet.js', 'charts.js', 'equity.js', 'free.js', 'positions.js'],
};
const ASSETS = '/app/assets';
export const appScript = `${ASSETS}/main.js`;
export const appSheet = `${ASSETS}/app.css`;

/** Scripts of a view, for browsers to fetch at once instead of one after the other. */
export const appPreloads = (view: AppView): readonly string[] => [
  ...[...SHARED, ...OF_VIEW[view]].map((name) => `${ASSETS}/${name}`),
  ...['key.js', ...(view === 'home' ? [] : ['library.js'])].map((name) => `/console/${name}`),
];

/** Scripts and sheet of /app. */
export function mountAppAssets(host: PageHost): void {
  serveContent(host, appSheet, { content: appCss, type: 'text/css; charset=utf-8', maxAgeS: 0 });
  const names = [...new Set([...SHARED, ...Object.values(OF_VIEW).flat()])];
  serveModules(host, { prefix: ASSETS, room: 'api/app/browser', names });
}
