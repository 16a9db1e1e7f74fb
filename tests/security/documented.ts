import { readFileSync } from 'node:fs';
import { join } from 'node:path';

/** A route that docs/SECURITY.md lists as open without a key. */
export interface OpenRoute {
  readonly port: string;
  readonly method: string;
  /** As documented: `{name}` matches one path segment, a trailing `*` matches file names. */
  readonly path: string;
}

/** A port of docs/SECURITY.md. */
export interface DocumentedPort {
  readonly setting: string;
  readonly port: number;
  readonly process: string;
}

const text = readFileSync(join(import.meta.dirname, '../../docs/SECURITY.md'), 'utf8');

/** Cells of the first table under a heading. */
function table(heading: string): readonly (readonly string[])[] {
  const section = text.split(`\n## ${heading}\n`)[1]?.split('\n## ')[0];
  if (section === undefined) throw new Error(`docs/SECURITY.md has no section '${heading}'`);
  const lines = section.split('\n').filter((line) => line.startsWith('|'));
  return lines.slice(2).map((line) =>
    line
      .split('|')
      .slice(1, -1)
      .map((cell) => cell.trim().replace(/^`|`$/g, '')),
  );
}

export const documentedPorts: readonly DocumentedPort[] = table('Ports').map(([setting = '', port, process = '']) => ({
  setting,
  port: Number(port),
  process,
}));

export const openRoutes: readonly OpenRoute[] = table('Routes without a key').map(([port = '', route = '']) => {
  const [method = '', path = ''] = route.split(' ');
  return { port, method, path };
});

/** The documented route without a key that matches this path, or undefined. HEAD is treated as GET. */
export function openRouteOf(port: string, method: string, path: string): OpenRoute | undefined {
  const requested = method === 'HEAD' ? 'GET' : method;
  return openRoutes.find(
    (route) =>
      route.port === port &&
      route.method === requested &&
      new RegExp(
        `^${route.path
          .replace(/[.]/g, '\\.')
          .replace(/\{\w+\}/g, '[^/]+')
          .replace(/\*\*$/, '[\\w./-]+\\.(?:js|css)')
          .replace(/\*$/, '[\\w.-]+\\.(?:js|css)')}$`,
      ).test(path),
  );
}
