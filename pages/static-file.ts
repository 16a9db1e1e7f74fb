import { existsSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';

export const JAVASCRIPT = 'text/javascript; charset=utf-8';
export const CSS = 'text/css; charset=utf-8';
export const HTML = 'text/html; charset=utf-8';

/** What a Content-Security-Policy depends on. `host`: the Host header. */
export interface PageRequest {
  readonly secure: boolean;
  readonly host: string | undefined;
}

/** A page or asset, to be mounted at `path`: a literal path or one with `{name}` segments. */
export interface StaticFile {
  readonly path: string;
  readonly content: string | Buffer;
  /** Content type. */
  readonly type: string;
  /** Seconds for which browsers use a copy without revalidation. 0: browsers revalidate each time. */
  readonly maxAgeS: number;
  /** The file is also at `/v/<version><path>`, and only copies from there have a lifetime. */
  readonly version?: string;
  /** Value of the Content-Security-Policy header; HTML pages only. */
  readonly contentSecurityPolicy?: (request: PageRequest) => string;
}

/** Browsers run these modules from the source tree; the compiler does not copy them to dist/. */
function sourceFolder(folder: string): string {
  const besideThisFile = join(import.meta.dirname, folder);
  return existsSync(besideThisFile) ? besideThisFile : join(import.meta.dirname, '../../pages', folder);
}

/** A file of a folder of pages/ that has no code to compile. */
export const readSourceFile = (folder: string, name: string): Buffer => readFileSync(join(sourceFolder(folder), name));

/** Browser modules of a folder of pages/, at `<prefix>/<name>`. */
export function moduleFiles(options: {
  readonly prefix: string;
  readonly folder: string;
  readonly names: readonly string[];
}): readonly StaticFile[] {
  const folder = sourceFolder(options.folder);
  return options.names.map((name) => ({
    path: `${options.prefix}/${name}`,
    content: readFileSync(join(folder, name)),
    type: JAVASCRIPT,
    maxAgeS: 0,
  }));
}

/** A file of an installed package, cached by browsers for a day. */
export function packageFile(path: string, options: { packageName: string; name: string; type: string }): StaticFile {
  const folder = dirname(createRequire(import.meta.url).resolve(`${options.packageName}/package.json`));
  return { path, content: readFileSync(join(folder, options.name)), type: options.type, maxAgeS: 86_400 };
}
