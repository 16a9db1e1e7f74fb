import { escapeHtml, pageHeader } from '../layout.js';
import { type Guide, guideAddress, guideImage, guides, readGuide } from './guides.js';
import { renderMarkdown, type Section } from './markdown.js';
import type { ReferenceDocument } from './reference-markdown.js';

const GROUPS = ['Use', 'Operate', 'Develop'] as const;

/** Search and list of all documents. `current`: slug of the page, `reference` for /docs. */
export function docsNavigation(current: string): string {
  const link = (slug: string, address: string, title: string) =>
    `<li><a href="${address}"${slug === current ? ' aria-current="page"' : ''}>${escapeHtml(title)}</a></li>`;
  const groups = GROUPS.map((name) => {
    const members = guides.filter(({ group }) => group === name);
    const open = name === 'Use' || members.some(({ slug }) => slug === current) ? ' open' : '';
    const links = members.map(({ slug, title }) => link(slug, `/docs/${slug}`, title));
    if (name === 'Use') links.unshift(link('reference', '/docs', 'REST reference'));
    return `<details${open}><summary>${name}</summary><ul>${links.join('')}</ul></details>`;
  });
  return `<nav class="documents" aria-label="Documents">
<label for="search">Search the documents</label><input id="search" type="search" autocomplete="off" maxlength="100">
<ul id="found" aria-live="polite"></ul>${groups.join('')}</nav>`;
}

export interface GuidePage {
  readonly guide: Guide;
  /** Body of the HTML page. */
  readonly body: string;
  readonly markdown: string;
  readonly sections: readonly Section[];
}

/** Renders a document of `docs/`. Throws when its file is missing. */
export function renderGuide(guide: Guide): GuidePage {
  const markdown = readGuide(guide);
  const { html, sections } = renderMarkdown(markdown, guideAddress, guideImage);
  const twin = `<p class="twin"><a href="/docs/${guide.slug}.md">This page as Markdown</a></p>`;
  const body = `${pageHeader}<main class="guide">${docsNavigation(guide.slug)}<article>${twin}${html}</article></main>`;
  return { guide, body, markdown, sections };
}

/** Characters of a section's text that are searched. */
const SEARCHED_CHARACTERS = 1_000;

/** Content of `/docs/search.json`: the endpoints of the reference and the sections of all guides. */
export function searchIndex(pages: readonly GuidePage[], reference: ReferenceDocument): string {
  const endpoints = Object.entries(reference.paths).flatMap(([path, operations]) =>
    Object.entries(operations).map(([method, { summary = '', tags = [], operationId = '' }]) => ({
      page: 'REST reference',
      title: `${method.toUpperCase()} ${path}`,
      // Swagger UI opens the operation that the address names.
      address: `/docs#/${encodeURIComponent(tags[0] ?? 'default')}/${operationId}`,
      text: summary,
    })),
  );
  const sections = pages.flatMap((page) =>
    page.sections.map(({ id, title, text }) => ({
      page: page.guide.title,
      title,
      address: `/docs/${page.guide.slug}#${id}`,
      text: text.slice(0, SEARCHED_CHARACTERS),
    })),
  );
  return JSON.stringify([...endpoints, ...sections]);
}
