import type { UrlEntity } from './response.js';

const ESCAPES: Readonly<Record<string, string>> = { '&amp;': '&', '&lt;': '<', '&gt;': '>' };
const unescapeHtml = (text: string): string => text.replace(/&(?:amp|lt|gt);/g, (entity) => ESCAPES[entity] ?? entity);

/** Address that a short link leads to. */
export const targetOf = (url: UrlEntity): string => url.unwound_url ?? url.expanded_url ?? url.url;

/**
 * The text of a post as readers see it: short links replaced by their targets, links of attached media removed, HTML escapes resolved. Offsets of the
 * entities count code points of the text as sent; entities that do not lie on their link are ignored.
 */
export function readableText(text: string, urls: readonly UrlEntity[]): string {
  const characters = [...text];
  const pieces: string[] = [];
  let at = 0;
  for (const url of [...urls].sort((a, b) => a.start - b.start)) {
    if (url.start < at || characters.slice(url.start, url.end).join('') !== url.url) continue;
    pieces.push(unescapeHtml(characters.slice(at, url.start).join('')));
    if (url.media_key === undefined) pieces.push(targetOf(url));
    at = url.end;
  }
  pieces.push(unescapeHtml(characters.slice(at).join('')));
  return pieces.join('').trimEnd();
}

/** Characters that Markdown would read as formatting, with a backslash before each. */
const plainMarkdown = (text: string): string =>
  text
    .replace(/[\\`*_[\]<>]/g, '\\$&')
    .replace(/^(\s*)([#+-])(?=\s)/gm, '$1\\$2')
    .replace(/^(\s*\d+)([.)])(?=\s)/gm, '$1\\$2');

/** A long-form article as Markdown: title, cover, and a paragraph per line of the text. null without a text and title. */
export function articleMarkdown(article: {
  readonly title?: string | undefined;
  readonly text?: string | undefined;
  readonly coverUrl?: string | undefined;
}): string | null {
  const paragraphs = (article.text ?? '').split(/\n+/).filter((line) => line.trim() !== '');
  const title = article.title?.replace(/\s+/g, ' ').trim() ?? '';
  if (paragraphs.length === 0 && title === '') return null;
  return [
    ...(title === '' ? [] : [`# ${plainMarkdown(title)}`]),
    ...(article.coverUrl === undefined ? [] : [`![](<${article.coverUrl}>)`]),
    ...paragraphs.map(plainMarkdown),
  ].join('\n\n');
}
