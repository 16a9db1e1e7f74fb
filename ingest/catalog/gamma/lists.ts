import { decodeSeries, decodeTag } from '../decode.js';
import { FieldError, isObject } from '../fields.js';
import type { CatalogRow, CatalogUpdate } from '../source.js';
import type { GammaClient } from './client.js';
import { offsetPages } from './pages.js';

const MAX_PAGES = 1000;

const lists = [
  { what: 'series', path: '/series', query: [['exclude_events', 'true']], limit: 50 },
  { what: 'tag', path: '/tags', query: [], limit: 100 },
] as const;

/** List of series or of tags. */
export type List = (typeof lists)[number];

export interface ListReader {
  readonly lists: readonly List[];
  /** Rows of a list, page by page. Throws as the client and `offsetPages` do. */
  rows(list: List, signal: AbortSignal): AsyncIterable<CatalogUpdate>;
  /** Whether the row was in its list. The lists have more fields than the copies inside events, so these copies are not written. */
  has(row: CatalogRow): boolean;
}

/** Reads the lists of series and tags; `reject` receives rows that cannot be decoded. */
export function createListReader(deps: {
  client: GammaClient;
  reject: (reason: string, raw: unknown) => void;
}): ListReader {
  const listed = new Set<string>();
  const keyOf = (row: CatalogRow) => `${row.kind} ${row.value.id}`;

  const decode = (raw: unknown, what: List['what']): CatalogRow[] => {
    try {
      if (!isObject(raw)) throw new FieldError('not an object');
      const row: CatalogRow =
        what === 'series'
          ? { kind: 'catalog_series', value: decodeSeries(raw) }
          : { kind: 'catalog_tag', value: decodeTag(raw) };
      listed.add(keyOf(row));
      return [row];
    } catch (error) {
      if (!(error instanceof FieldError)) throw error;
      deps.reject(`${what}: ${error.message}`, raw);
      return [];
    }
  };

  return {
    lists,
    async *rows({ what, path, query, limit }, signal) {
      for await (const page of offsetPages(deps.client, { path, query, limit, maxPages: MAX_PAGES, signal }))
        yield { type: 'rows', rows: page.flatMap((raw) => decode(raw, what)) };
    },
    has: (row) => listed.has(keyOf(row)),
  };
}
