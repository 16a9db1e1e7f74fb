import { createTokenBucket } from '../../shared/token-bucket.js';
import { decodeMarket } from '../decode.js';
import { FieldError, isObject, type JsonObject, optionalText } from '../fields.js';
import { type CatalogRow, type MarketRequest, maxFindIds } from '../source.js';
import { upDownSlugsAround } from '../up-down.js';
import type { GammaClient, Query } from './client.js';
import { GammaShapeError } from './pages.js';

/** Rate limit of lookups per second: a sixth of the service's limit for /markets, because other catalog requests run concurrently. */
const FIND_PER_SECOND = 5;
/** Typical delay between the end of a window and its resolution. Delays differ by a minute or two, so adjacent windows are requested too. */
const RESOLUTION_DELAY_MS = 60_000;
/** Pages smaller than the requested limit have a multiple of this many rows. */
const PAGE_STEP = 5;

export interface MarketFinderDeps {
  readonly client: GammaClient;
  /** Decodes event objects as the other loads do. */
  readonly decodeEvents: (raws: readonly unknown[]) => CatalogRow[];
  readonly reject: (reason: string, raw: unknown) => void;
  readonly perSecond?: number;
}

/**
 * Finds markets by condition or token id, with their events. A list contains either closed or open rows, so both are requested, closed rows
 * first because the other loads omit them. Events are requested too: only they have the tags, the series and all markets of the event.
 * Short-form windows, which the service may omit from its list of markets, are found by the slugs of the windows that ended at their
 * resolution time.
 */
export function createMarketFinder(deps: MarketFinderDeps) {
  const { client, decodeEvents, reject, perSecond = FIND_PER_SECOND } = deps;
  const bucket = createTokenBucket({ perSecond, burst: 1 });

  /** Objects of the list that contain one of the ids: closed objects first, then open objects for the remaining ids. */
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
        if (!Array.isArray(rows)) throw new GammaShapeError(`${lookup.path}: the response is not a list`);
        const before = remaining.size;
        for (const row of rows) {
          if (!isObject(row)) continue;
          const matched = lookup.idsOf(row).filter((id) => remaining.delete(id));
          if (matched.length > 0) found.push(row);
        }
        // The page may have been cut below the requested limit, so the remaining ids are requested again.
        more = remaining.size < before && rows.length < before && rows.length % PAGE_STEP === 0;
      }
    }
    return found;
  };

  /** Rows of the short-form windows around these end times; stops when all conditions are found. */
  async function* windows(
    conditions: ReadonlySet<string>,
    resolvedMs: readonly number[],
    signal: AbortSignal,
  ): AsyncGenerator<CatalogRow[]> {
    const slugs = [...new Set(resolvedMs.flatMap((ms) => upDownSlugsAround(ms - RESOLUTION_DELAY_MS)))];
    const remaining = new Set(conditions);
    for (let from = 0; from < slugs.length && remaining.size > 0; from += maxFindIds) {
      const requested = slugs.slice(from, from + maxFindIds);
      const idsOf = (row: JsonObject) => [optionalText(row.slug) ?? ''];
      const events = await collect({ path: '/events', name: 'slug', ids: requested, idsOf, closedOnly: true }, signal);
      const rows = decodeEvents(events);
      yield rows;
      for (const row of rows) if (row.kind === 'catalog_market') remaining.delete(row.value.condition_id);
    }
  }

  return async function* find(
    { by, ids, resolvedMs = [] }: MarketRequest,
    signal: AbortSignal,
  ): AsyncGenerator<CatalogRow[]> {
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
    yield rows;
    const given = new Set(markets.map(conditionOf));
    const remaining = new Set(ids.filter((id) => !given.has(id)));
    if (by === 'token' || resolvedMs.length === 0 || remaining.size === 0) return;
    yield* windows(remaining, resolvedMs, signal);
  };
}

function conditionOf(market: JsonObject): string {
  return (optionalText(market.conditionId) ?? '').toLowerCase();
}

/** Token ids of a market object (a JSON text or a list); empty when unreadable. */
function tokensOf(market: JsonObject): string[] {
  try {
    const list: unknown =
      typeof market.clobTokenIds === 'string' ? JSON.parse(market.clobTokenIds) : market.clobTokenIds;
    return Array.isArray(list) ? list.map(String) : [];
  } catch {
    return [];
  }
}

/** Event named by a market object, with the fields that the object contains; null when unreadable. */
function eventOf(market: JsonObject): { id: string; slug: string; title: string; tag_slugs: string[] } | null {
  const [first] = Array.isArray(market.events) ? market.events : [];
  if (!isObject(first)) return null;
  const id = optionalText(first.id);
  const slug = optionalText(first.slug);
  if (id === null || slug === null) return null;
  return { id, slug, title: optionalText(first.title) ?? '', tag_slugs: [] };
}
