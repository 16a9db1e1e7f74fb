import { setTimeout as sleep } from 'node:timers/promises';
import type { ResponseCache } from '../cache/response-cache.js';
import type { Tables } from '../tables/port.js';
import { conditionIdOfSlug } from './conditions.js';
import type { MetadataLookups } from './metadata.js';

const FOUND_MS = 600_000;
const MISSING_MS = 60_000;
/** Longest wait of a page for its card. */
const MAX_WAIT_MS = 300;
const CONDITION = /^0x[0-9a-f]{64}$/i;
const TOKEN = /^\d{6,78}$/;
const SLUG = /^[\w.-]{1,200}$/;

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
  metadata: Pick<MetadataLookups, 'tokensOf' | 'marketsOf'>;
}): (id: string) => Promise<MarketCard | null> {
  const conditionIdOf = async (id: string): Promise<string | undefined> => {
    if (CONDITION.test(id)) return id;
    if (TOKEN.test(id)) return (await deps.metadata.tokensOf([id])).get(id)?.conditionId;
    return conditionIdOfSlug(deps.tables, id);
  };
  return async (given) => {
    if (!SLUG.test(given)) return null;
    // Slugs differ by letter case.
    const id = CONDITION.test(given) ? given.toLowerCase() : given;
    const card = deps.cache
      .get(
        `market card ${id}`,
        (found) => (found === null ? MISSING_MS : FOUND_MS),
        async () => {
          const conditionId = (await conditionIdOf(id)) ?? '';
          const market = (await deps.metadata.marketsOf([conditionId])).get(conditionId) ?? null;
          return market === null ? null : { title: market.question, image: imageOf(market.image) };
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
