import { decodeMarket } from '../decode.js';
import { FieldError, isObject, type JsonObject, optionalText } from '../fields.js';
import { type CatalogRow, type MarketRequest, maxFindIds } from '../source.js';
import { upDownSlugsAround } from '../up-down.js';
import type { GammaClient, Query } from './client.js';
import { GammaShapeError } from './pages.js';
import { createTokenBucket } from './token-bucket.js';

/** Requests a second at most, a sixth of what the service allows for /markets: the other requests of the catalogue go on beside these. */
const FIND_PER_SECOND = 5;
/** The time between a window's end and its resolution is below a minute or two; the windows before and after are asked for too. */
const RESOLUTION_DELAY_MS = 60_000;
/** A service that gives smaller pages than asked for cuts them to a multiple of this. */
const PAGE_STEP = 5;

export interface MarketFinderDeps {
  readonly client: GammaClient;
  /** Rows of event objects as the other loads make them. */
  readonly decodeEvents: (raws: readonly unknown[]) => CatalogRow[];
  readonly reject: (reason: string, raw: unknown) => void;
  readonly perSecond?: number;
}

/**
 * Markets by condition or token id, with their events. A list holds either closed or open rows, so both are asked for, closed ones first: those
 * are what the other loads leave out. The events are asked for too, as only they have the tags, the series and all markets of an event. Short-form
 * windows, which the service may leave out of its list of markets, are found by the slugs of the windows that ended when they were resolved.
 */
export function createMarketFinder(deps: MarketFinderDeps) {
  const { client, decodeEvents, reject, perSecond = FIND_PER_SECOND } = deps;
  const bucket = createTokenBucket({ perSecond, burst: 1 });

  /** Objects of the list that hold one of the ids; asks for closed ones, then for what is left among the open ones. */
  const collect = async (
    lookup: {
      path: string;
      name: string;
      ids: readonly string[];
      idsOf: (row: JsonObject) => readonly string[];
      closedOnly?: boolean;
    },
    signal: AbortSignal,
  ): Promise<JsonObject[]> => {
    const found: JsonObject[] = [];
    const remaining = new Set(lookup.ids);
    for (const closed of lookup.closedOnly === true ? ['true'] : ['true', 'false']) {
      for (let more = true; more && remaining.size > 0; ) {
        await bucket.take(signal);
        signal.throwIfAborted();
        const query: Query = [
          ...[...remaining].map((id) => [lookup.name, id] as const),
          ['closed', closed],
          ['limit', String(remaining.size)],
        ];
        const rows = await client.get(lookup.path, query, signal);
        if (!Array.isArray(rows)) throw new GammaShapeError(`${lookup.path}: the answer is not a list`);
        const before = remaining.size;
        for (const row of rows) {
          if (!isObject(row)) continue;
          const matched = lookup.idsOf(row).filter((id) => remaining.delete(id));
          if (matched.length > 0) found.push(row);
        }
        // Fewer than asked for, but as many as a page may be cut to: the others may be there.
        more = remaining.size < before && rows.length < before && rows.length % PAGE_STEP === 0;
      }
    }
    return found;
  };

  /** Rows of the short-form windows around these ends, until all of the conditions are among them. */
  const windows = async (
    conditions: ReadonlySet<string>,
    resolvedMs: readonly number[],
    signal: AbortSignal,
  ): Promise<CatalogRow[]> => {
    const slugs = [...new Set(resolvedMs.flatMap((ms) => upDownSlugsAround(ms - RESOLUTION_DELAY_MS)))];
    const remaining = new Set(conditions);
    const rows: CatalogRow[] = [];
    for (let from = 0; from < slugs.length && remaining.size > 0; from += maxFindIds) {
      const requested = slugs.slice(from, from + maxFindIds);
      const idsOf = (row: JsonObject) => [optionalText(row.slug) ?? ''];
      const events = await collect({ path: '/events', name: 'slug', ids: requested, idsOf, closedOnly: true }, signal);
      rows.push(...decodeEvents(events));
      for (const row of rows) if (row.kind === 'catalog_market') remaining.delete(row.value.condition_id);
    }
    return rows;
  };

  return async ({ by, ids, resolvedMs = [] }: MarketRequest, signal: AbortSignal): Promise<CatalogRow[]> => {
    const markets = await collect(
      {
        path: '/markets',
        name: by === 'condition' ? 'condition_ids' : 'clob_token_ids',
        ids,
        idsOf: by === 'condition' ? (row) => [conditionOf(row)] : tokensOf,
      },
      signal,
    );
    const events = await collect(
      {
        path: '/events',
        name: 'id',
        ids: [...new Set(markets.flatMap((market) => eventOf(market)?.id ?? []))],
        idsOf: (row) => [optionalText(row.id) ?? ''],
      },
      signal,
    );
    const rows = decodeEvents(events);
    const named = new Set(rows.flatMap((row) => (row.kind === 'catalog_market' ? row.value.condition_id : [])));
    for (const market of markets) {
      if (named.has(conditionOf(market))) continue;
      try {
        rows.push({ kind: 'catalog_market', value: decodeMarket(market, eventOf(market)) });
      } catch (error) {
        if (!(error instanceof FieldError)) throw error;
        reject(`market: ${error.message}`, market);
      }
    }
    const given = new Set(markets.map(conditionOf));
    const remaining = new Set(ids.filter((id) => !given.has(id)));
    if (by === 'token' || resolvedMs.length === 0 || remaining.size === 0) return rows;
    return [...rows, ...(await windows(remaining, resolvedMs, signal))];
  };
}

function conditionOf(market: JsonObject): string {
  return (optionalText(market.conditionId) ?? '').toLowerCase();
}

/** The token ids of a market object, whose list is a text that holds JSON; none when it cannot be read. */
function tokensOf(market: JsonObject): string[] {
  try {
    const list: unknown =
      typeof market.clobTokenIds === 'string' ? JSON.parse(market.clobTokenIds) : market.clobTokenIds;
    return Array.isArray(list) ? list.map(String) : [];
  } catch {
    return [];
  }
}

/** The event a market object names, with as much as it says about it. */
function eventOf(market: JsonObject): { id: string; slug: string; title: string; tag_slugs: string[] } | null {
  const [first] = Array.isArray(market.events) ? market.events : [];
  if (!isObject(first)) return null;
  const id = optionalText(first.id);
  const slug = optionalText(first.slug);
  if (id === null || slug === null) return null;
  return { id, slug, title: optionalText(first.title) ?? '', tag_slugs: [] };
}
