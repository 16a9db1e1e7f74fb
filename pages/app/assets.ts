import { CSS, moduleFiles, type StaticFile } from '../static-file.js';
import type { AppView } from './page.js';
import { appCss } from './style.js';

/** Modules of all views, and the additional modules of each view. */
const SHARED_MODULES = [
  ...['main.js', 'api.js', 'dom.js', 'format.js', 'links.js', 'loading.js', 'search.js', 'table.js', 'trades.js'],
];
const VIEW_MODULES: Readonly<Record<AppView, readonly string[]>> = {
  home: ['home.js', 'as-code.js', 'home-code.js', 'home-stream.js', 'live.js', 'overview.js', 'windows.js'],
  market: [
    ...[
      'market.js',
      'as-code.js',
      'candles.js',
      'charts.js',
      'coin-price.js',
      'holders.js',
      'live.js',
      'market-code.js',
    ],
    ...['market-tiles.js', 'newest-candles.js', 'order-book.js', 'related.js', 'resolution.js'],
  ],
  copy: ['copy.js', 'copy-requests.js', 'copy-score.js', 'charts.js'],
  wallet: [
    ...['wallet.js', 'as-code.js', 'charts.js', 'csv.js', 'equity.js', 'exposure.js', 'free-plan.js', 'gaps.js'],
    ...['person.js', 'positions.js', 'wallet-code.js'],
  ],
};
const ASSETS = '/app/assets';
export const appScript = `${ASSETS}/main.js`;
export const appStylesheet = `${ASSETS}/app.css`;

/** Scripts of a view, preloaded in parallel instead of one after the other. */
export const appPreloads = (view: AppView): readonly string[] => [
  ...[...SHARED_MODULES, ...VIEW_MODULES[view]].map((name) => `${ASSETS}/${name}`),
  ...['key.js', ...(view === 'home' ? ['stream.js'] : ['library.js'])].map((name) => `/console/${name}`),
];

/** Scripts and style sheet of /app. */
export function appFiles(): readonly StaticFile[] {
  const names = [...new Set([...SHARED_MODULES, ...Object.values(VIEW_MODULES).flat()])];
  return [
    { path: appStylesheet, content: appCss, type: CSS, maxAgeS: 0 },
    ...moduleFiles({ prefix: ASSETS, folder: 'app/browser', names }),
  ];
}
