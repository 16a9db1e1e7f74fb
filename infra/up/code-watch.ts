import { readFileSync, watch } from 'node:fs';
import { dirname, join, resolve } from 'node:path';

/** Changes of one compiler run are reported together: the compiler writes its files within this time. */
const SETTLE_MS = 150;
const RELATIVE_IMPORT = /(?:\bfrom\s*|\bimport\s*\(?\s*)['"](\.{1,2}\/[^'"]+)['"]/g;

/** Absolute paths of a compiled script and of everything it imports by relative path, directly or not. Missing files are left out. */
export function importedFiles(script: string): ReadonlySet<string> {
  const found = new Set<string>();
  const pending = [resolve(script)];
  for (let file = pending.pop(); file !== undefined; file = pending.pop()) {
    if (found.has(file)) continue;
    let code: string;
    try {
      code = readFileSync(file, 'utf8');
    } catch {
      continue;
    }
    found.add(file);
    for (const match of code.matchAll(RELATIVE_IMPORT)) pending.push(resolve(dirname(file), match[1] ?? ''));
  }
  return found;
}

export interface CodeWatch {
  close(): void;
}

/**
 * Watches compiled code for `npm run dev`. `onChanged` gets the names of the services whose script, or anything it imports, was written.
 * `assets` are folders of files that one service reads at its start, by the name of that service.
 */
export function watchCode(options: {
  dist: string;
  services: readonly { readonly name: string; readonly script: string }[];
  assets: Readonly<Record<string, string>>;
  onChanged: (names: readonly string[]) => void;
}): CodeWatch {
  const { dist, services, assets, onChanged } = options;
  const changed = new Set<string>();
  let timer: NodeJS.Timeout | undefined;
  const report = () => {
    const names = services
      .filter(({ name, script }) => {
        const folder = assets[name];
        const files = importedFiles(script);
        return [...changed].some((file) => files.has(file) || (folder !== undefined && file.startsWith(folder)));
      })
      .map(({ name }) => name);
    changed.clear();
    if (names.length > 0) onChanged(names);
  };
  const watchers = [dist, ...Object.values(assets)].map((folder) =>
    watch(folder, { recursive: true }, (_event, name) => {
      if (name === null || !/\.(js|css|html)$/.test(name)) return;
      changed.add(join(folder, name));
      clearTimeout(timer);
      timer = setTimeout(report, SETTLE_MS);
    }),
  );
  return {
    close() {
      clearTimeout(timer);
      for (const watcher of watchers) watcher.close();
    },
  };
}
