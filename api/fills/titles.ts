import { createHeldLookup, type Lookup } from '../catalogue/held-lookup.js';
import type { Tables } from '../tables/port.js';
import { type TokenRow, type TradedMarketRow, tokenRowsSql, tradedMarketsSql } from './titles.sql.js';

/** What the catalogue knows of a token; every field null where it knows nothing. */
export interface TokenTitle {
  readonly market: string | null;
  readonly slug: string | null;
  readonly outcome: string | null;
  readonly outcomeIndex: number | null;
  readonly image: string | null;
  readonly icon: string | null;
  readonly conditionId: string | null;
  readonly eventSlug: string | null;
  readonly eventTitle: string | null;
  readonly eventId: number | null;
}

export const untitled: TokenTitle = {
  market: null,
  slug: null,
  outcome: null,
  outcomeIndex: null,
  image: null,
  icon: null,
  conditionId: null,
  eventSlug: null,
  eventTitle: null,
  eventId: null,
};

const INTEGER = /^\d{1,15}$/;

/** Titles of the given tokens, from the catalogue as it is now. Unknown tokens are absent. */
async function readTitles(tables: Tables, tokenIds: readonly string[]): Promise<Map<string, TokenTitle>> {
  const tokens = await tables.rows<TokenRow>(tokenRowsSql(tokenIds));
  const conditions = [...new Set(tokens.map((row) => row.condition_id))];
  const rows = conditions.length === 0 ? [] : await tables.rows<TradedMarketRow>(tradedMarketsSql(conditions));
  const markets = new Map(rows.map((row) => [row.condition_id, row]));
  return new Map(
    tokens.map((token): [string, TokenTitle] => {
      const market = markets.get(token.condition_id);
      const eventId = market?.event_id ?? null;
      return [
        token.token,
        {
          market: market?.question ?? null,
          slug: market?.slug ?? null,
          outcome: token.outcome,
          outcomeIndex: Number(token.outcome_index),
          image: market?.image ?? null,
          icon: market?.icon ?? null,
          conditionId: token.condition_id,
          eventSlug: market?.event_slug ?? null,
          eventTitle: market?.event_title ?? null,
          eventId: eventId !== null && INTEGER.test(eventId) ? Number(eventId) : null,
        },
      ];
    }),
  );
}

/** Titles by token; every token asked for is there, `untitled` where the catalogue knows nothing. */
export type TitleLookup = Lookup<TokenTitle>;

/** Titles from the catalogue, each at most 30 s old. */
export const createTitleLookup = (deps: { tables: Tables; nowMs: () => number }): TitleLookup =>
  createHeldLookup({ read: (ids) => readTitles(deps.tables, ids), unknown: untitled, nowMs: deps.nowMs });
