import type { EventTypes } from '../../schemas/types.gen.js';

/** Kinds of catalog rows. */
export type CatalogKind = 'catalog_event' | 'catalog_market' | 'catalog_series' | 'catalog_tag';

/** Current state of one catalog row. A source may repeat rows: the writer (see writer.ts) writes only changes. */
export type CatalogRow = { [K in CatalogKind]: { readonly kind: K; readonly value: EventTypes[K] } }[CatalogKind];

/** One update of a source. */
export type CatalogUpdate =
  | { readonly type: 'rows'; readonly rows: readonly CatalogRow[] }
  | { readonly type: 'connected'; readonly connected: boolean; readonly detail: string }
  /** All changes until then, Unix ms, are in the rows before this update or in the log: a restart continues from there. */
  | { readonly type: 'read_until'; readonly ms: number };

export interface CatalogSource {
  readonly mode: 'live' | 'recorded';
  /** Human-readable: the service, or the recording and its time shift. */
  readonly description: string;
  /** Whole days added to recorded times during the live tail; null for a live service. */
  readonly shiftDays: number | null;
  /** Start of the recorded day being played (its own time); null for a live service. */
  readonly recordedFromMs: number | null;
  /** Number of markets of the full load; null when unknown. */
  readonly totalMarkets: number | null;
  /** Full load of the current state. */
  load(signal: AbortSignal): AsyncIterable<CatalogUpdate>;
  /** Changes after the load, until the signal. */
  live(signal: AbortSignal): AsyncIterable<CatalogUpdate>;
  /**
   * Rows of the markets with these ids, open or closed, that the service has; at most `maxFindIds` ids. Rows come before the requests for
   * further ones: kept meanwhile, they would replace newer rows of `live`. Undefined for sources without lookups. Throws RetryableError,
   * GammaShapeError, or, where a repetition cannot help, GammaRejectedError.
   */
  find?(request: MarketRequest, signal: AbortSignal): AsyncIterable<readonly CatalogRow[]>;
}

/** Lookup of markets by condition ids, or by outcome tokens. */
export interface MarketRequest {
  readonly by: 'condition' | 'token';
  readonly ids: readonly string[];
  /** Resolution times of short-form windows among them, Unix ms; allow a lookup by slug. */
  readonly resolvedMs?: readonly number[];
}

/** Maximum number of ids per request: the longest URL has about 5 KB, below the limits of servers. */
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
