import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

const root = join(import.meta.dirname, '../..');

/** A fenced block of a document. */
export interface CodeBlock {
  /** Path of the document from the project's root. */
  readonly document: string;
  readonly line: number;
  /** First word after the fence; '' without one. */
  readonly language: string;
  readonly code: string;
}

/** All documents of the project, as paths from its root. */
export const documents: readonly string[] = [
  ...['README.md', 'ARCHITECTURE.md', 'CONTRIBUTING.md', 'CHANGELOG.md', 'tests/recorded/README.md'],
  ...['docs', 'docs/decisions'].flatMap((folder) =>
    readdirSync(join(root, folder))
      .filter((name) => name.endsWith('.md'))
      .map((name) => `${folder}/${name}`),
  ),
];

export const readDocument = (document: string): string => readFileSync(join(root, document), 'utf8');

/** Fenced blocks of all documents; indentation of a block in a list is removed. */
export function codeBlocks(): readonly CodeBlock[] {
  return documents.flatMap((document) => {
    const text = readDocument(document);
    return [...text.matchAll(/^( *)```(\w*)\n(.*?)^ *```$/gms)].map((match) => {
      const [, indent = '', language = '', code = ''] = match;
      return {
        document,
        line: text.slice(0, match.index).split('\n').length,
        language,
        code: code.replaceAll(new RegExp(`^${indent}`, 'gm'), ''),
      };
    });
  });
}

/** Commands of a shell block: lines joined at backslashes, without comments. */
export const commandsOf = (code: string): readonly string[] =>
  code
    .replaceAll('\\\n', '')
    .split('\n')
    .map((line) => line.replace(/(^|\s)#\s.*$/, '').trim())
    .filter((line) => line !== '');
