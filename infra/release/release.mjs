// npm run release -- <version>: moves "Unreleased" of CHANGELOG.md under the version, sets it in package.json, the lock file and the tags of the image,
// commits and tags.
import { execFileSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { releaseChangelog, withVersion } from './changelog.mjs';
import { filesWithImageTags, withImageTag } from './image-tags.mjs';

const root = join(dirname(fileURLToPath(import.meta.url)), '..', '..');
const git = (...args) => execFileSync('git', args, { cwd: root, encoding: 'utf8' });
const edit = (name, change) => writeFileSync(join(root, name), change(readFileSync(join(root, name), 'utf8')));

const files = ['CHANGELOG.md', 'package.json', 'package-lock.json', ...filesWithImageTags];

const fail = (text) => {
  process.stderr.write(`${text}\n`);
  process.exit(1);
};

const [version] = process.argv.slice(2);
if (version === undefined) fail('Usage: npm run release -- <version>, for example npm run release -- 0.2.0');
if (git('status', '--porcelain').trim() !== '') fail('The working tree has changes: commit or stash them first.');
if (git('tag', '--list', `v${version}`).trim() !== '') fail(`The tag v${version} exists already.`);
try {
  const date = new Date().toISOString().slice(0, 10);
  edit('CHANGELOG.md', (text) => releaseChangelog(text, version, date));
  edit('package.json', (text) => withVersion(text, version, 1));
  // The lock file names the project's version twice, at its head and as the root package.
  edit('package-lock.json', (text) => withVersion(text, version, 2));
  for (const name of filesWithImageTags) edit(name, (text) => withImageTag(text, version));
} catch (error) {
  git('checkout', '--', ...files);
  fail(error.message);
}
git('commit', '--quiet', '-m', `release: ${version}`, '--', ...files);
git('tag', '-a', `v${version}`, '-m', `Oddstream ${version}`);
process.stdout.write(`Committed and tagged v${version}. Publish with: git push --follow-tags\n`);
