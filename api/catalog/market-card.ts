import { setTimeout as sleep } from 'node:timers/promises';
import type { ResponseCache } from '../cache/response-cache.js';
import type { Sql, Tables } from '../tables/port.js';
import { type MarketRow, marketBySlugSql, marketByTokenSql, marketsSql } from './markets.sql.js';

const FOUND_MS = 600_000;
const MISSING_MS = 60_000;
/** Longest wait of a page for its card. */
const MAX_WAIT_MS = 300;
const CONDITION = /^0x[0-9a-f]{64}$/i;
const TOKEN = /^\d{6,78}$/;
const SLUG = /^[\w.-]{1,200}$/;

/** Statement for a condition id, an outcome token or a slug; null for other texts. */
function statementOf(id: string): Sql | null {
  if (CONDITION.test(id)) return marketsSql([id.toLowerCase()]);
  if (TOKEN.test(id)) return marketByTokenSql(id);
  return SLUG.test(id) ? marketBySlugSql(id) : null;
}

/** What previews of links show of a market. */
export interface MarketCard {
  /** Its question. */
  readonly title: string;
  /** Address of its picture in the catalogue; null without one that is reachable by https. */
  readonly image: string | null;
}

const imageOf = (address: string | null): string | null =>
  address !== null && URL.canParse(address) && new URL(address).protocol === 'https:' ? address : null;

/** Card of a market by condition id, outcome token or slug; null if the catalogue does not list it or cannot be read quickly. Cached. */
export function createMarketCard(deps: {
  tables: Tables;
  cache: ResponseCache;
}): (id: string) => Promise<MarketCard | null> {
  return async (id) => {
    const statement = statementOf(id);
    if (statement === null) return null;
    const card = deps.cache
      .get(
        `market card ${id.toLowerCase()}`,
        (found) => (found === null ? MISSING_MS : FOUND_MS),
        async () => {
          const [market] = await deps.tables.rows<MarketRow>(statement);
          return market === undefined ? null : { title: market.question, image: imageOf(market.image) };
        },
      )
      .then(
        ({ value }) => value,
        // The page does not depend on its card.
        () => null,
      );
    return Promise.race([card, sleep(MAX_WAIT_MS, null)]);
  };
}
