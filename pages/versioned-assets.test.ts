import { describe, expect, it } from 'vitest';
import { CSS, HTML, JAVASCRIPT, type StaticFile } from './static-file.js';
import { withVersionedAssets } from './versioned-assets.js';

const files = (mainText = ''): readonly StaticFile[] => [
  {
    path: '/app',
    content:
      '<link href="/app.css"><script src="/a/main.js"></script><script src="/a/library.js"></script><a href="/a">',
    type: HTML,
    maxAgeS: 0,
  },
  { path: '/app.css', content: 'p { color: red }', type: CSS, maxAgeS: 0 },
  {
    path: '/a/main.js',
    content: Buffer.from(`import './near.js';\nimport '/b/other.js';\n${mainText}`),
    type: JAVASCRIPT,
    maxAgeS: 0,
  },
  { path: '/b/other.js', content: 'export const path = "/b/other.js/x";', type: JAVASCRIPT, maxAgeS: 0 },
  { path: '/a/library.js', content: 'export {};', type: JAVASCRIPT, maxAgeS: 86_400 },
];
const byPath = (list: readonly StaticFile[], path: string): StaticFile => {
  const found = list.find((file) => file.path === path);
  if (found === undefined) throw new Error(path);
  return found;
};

describe('versioned assets', () => {
  it('are referred to by their version from pages and modules', () => {
    const versioned = withVersionedAssets(files());
    const { version } = byPath(versioned, '/a/main.js');
    expect(version).toMatch(/^[\w-]{12}$/);
    expect(byPath(versioned, '/app').content).toBe(
      `<link href="/v/${version}/app.css"><script src="/v/${version}/a/main.js"></script><script src="/a/library.js"></script><a href="/a">`,
    );
    expect(byPath(versioned, '/a/main.js').content).toBe(`import './near.js';\nimport '/v/${version}/b/other.js';\n`);
    expect(byPath(versioned, '/b/other.js').content).toBe('export const path = "/b/other.js/x";');
    expect(versioned.map(({ version, maxAgeS }) => [version === undefined, maxAgeS])).toEqual([
      [true, 0],
      [false, 31_536_000],
      [false, 31_536_000],
      [false, 31_536_000],
      [true, 86_400],
    ]);
  });

  it('all have another version when one of them changes', () => {
    const [before, after] = [files(), files('changed();')].map((list) =>
      withVersionedAssets(list).flatMap(({ version }) => version ?? []),
    );
    expect(new Set(before).size).toBe(1);
    expect(new Set(after).size).toBe(1);
    expect(after?.[0]).not.toBe(before?.[0]);
  });
});
