import { setTimeout as sleep } from 'node:timers/promises';
import type { TtlCache } from '../cache/ttl-cache.js';
import type { Sql, Tables } from '../tables/port.js';
import { type MarketRow, marketBySlugSql, marketByTokenSql, marketsSql } from './markets.sql.js';

const FOUND_MS = 600_000;
const MISSING_MS = 60_000;
/** Longest wait of a page for its title. */
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

/** Question of a market by condition id, outcome token or slug; null if the catalogue does not list it or cannot be read quickly. Cached. */
export function createMarketTitle(deps: { tables: Tables; cache: TtlCache }): (id: string) => Promise<string | null> {
  return async (id) => {
    const statement = statementOf(id);
    if (statement === null) return null;
    const title = deps.cache
      .get(
        `market title ${id.toLowerCase()}`,
        (found) => (found === null ? MISSING_MS : FOUND_MS),
        async () => (await deps.tables.rows<MarketRow>(statement))[0]?.question ?? null,
      )
      .then(
        ({ value }) => value,
        // The page does not depend on its title.
        () => null,
      );
    return Promise.race([title, sleep(MAX_WAIT_MS, null)]);
  };
}
