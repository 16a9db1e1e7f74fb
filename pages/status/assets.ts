import { CSS, moduleFiles, type StaticFile } from '../static-file.js';
import { statusCss } from './style.js';

const MODULES = ['main.js', 'calendar.js', 'notices.js', 'tables.js'];
const ASSETS = '/status/assets';
/** Marks recorded input; loaded by every page. */
export const recordedScript = `${ASSETS}/recorded.js`;
export const statusScript = `${ASSETS}/main.js`;
export const statusStylesheet = `${ASSETS}/status.css`;

/** Scripts of the page, preloaded in parallel instead of one after the other. */
export const statusPreloads: readonly string[] = [
  ...MODULES.map((name) => `${ASSETS}/${name}`),
  ...['dom.js', 'format.js'].map((name) => `/app/assets/${name}`),
];

/** Scripts and style sheet of /status. */
export function statusFiles(): readonly StaticFile[] {
  return [
    { path: statusStylesheet, content: statusCss, type: CSS, maxAgeS: 0 },
    ...moduleFiles({ prefix: ASSETS, folder: 'status/browser', names: [...MODULES, 'recorded.js'] }),
  ];
}
