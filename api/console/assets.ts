import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { type PageHost, serveContent, serveFile, serveModules } from '../http/browser-files.js';
import { consoleCss } from './style.js';

/** What the page is made of; key.js, library.js and stream.js also serve /app. */
const MODULES = ['main.js', 'chart.js', 'key.js', 'library.js', 'list.js', 'message.js', 'stream.js'];

/** Scripts and sheet of the console, and the chart library it loads when there is something to draw. */
export function mountConsoleAssets(host: PageHost): void {
  const charts = dirname(createRequire(import.meta.url).resolve('lightweight-charts/package.json'));
  serveContent(host, '/console/console.css', { content: consoleCss, type: 'text/css; charset=utf-8', maxAgeS: 0 });
  serveModules(host, { prefix: '/console', folder: 'api/console/browser', names: MODULES });
  serveFile(host, '/console/lightweight-charts.js', {
    name: join(charts, 'dist/lightweight-charts.standalone.production.js'),
    type: 'text/javascript; charset=utf-8',
    maxAgeS: 86_400,
  });
}
