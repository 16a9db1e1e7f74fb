import { Marked, type Token, type Tokens } from 'marked';
import { escapeHtml } from '../layout.js';

/** A heading with the text below it up to the next heading. */
export interface Section {
  readonly id: string;
  readonly title: string;
  readonly text: string;
}

export interface RenderedMarkdown {
  readonly html: string;
  readonly sections: readonly Section[];
}

/**
 * GitHub-flavoured Markdown as HTML; headings have GitHub's anchors. `addressOf`: address of a link, or null to print only its text; `imageOf`: address
 * of an image. For documents of this project only: HTML in them is not escaped.
 */
export function renderMarkdown(
  source: string,
  addressOf: (href: string) => string | null,
  imageOf: (href: string) => string = (href) => href,
): RenderedMarkdown {
  const sections: Section[] = [];
  let nextHeading = 0;
  const marked = new Marked({
    gfm: true,
    renderer: {
      heading({ tokens, depth }) {
        const id = escapeHtml(sections[nextHeading++]?.id ?? '');
        return `<h${depth} id="${id}">${this.parser.parseInline(tokens)}</h${depth}>\n`;
      },
      link({ href, tokens }) {
        const address = addressOf(href);
        const label = this.parser.parseInline(tokens);
        return address === null ? label : `<a href="${escapeHtml(address)}">${label}</a>`;
      },
      image({ href, text }) {
        return `<img src="${escapeHtml(imageOf(href))}" alt="${escapeHtml(text)}">`;
      },
    },
  });
  const tokens = marked.lexer(source);
  sections.push(...sectionsOf(tokens));
  const html = marked
    .parser(tokens)
    .replaceAll('<table>', '<div class="scroll" tabindex="0"><table>')
    .replaceAll('</table>', '</table></div>')
    // What scrolls must be reachable by keyboard.
    .replaceAll('<pre>', '<pre tabindex="0">')
    .replaceAll('<th></th>', '<td></td>');
  return { html, sections };
}

const plainText = (inline: string): string => inline.replace(/\[([^\]]*)\]\([^)]*\)/g, '$1').replace(/`|\*\*/g, '');

function sectionsOf(tokens: readonly Token[]): Section[] {
  const sections: { id: string; title: string; text: string }[] = [];
  const used = new Map<string, number>();
  for (const token of tokens) {
    if (token.type === 'heading') {
      const title = plainText((token as Tokens.Heading).text);
      const anchor = title
        .toLowerCase()
        .replace(/[^\p{L}\p{N} _-]/gu, '')
        .replaceAll(' ', '-');
      const repeats = used.get(anchor) ?? 0;
      used.set(anchor, repeats + 1);
      sections.push({ id: repeats === 0 ? anchor : `${anchor}-${repeats}`, title, text: '' });
    } else if (token.type !== 'html' && token.type !== 'space') {
      const section = sections.at(-1);
      if (section !== undefined) section.text += `${plainText(token.raw).replace(/\s+/g, ' ').trim()} `;
    }
  }
  return sections;
}
