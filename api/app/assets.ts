import type { Express } from 'express';
import { serveModules } from '../http/browser-files.js';
import { appCss } from './style.js';

const MODULES = [
  'main.js',
  'api.js',
  'candles.js',
  'charts.js',
  'dom.js',
  'equity.js',
  'format.js',
  'holders.js',
  'home.js',
  'live.js',
  'market.js',
  'positions.js',
  'search.js',
  'table.js',
  'trades.js',
  'wallet.js',
];

/** Scripts and sheet of /app. */
export function mountAppAssets(app: Express): void {
  app.get('/app/assets/app.css', (_request, response) => {
    response.type('text/css').send(appCss);
  });
  serveModules(app, { prefix: '/app/assets', room: 'api/app/browser', names: MODULES });
}
