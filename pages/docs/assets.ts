import { basePolicy } from '../content-security-policy.js';
import { htmlDocument } from '../layout.js';
import { CSS, HTML, JAVASCRIPT, moduleFiles, packageFile, type StaticFile } from '../static-file.js';
import { renderGuide, searchIndex } from './guide-page.js';
import { guides } from './guides.js';
import { llmsText } from './llms.js';
import { referenceBody } from './page.js';
import { type ReferenceDocument, referenceMarkdown } from './reference-markdown.js';
import { docsCss } from './style.js';

const MARKDOWN = 'text/markdown; charset=utf-8';
const SEARCH_SCRIPT = '<script type="module" src="/docs/search.js"></script>';
const GUIDE_SCRIPTS = `${SEARCH_SCRIPT}<script type="module" src="/docs/fill-key.js"></script>`;

/** `/docs` (REST reference), a page and its Markdown for each guide, the index of their search, `/llms.txt`, and their assets. */
export function docsFiles(options: {
  readonly baseUrl: string;
  readonly openApi: ReferenceDocument;
  readonly hasPrices: boolean;
}): readonly StaticFile[] {
  const { baseUrl, openApi, hasPrices } = options;
  const html = (path: string, content: string): StaticFile => ({
    path,
    content,
    type: HTML,
    maxAgeS: 0,
    contentSecurityPolicy: () => basePolicy,
  });
  const reference = htmlDocument('Oddstream API reference', referenceBody(hasPrices), {
    script: `<script src="/docs/swagger-ui-bundle.js"></script><script type="module" src="/docs/reference.js"></script>${SEARCH_SCRIPT}`,
  });
  const pages = guides.map(renderGuide);
  return [
    html('/docs', reference),
    { path: '/docs/reference.md', content: referenceMarkdown(openApi), type: MARKDOWN, maxAgeS: 0 },
    ...pages.flatMap(({ guide, body, markdown }): StaticFile[] => [
      html(
        `/docs/${guide.slug}`,
        htmlDocument(`${guide.title} · Oddstream`, body, { sheets: ['/docs/docs.css'], script: GUIDE_SCRIPTS }),
      ),
      { path: `/docs/${guide.slug}.md`, content: markdown, type: MARKDOWN, maxAgeS: 0 },
    ]),
    {
      path: '/docs/search.json',
      content: searchIndex(pages, openApi),
      type: 'application/json; charset=utf-8',
      maxAgeS: 0,
    },
    { path: '/llms.txt', content: llmsText(baseUrl), type: 'text/plain; charset=utf-8', maxAgeS: 0 },
    ...moduleFiles({
      prefix: '/docs',
      folder: 'docs/browser',
      names: ['search.js', 'reference.js', 'samples.js', 'fill-key.js'],
    }),
    { path: '/docs/docs.css', content: docsCss, type: CSS, maxAgeS: 0 },
    packageFile('/docs/swagger-ui.css', { packageName: 'swagger-ui-dist', name: 'swagger-ui.css', type: CSS }),
    packageFile('/docs/swagger-ui-bundle.js', {
      packageName: 'swagger-ui-dist',
      name: 'swagger-ui-bundle.js',
      type: JAVASCRIPT,
    }),
  ];
}
