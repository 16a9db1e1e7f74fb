import { existsSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import type { Express } from 'express';
import { consoleCss } from './style.js';

/** The page's own modules; browsers run them as they are. */
const MODULES = ['main.js', 'chart.js', 'list.js', 'message.js', 'stream.js'];
const ROOM = 'api/console/browser';

/** Beside this file, or in the source tree where this file is the compiled one. */
function browserFolder(): string {
  const beside = join(import.meta.dirname, 'browser');
  return existsSync(beside) ? beside : join(import.meta.dirname, '../../..', ROOM);
}

/** Scripts and sheet of the console, and the chart library it loads when there is something to draw. */
export function mountConsoleAssets(app: Express): void {
  const folder = browserFolder();
  const charts = dirname(createRequire(import.meta.url).resolve('lightweight-charts/package.json'));
  const files: [string, string, number][] = [
    ...MODULES.map((name): [string, string, number] => [name, join(folder, name), 0]),
    ['lightweight-charts.js', join(charts, 'dist/lightweight-charts.standalone.production.js'), 86_400],
  ];
  app.get('/console/console.css', (_request, response) => {
    response.type('text/css').send(consoleCss);
  });
  for (const [name, file, maxAgeS] of files) {
    app.get(`/console/${name}`, (_request, response, next) => {
      response.setHeader('content-type', 'text/javascript; charset=utf-8');
      response.setHeader('cache-control', maxAgeS === 0 ? 'no-cache' : `public, max-age=${maxAgeS}`);
      response.setHeader('x-content-type-options', 'nosniff');
      response.sendFile(file, { cacheControl: false }, (error?: Error) => {
        if (error !== undefined && !response.headersSent) next(error);
      });
    });
  }
}
