import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

/** A document of the folder `docs/`, shown at `/docs/<slug>` and as Markdown at `/docs/<slug>.md`. */
export interface Guide {
  readonly slug: string;
  readonly file: string;
  readonly title: string;
  /** One sentence for lists. */
  readonly summary: string;
  readonly group: 'Use' | 'Operate' | 'Develop';
}

export const guides: readonly Guide[] = [
  {
    slug: 'socket',
    file: 'SOCKET.md',
    title: 'Event socket',
    summary: 'Subscribe to events over WebSocket: filters, snapshot, resume, errors, clients in JavaScript and Python.',
    group: 'Use',
  },
  {
    slug: 'order-book',
    file: 'ORDER_BOOK.md',
    title: 'Order-book socket',
    summary: 'Live order books, each compared with the hash of the venue.',
    group: 'Use',
  },
  {
    slug: 'sql',
    file: 'SQL.md',
    title: 'SQL',
    summary: 'Connect to ClickHouse; every view and column, with example queries.',
    group: 'Use',
  },
  {
    slug: 'event-semantics',
    file: 'EVENT_SEMANTICS.md',
    title: 'Event semantics',
    summary: 'What events and numbers mean: sides, times, rounding, prices, profit.',
    group: 'Use',
  },
  {
    slug: 'limits',
    file: 'LIMITS.md',
    title: 'Limits',
    summary: 'Rates, sizes and allowances of each plan.',
    group: 'Use',
  },
  { slug: 'glossary', file: 'GLOSSARY.md', title: 'Glossary', summary: 'One meaning for each term.', group: 'Use' },
  {
    slug: 'operations',
    file: 'OPERATIONS.md',
    title: 'Operations',
    summary: 'Install, monitor, back up, upgrade, scale and repair on servers.',
    group: 'Operate',
  },
  {
    slug: 'reliability',
    file: 'RELIABILITY.md',
    title: 'Reliability',
    summary: 'What an hour of load with a killed process every minute loses: nothing; recovery times, memory and disk.',
    group: 'Operate',
  },
  {
    slug: 'benchmarks',
    file: 'BENCHMARKS.md',
    title: 'Benchmarks',
    summary:
      'Every figure with its spread, against a baseline of the same run; cost per million events; how to repeat it.',
    group: 'Operate',
  },
  {
    slug: 'scaling',
    file: 'SCALING.md',
    title: 'Scaling',
    summary:
      'Cost per event of each process, what is partitioned and what is a single point, capacity up to 10,000 times the venue.',
    group: 'Operate',
  },
  {
    slug: 'configuration',
    file: 'CONFIGURATION.md',
    title: 'Configuration',
    summary: 'Every environment variable with its default.',
    group: 'Operate',
  },
  {
    slug: 'security',
    file: 'SECURITY.md',
    title: 'Security',
    summary: 'Who may reach which port and route; how to report a vulnerability.',
    group: 'Operate',
  },
  {
    slug: 'add-a-source',
    file: 'ADD_A_SOURCE.md',
    title: 'Add a source',
    summary: 'Append external data to a new topic, in five steps.',
    group: 'Develop',
  },
  {
    slug: 'add-an-endpoint',
    file: 'ADD_AN_ENDPOINT.md',
    title: 'Add an endpoint',
    summary: 'Declare a route with its schemas, statement and serializer.',
    group: 'Develop',
  },
];

/** A file of `docs/`. The folder is beside `pages/` in the sources, and one level further up from the compiled code. */
function readDocument(file: string): string {
  const folder = ['../../docs', '../../../docs']
    .map((path) => join(import.meta.dirname, path))
    .find((path) => existsSync(join(path, file)));
  if (folder === undefined) throw new Error(`docs/${file} is missing`);
  return readFileSync(join(folder, file), 'utf8');
}

/** Markdown of a guide. */
export const readGuide = (guide: Guide): string => readDocument(guide.file);

/** An SVG picture of a guide as a data URL, so that its page needs no further route. */
export function guideImage(href: string): string {
  if (!/^[a-z-]+\/[a-z-]+\.svg$/.test(href))
    throw new Error(`${href}: pictures of guides are SVG files in a folder of docs/`);
  return `data:image/svg+xml;base64,${Buffer.from(readDocument(href)).toString('base64')}`;
}

/** Address of what a link of a guide refers to: other guides at their page, `#sections` as they are, anything else outside the pages is null. */
export function guideAddress(href: string): string | null {
  if (href.startsWith('#') || /^https?:\/\//.test(href) || href.startsWith('/')) return href;
  const [path = '', anchor] = href.split('#');
  const guide = guides.find(({ file }) => path === file || path === `docs/${file}`);
  if (guide === undefined) return null;
  return `/docs/${guide.slug}${anchor === undefined ? '' : `#${anchor}`}`;
}
