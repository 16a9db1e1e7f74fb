import { CSS, JAVASCRIPT, moduleFiles, packageFile, type StaticFile } from '../static-file.js';
import { consoleCss } from './style.js';

/** Browser modules of /console; /app also loads key.js, library.js and stream.js. */
const MODULES = [
  ...['main.js', 'chart.js', 'key.js', 'library.js', 'list.js', 'message.js', 'position.js', 'preset-now.js'],
  ...['silence.js', 'stream.js'],
];

/** Scripts and style sheet of /console, and the chart library, which pages load when they draw a chart. */
export function consoleFiles(): readonly StaticFile[] {
  return [
    { path: '/console/console.css', content: consoleCss, type: CSS, maxAgeS: 0 },
    ...moduleFiles({ prefix: '/console', folder: 'console/browser', names: MODULES }),
    packageFile('/console/lightweight-charts.js', {
      packageName: 'lightweight-charts',
      name: 'dist/lightweight-charts.standalone.production.js',
      type: JAVASCRIPT,
    }),
  ];
}
