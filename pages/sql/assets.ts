import { createHash } from 'node:crypto';
import { exampleQueries } from '../../schemas/public-views/example-queries.js';
import { packageModules } from '../package-modules.js';
import { CSS, JAVASCRIPT, moduleFiles, type StaticFile } from '../static-file.js';
import { sqlCss } from './style.js';

const MODULES = [
  ...['main.js', 'bars.js', 'chart.js', 'completion.js', 'dialect.js', 'editor.js', 'history-note.js', 'queries.js'],
  ...['results.js', 'run.js', 'schema.js', 'values.js'],
];
/** Modules that the editor imports by name. */
const PACKAGES = [
  ...['@codemirror/autocomplete', '@codemirror/commands', '@codemirror/lang-sql', '@codemirror/language'],
  ...['@codemirror/state', '@codemirror/view', '@lezer/highlight'],
];
const ASSETS = '/sql/assets';
export const sqlScript = `${ASSETS}/main.js`;
export const sqlStylesheet = `${ASSETS}/sql.css`;

const libraries = packageModules(ASSETS, PACKAGES);
const importMapText = JSON.stringify({ imports: libraries.imports });

/** Browsers accept import maps only inline; the policy allows this one by its hash. It must precede all modules. */
export const sqlImportMap = `<script type="importmap">${importMapText}</script>`;
export const sqlImportMapHash = `sha256-${createHash('sha256').update(importMapText).digest('base64')}`;

/** Scripts of the page, preloaded in parallel instead of one after the other. */
export const sqlPreloads: readonly string[] = [
  ...[...MODULES, 'examples.js'].map((name) => `${ASSETS}/${name}`),
  ...libraries.files.map(({ path }) => path),
  ...['api.js', 'dom.js', 'format.js', 'charts.js'].map((name) => `/app/assets/${name}`),
  ...['key.js', 'library.js'].map((name) => `/console/${name}`),
];

/** Scripts and style sheet of /sql, and the packages of its editor. */
export function sqlFiles(): readonly StaticFile[] {
  return [
    { path: sqlStylesheet, content: sqlCss, type: CSS, maxAgeS: 0 },
    {
      path: `${ASSETS}/examples.js`,
      content: `// The example queries of docs/SQL.md.\nexport const examples = ${JSON.stringify(exampleQueries)};\n`,
      type: JAVASCRIPT,
      maxAgeS: 0,
    },
    ...moduleFiles({ prefix: ASSETS, folder: 'sql/browser', names: MODULES }),
    ...libraries.files,
  ];
}
