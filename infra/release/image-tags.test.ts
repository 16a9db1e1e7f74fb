import { readdirSync, readFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { describe, expect, it } from 'vitest';
import { filesWithImageTags, imageTags, withImageTag } from './image-tags.mjs';

const root = join(import.meta.dirname, '../..');
const read = (name: string) => readFileSync(join(root, name), 'utf8');

describe('tags of the image', () => {
  it('are replaced wherever the image is built or started, and no other version is', () => {
    const text = [
      'build --build-arg VERSION=1.2.3 -t oddstream:1.2.3 .',
      'image: {ODDSTREAM_IMAGE:-oddstream:1.2.3-rc.1}',
      '- { name: oddstream, newTag: 1.2.3 }',
      'image: redis:7.4.1-alpine, my-oddstream:<version>, { name: other, newTag: 1.2.3 }',
    ].join('\n');
    expect(imageTags(text)).toEqual(['1.2.3', '1.2.3', '1.2.3-rc.1', '1.2.3']);
    expect(withImageTag(text, '2.0.0')).toBe(
      [
        'build --build-arg VERSION=2.0.0 -t oddstream:2.0.0 .',
        'image: {ODDSTREAM_IMAGE:-oddstream:2.0.0}',
        '- { name: oddstream, newTag: 2.0.0 }',
        'image: redis:7.4.1-alpine, my-oddstream:<version>, { name: other, newTag: 1.2.3 }',
      ].join('\n'),
    );
    expect(() => withImageTag('image: redis:7.4.1', '2.0.0')).toThrow(/no tag/);
  });

  const { version } = JSON.parse(read('package.json')) as { version: string };
  it.each(filesWithImageTags)('in %s are the version of package.json', (name) => {
    expect(new Set(imageTags(read(name)))).toEqual(new Set([version]));
  });

  it('are in no other file of the deployment or the documents', () => {
    const files = ['docs', 'infra/deploy'].flatMap((folder) =>
      readdirSync(join(root, folder), { recursive: true, withFileTypes: true })
        .filter((entry) => entry.isFile())
        .map((entry) => relative(root, join(entry.parentPath, entry.name))),
    );
    const found = [...files, 'README.md', 'ARCHITECTURE.md'].filter((name) => imageTags(read(name)).length > 0);
    expect(found.sort()).toEqual([...filesWithImageTags]);
  });
});
