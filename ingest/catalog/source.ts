import type { EventTypes } from '../../schemas/types.gen.js';

/** The kinds of catalogue rows. */
export type CatalogKind = 'catalog_event' | 'catalog_market' | 'catalog_series' | 'catalog_tag';

/** One row of the catalogue as it is now. A source may repeat itself: the writer (see writer.ts) writes only changes. */
export type CatalogRow = { [K in CatalogKind]: { readonly kind: K; readonly value: EventTypes[K] } }[CatalogKind];

/** What a source has to tell. */
export type CatalogUpdate =
  | { readonly type: 'rows'; readonly rows: readonly CatalogRow[] }
  | { readonly type: 'connected'; readonly connected: boolean; readonly detail: string };

export interface CatalogSource {
  readonly mode: 'live' | 'recorded';
  /** For people: which service, or which recording and how it is shifted. */
  readonly description: string;
  /** Whole days added to recorded times during the live tail; null for a live service. */
  readonly shiftDays: number | null;
  /** Start of the recorded day being played (its own time); null for a live service. */
  readonly recordedFromMs: number | null;
  /** How many markets the full load will bring; null when the service does not say. */
  readonly totalMarkets: number | null;
  /** Everything the source knows now, once. */
  load(signal: AbortSignal): AsyncIterable<CatalogUpdate>;
  /** What changes after the load, until the signal. */
  live(signal: AbortSignal): AsyncIterable<CatalogUpdate>;
  /**
   * The rows of the markets with these ids, closed or not, as far as the service has them; at most `findAtOnce` ids. Absent where the
   * service cannot be asked. Rejects with RetryableError, GammaShapeError, or GammaRefusedError where asking again cannot help.
   */
  find?(request: MarketRequest, signal: AbortSignal): Promise<readonly CatalogRow[]>;
}

/** Markets to ask for: by their conditions, or by one of their outcome tokens. */
export interface MarketRequest {
  readonly by: 'condition' | 'token';
  readonly ids: readonly string[];
  /** When short-form windows among them were resolved, Unix ms: another way to find them. */
  readonly resolvedMs?: readonly number[];
}

/** Ids in one question: the longest takes some 5 KB of address, below what servers refuse. */
export const maxFindIds = 50;

/** Record key: `event:<id>`, `market:<condition id>`, `series:<id>`, `tag:<id>`. */
export function rowKey(row: CatalogRow): string {
  switch (row.kind) {
    case 'catalog_event':
      return `event:${row.value.id}`;
    case 'catalog_market':
      return `market:${row.value.condition_id}`;
    case 'catalog_series':
      return `series:${row.value.id}`;
    case 'catalog_tag':
      return `tag:${row.value.id}`;
  }
}
