import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { renderGuide, searchIndex } from './guide-page.js';
import { guideAddress, guideImage, guides } from './guides.js';
import { llmsText } from './llms.js';

const pages = guides.map(renderGuide);

it('every document of docs/ is a guide', () => {
  const files = readdirSync(join(import.meta.dirname, '../../docs')).filter((file) => file.endsWith('.md'));
  expect(guides.map(({ file }) => file).toSorted()).toEqual(files.toSorted());
});

describe.each(pages.map((page) => [page.guide.slug, page] as const))('/docs/%s', (slug, page) => {
  it('links only to sections that exist', () => {
    const links = [...page.body.matchAll(/href="(?:\/docs\/([a-z-]+))?#([^"]+)"/g)].filter(
      ([, , id]) => id !== 'plans',
    );
    for (const [, target = slug, id = ''] of links) {
      const sections = pages.find(({ guide }) => guide.slug === target)?.sections;
      expect(
        sections?.map((section) => section.id),
        `/docs/${target}#${id}`,
      ).toContain(id);
    }
  });

  it('begins with its title', () => {
    expect(page.sections[0]?.title.length).toBeGreaterThan(2);
    expect(page.body).toContain(`<a href="/docs/${slug}" aria-current="page">`);
  });
});

it('addresses of other guides are pages, files outside are not linked', () => {
  expect(guideAddress('SQL.md#trades')).toBe('/docs/sql#trades');
  expect(guideAddress('#here')).toBe('#here');
  expect(guideAddress('../CHANGELOG.md')).toBeNull();
});

it('pictures of guides are files of the documents only', () => {
  expect(() => guideImage('../secret.svg')).toThrow('pictures of guides');
});

it('the search index has endpoints and sections', () => {
  const openApi = {
    info: { title: 'T', version: '1' },
    paths: { '/v1/a b': { get: { summary: 'An A', tags: ['Group one'], operationId: 'getV1A' } } },
  };
  const entries = JSON.parse(searchIndex(pages, openApi)) as { title: string; address: string; text: string }[];
  expect(entries[0]).toEqual({
    page: 'REST reference',
    title: 'GET /v1/a b',
    address: '/docs#/Group%20one/getV1A',
    text: 'An A',
  });
  expect(entries.map(({ address }) => address)).toContain('/docs/sql#trades');
});

it('llms.txt lists the Markdown of every guide', () => {
  const text = llmsText('http://api.test');
  for (const { slug } of guides) expect(text).toContain(`(http://api.test/docs/${slug}.md)`);
});
