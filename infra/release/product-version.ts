import { existsSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';

/** Version in the nearest package.json: this file runs from the source tree and from dist/. */
export function productVersion(): string {
  let folder = import.meta.dirname;
  while (!existsSync(join(folder, 'package.json'))) folder = dirname(folder);
  return (JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')) as { version: string }).version;
}
