import { CSS, moduleFiles, type StaticFile } from '../static-file.js';
import type { DashboardView } from './page.js';
import { dashboardCss } from './style.js';

/** Modules of all views, and the additional modules of each view. */
const SHARED_MODULES = ['main.js', 'requests.js'];
const VIEW_MODULES: Readonly<Record<DashboardView, readonly string[]>> = {
  account: ['account.js', 'dialog.js', 'history.js', 'keys.js', 'list.js', 'meters.js', 'packages.js', 'settings.js'],
  'sign-in': ['sign-in.js'],
  link: ['link.js'],
  reset: ['link.js'],
};
const ASSETS = '/dashboard/assets';
export const dashboardScript = `${ASSETS}/main.js`;
export const dashboardStylesheet = `${ASSETS}/dashboard.css`;

/** Scripts of a view, preloaded in parallel instead of one after the other. */
export const dashboardPreloads = (view: DashboardView): readonly string[] => [
  ...[...SHARED_MODULES, ...VIEW_MODULES[view]].map((name) => `${ASSETS}/${name}`),
  ...['dom.js', 'format.js', ...(view === 'account' ? ['charts.js'] : [])].map((name) => `/app/assets/${name}`),
  ...(view === 'account' ? ['/console/library.js'] : []),
];

/** Scripts and style sheet of /dashboard. */
export function dashboardFiles(): readonly StaticFile[] {
  const names = [...new Set([...SHARED_MODULES, ...Object.values(VIEW_MODULES).flat()])];
  return [
    { path: dashboardStylesheet, content: dashboardCss, type: CSS, maxAgeS: 0 },
    ...moduleFiles({ prefix: ASSETS, folder: 'dashboard/browser', names }),
  ];
}
