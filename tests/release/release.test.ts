import { execFileSync } from 'node:child_process';
import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

/** Files of the release by hand, not from its code. */
const FILES = [
  'CHANGELOG.md',
  'docs/OPERATIONS.md',
  'infra/deploy/Dockerfile',
  'infra/deploy/compose.yaml',
  'infra/deploy/kubernetes/api.yaml',
  'infra/deploy/kubernetes/ingest.yaml',
  'infra/deploy/kubernetes/kustomization.yaml',
  'infra/deploy/kubernetes/processors.yaml',
  'infra/deploy/kubernetes/stream-gateway.yaml',
  'package-lock.json',
  'package.json',
];

describe('npm run release', () => {
  const folder = mkdtempSync(join(tmpdir(), 'oddstream-release-'));
  const env = {
    ...{ PATH: process.env.PATH, GIT_CONFIG_GLOBAL: '/dev/null', GIT_CONFIG_SYSTEM: '/dev/null' },
    ...{
      GIT_AUTHOR_NAME: 'a',
      GIT_AUTHOR_EMAIL: 'a@b.example',
      GIT_COMMITTER_NAME: 'a',
      GIT_COMMITTER_EMAIL: 'a@b.example',
    },
  };
  const run = (command: string, ...args: string[]) =>
    execFileSync(command, args, { cwd: folder, env, encoding: 'utf8', stdio: 'pipe' });
  const git = (...args: string[]) => run('git', ...args);
  beforeAll(() => {
    for (const name of [...FILES, 'infra/release']) cpSync(resolve(name), join(folder, name), { recursive: true });
    writeFileSync(join(folder, 'CHANGELOG.md'), '# Changelog\n\n## [Unreleased]\n\n- First.\n');
    git('init', '--quiet');
    git('add', '--all');
    git('commit', '--quiet', '-m', 'before');
  });
  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  it('commits the version in every file that names it, and tags the commit', () => {
    run(process.execPath, 'infra/release/release.mjs', '98.7.6');
    expect(git('status', '--porcelain')).toBe('');
    expect(git('show', '--name-only', '--format=%s', 'v98.7.6^{commit}').trim().split(/\n+/)).toEqual([
      'release: 98.7.6',
      ...FILES,
    ]);
    for (const name of FILES) expect(readFileSync(join(folder, name), 'utf8'), name).toContain('98.7.6');
  });

  it('leaves every file as it was when one of them has no version to change', () => {
    writeFileSync(join(folder, 'CHANGELOG.md'), '# Changelog\n\n## [Unreleased]\n\n- Second.\n');
    writeFileSync(join(folder, 'infra/deploy/kubernetes/stream-gateway.yaml'), 'image: other\n');
    git('commit', '--quiet', '--all', '-m', 'an image of another name');
    const head = git('rev-parse', 'HEAD');
    expect(() => run(process.execPath, 'infra/release/release.mjs', '98.7.7')).toThrow(/no tag of the image/);
    expect([git('rev-parse', 'HEAD'), git('status', '--porcelain')]).toEqual([head, '']);
  });
});
