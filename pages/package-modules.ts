import { existsSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { JAVASCRIPT, type StaticFile } from './static-file.js';

/** Specifiers of static imports; a re-export with `from` is one, too. */
const IMPORTS = /^(?:import|export)\b[^'";]*?\bfrom\s*['"]([^'"]+)['"]/gm;

interface PackageJson {
  readonly name?: string;
  readonly module?: string;
  readonly exports?: string | { readonly import?: string; readonly '.'?: { readonly import?: string } };
}

export interface PackageModules {
  readonly files: readonly StaticFile[];
  /** Address by package name: `imports` of an import map. */
  readonly imports: Readonly<Record<string, string>>;
}

/**
 * ES modules of installed packages for browsers, at `<prefix>/<name>.js`, with all packages that they import. Each package must be a single module;
 * throws for one that imports a file of its own.
 */
export function packageModules(prefix: string, names: readonly string[]): PackageModules {
  const found = new Map<string, StaticFile>();
  const visit = (name: string, importer: string): void => {
    if (found.has(name)) return;
    const entry = moduleEntry(name, importer);
    const content = readFileSync(entry, 'utf8');
    const path = `${prefix}/${name.replace(/^@/, '').replace('/', '-')}.js`;
    found.set(name, { path, content, type: JAVASCRIPT, maxAgeS: 86_400 });
    for (const [, specifier = ''] of content.matchAll(IMPORTS)) {
      if (specifier.startsWith('.')) throw new Error(`${name} has more than one module (${specifier})`);
      visit(specifier, entry);
    }
  };
  for (const name of names) visit(name, import.meta.filename);
  const files = [...found.values()];
  return { files, imports: Object.fromEntries([...found].map(([name, { path }]) => [name, path])) };
}

/** The ES module that a package exports. */
function moduleEntry(name: string, importer: string): string {
  let folder = dirname(createRequire(importer).resolve(name));
  for (;;) {
    const file = join(folder, 'package.json');
    const description: PackageJson = existsSync(file) ? JSON.parse(readFileSync(file, 'utf8')) : {};
    if (description.name === name) {
      const { exports } = description;
      const entry = typeof exports === 'object' ? (exports.import ?? exports['.']?.import) : exports;
      return join(folder, entry ?? description.module ?? 'index.js');
    }
    if (folder === dirname(folder)) throw new Error(`The package ${name} has no package.json`);
    folder = dirname(folder);
  }
}
