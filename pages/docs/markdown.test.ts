import { expect, it } from 'vitest';
import { renderMarkdown } from './markdown.js';

const asIs = (href: string) => href;

it('headings have anchors as on GitHub, repeated ones with a number', () => {
  const { html, sections } = renderMarkdown('# `wallet_tags` & more\n\n## Back up\n\n## Back up\n', asIs);
  expect(sections.map(({ id }) => id)).toEqual(['wallet_tags--more', 'back-up', 'back-up-1']);
  expect(html).toContain('<h1 id="wallet_tags--more"><code>wallet_tags</code> &amp; more</h1>');
});

it('sections contain the text up to the next heading without marks', () => {
  const { sections } = renderMarkdown('# One\n\nSome **bold** `code`\nand [a link](x.md).\n\n# Two\n\n- item\n', asIs);
  expect(sections.map(({ text }) => text.trim())).toEqual(['Some bold code and a link.', '- item']);
});

it('a link without an address becomes its text', () => {
  const { html } = renderMarkdown('[kept](a) [gone](b)', (href) => (href === 'a' ? '/x?"' : null));
  expect(html.trim()).toBe('<p><a href="/x?&#34;">kept</a> gone</p>');
});

it('images have the address that is given for them', () => {
  const { html } = renderMarkdown('![A "plot"](a/b.svg)', asIs, (href) => `/x/${href}`);
  expect(html.trim()).toBe('<p><img src="/x/a/b.svg" alt="A &#34;plot&#34;"></p>');
});

it('tables scroll', () => {
  expect(renderMarkdown('| a |\n|---|\n| 1 |\n', asIs).html).toMatch(
    /^<div class="scroll" tabindex="0"><table>[\s\S]*<\/table><\/div>\s*$/,
  );
});
