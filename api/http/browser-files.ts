import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { RequestHandler } from 'express';
import { createMemoryFile, type MemoryFile } from './memory-file.js';

const JAVASCRIPT = 'text/javascript; charset=utf-8';

/** Where pages and their files are mounted. */
export interface PageHost {
  get(path: string, handler: RequestHandler): void;
}

/** A folder of the source tree: modules for browsers are not compiled, so a compiled process takes them from there too. */
function sourceFolder(path: string): string {
  const fromSource = join(import.meta.dirname, '../..', path);
  return existsSync(fromSource) ? fromSource : join(import.meta.dirname, '../../..', path);
}

/** One file at one path, from memory. */
export function serveFile(
  host: PageHost,
  path: string,
  file: { readonly name: string; readonly type: string; readonly maxAgeS: number },
): void {
  serveContent(host, path, { content: readFileSync(file.name), type: file.type, maxAgeS: file.maxAgeS });
}

/** The same for content that is no file. */
export function serveContent(host: PageHost, path: string, file: MemoryFile): void {
  host.get(path, createMemoryFile(file));
}

/** A page's own modules at `<prefix>/<name>`; browsers run them as they are. */
export function serveModules(
  host: PageHost,
  options: { readonly prefix: string; readonly folder: string; readonly names: readonly string[] },
): void {
  const folder = sourceFolder(options.folder);
  for (const name of options.names) {
    serveFile(host, `${options.prefix}/${name}`, { name: join(folder, name), type: JAVASCRIPT, maxAgeS: 0 });
  }
}
