import type { AnyEvent } from '../../schemas/codec.js';
import { oldestTenth } from '../../schemas/primitives/oldest.js';
import type { CatalogMarket } from '../../schemas/types.gen.js';

/** The fields of a market that frames are enriched with. */
export interface MarketMetadata {
  readonly conditionId: string;
  readonly title: string;
  readonly slug: string;
  readonly image: string | null;
  readonly eventTitle: string | null;
  readonly eventSlug: string | null;
  readonly groupItemTitle: string | null;
  readonly outcomes: readonly string[];
  readonly tokenIds: readonly string[];
  readonly negRisk: boolean;
  readonly tickSize: number | null;
  readonly takerBaseFee: number | null;
  readonly closed: boolean;
  readonly questionIds: readonly string[];
  readonly group: { readonly marketId: string; readonly index: number } | null;
}

/** In-memory index of the catalogue. */
export interface CatalogModel {
  /** Applies one record of the catalogue. Ignores kinds other than markets: markets repeat their fields. */
  apply(event: AnyEvent): void;
  marketOfToken(tokenId: string): MarketMetadata | undefined;
  marketOfCondition(conditionId: string): MarketMetadata | undefined;
  marketOfQuestion(questionId: string): MarketMetadata | undefined;
  negRiskGroup(marketId: string): ReadonlyMap<number, MarketMetadata> | undefined;
  readonly size: number;
}

const DEFAULT_MAX_MARKETS = 300_000;

/** String interning: markets of one event have equal titles and slugs, so one copy is stored. Cleared at `limit` strings. */
function createIntern(limit: number) {
  const known = new Map<string, string>();
  return (text: string | null): string | null => {
    if (text === null) return null;
    const found = known.get(text);
    if (found !== undefined) return found;
    if (known.size >= limit) known.clear();
    known.set(text, text);
    return text;
  };
}

/** A neg-risk question id is the group's id with the question's index in its last byte. */
function groupOf(market: CatalogMarket): MarketMetadata['group'] {
  if (market.neg_risk_market_id === null || market.question_id === null) return null;
  const index = Number.parseInt(market.question_id.slice(-2), 16);
  const sameGroup = market.question_id.slice(0, -2) === market.neg_risk_market_id.slice(0, -2);
  return Number.isNaN(index) || !sameGroup ? null : { marketId: market.neg_risk_market_id, index };
}

/**
 * Creates an index of the catalogue's fields for enrichment. Above `maxMarkets` it evicts a tenth of them: the closed markets whose last change is
 * oldest; if no market is closed, open ones.
 */
export function createCatalogModel(options: { maxMarkets?: number } = {}): CatalogModel {
  const maxMarkets = options.maxMarkets ?? DEFAULT_MAX_MARKETS;
  const intern = createIntern(maxMarkets);
  const open = new Map<string, MarketMetadata>();
  const closed = new Map<string, MarketMetadata>();
  const byToken = new Map<string, MarketMetadata>();
  const byQuestion = new Map<string, MarketMetadata>();
  const groups = new Map<string, Map<number, MarketMetadata>>();

  const remove = (market: MarketMetadata) => {
    open.delete(market.conditionId);
    closed.delete(market.conditionId);
    for (const tokenId of market.tokenIds) if (byToken.get(tokenId) === market) byToken.delete(tokenId);
    for (const id of market.questionIds) if (byQuestion.get(id) === market) byQuestion.delete(id);
    if (market.group === null) return;
    const group = groups.get(market.group.marketId);
    if (group?.get(market.group.index) === market) group.delete(market.group.index);
    if (group?.size === 0) groups.delete(market.group.marketId);
  };

  const add = (market: MarketMetadata) => {
    (market.closed ? closed : open).set(market.conditionId, market);
    for (const tokenId of market.tokenIds) byToken.set(tokenId, market);
    for (const id of market.questionIds) byQuestion.set(id, market);
    if (market.group === null) return;
    const group = groups.get(market.group.marketId) ?? new Map<number, MarketMetadata>();
    group.set(market.group.index, market);
    groups.set(market.group.marketId, group);
  };

  const metadataOf = (market: CatalogMarket): MarketMetadata => ({
    conditionId: market.condition_id,
    title: market.question,
    slug: market.slug,
    image: intern(market.image),
    eventTitle: intern(market.event_title),
    eventSlug: intern(market.event_slug),
    groupItemTitle: market.group_item_title,
    outcomes: market.outcomes.map((outcome) => intern(outcome) as string),
    tokenIds: market.token_ids,
    negRisk: market.neg_risk,
    tickSize: market.tick_size,
    takerBaseFee: market.taker_base_fee,
    closed: market.closed,
    questionIds: [market.question_id, market.neg_risk_request_id].filter((id) => id !== null),
    group: groupOf(market),
  });

  return {
    apply(event) {
      if (event.kind !== 'catalog_market') return;
      const before = open.get(event.value.condition_id) ?? closed.get(event.value.condition_id);
      if (before !== undefined) remove(before);
      add(metadataOf(event.value));
      const evictable = closed.size > 0 ? closed : open;
      const all = { size: open.size + closed.size, keys: () => evictable.values() };
      for (const oldest of oldestTenth(all, maxMarkets)) remove(oldest);
    },
    marketOfToken: (tokenId) => byToken.get(tokenId),
    marketOfCondition: (conditionId) => open.get(conditionId) ?? closed.get(conditionId),
    marketOfQuestion: (questionId) => byQuestion.get(questionId),
    negRiskGroup: (marketId) => groups.get(marketId),
    get size() {
      return open.size + closed.size;
    },
  };
}
