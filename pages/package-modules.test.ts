import { expect, it } from 'vitest';
import { packageModules } from './package-modules.js';

it('packageModules serves a package with every package that it imports, each as one ES module', () => {
  const { files, imports } = packageModules('/x', ['@codemirror/view']);
  expect(imports).toEqual({
    '@codemirror/view': '/x/codemirror-view.js',
    '@codemirror/state': '/x/codemirror-state.js',
    '@marijn/find-cluster-break': '/x/marijn-find-cluster-break.js',
    'style-mod': '/x/style-mod.js',
    'w3c-keyname': '/x/w3c-keyname.js',
    crelt: '/x/crelt.js',
  });
  expect(files.map(({ path }) => path).sort()).toEqual(Object.values(imports).sort());
  for (const { content, type } of files) {
    expect(type).toBe('text/javascript; charset=utf-8');
    expect(String(content)).toMatch(/^export /m);
    expect(String(content)).not.toMatch(/\brequire\(|module\.exports/);
  }
});
