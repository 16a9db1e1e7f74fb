import type { MarketLookup, MarketRow } from '../filters/market-lookup.js';
import type { BookStore } from './book-store.js';
import { type BookError, bookError } from './messages.js';

/** Entries, and tokens without a book, that a response names. */
const MAX_NAMED = 100;

export interface ResolvedMarkets {
  readonly firehose: boolean;
  /** In order of the request, without duplicates. */
  readonly tokenIds: readonly string[];
  readonly from: { readonly token_ids: number; readonly slugs: number; readonly condition_ids: number };
  /** Entries that neither the books nor the catalogue know, at most 100. */
  readonly unresolved: readonly string[];
  /** Those of the tokens whose books ingest does not read now, at most 100. */
  readonly withoutBook: readonly string[];
}

/** Tokens by id, in the tables. */
export interface TokenLookup {
  /** Those of the tokens that the catalogue knows. */
  knownTokens(tokenIds: readonly string[]): Promise<ReadonlySet<string>>;
}

const TOKEN_ID = /^\d{11,78}$/;
const CONDITION_ID = /^0x[0-9a-f]{1,64}$/i;

/**
 * The tokens of `*`, token ids (more than ten digits), condition ids (0x...) and slugs of markets or events. Rejects when the catalogue cannot be read;
 * it is not read for entries that the books know.
 */
export async function resolveMarkets(
  entries: readonly string[],
  deps: { store: BookStore; lookup: MarketLookup; tokens: TokenLookup },
): Promise<ResolvedMarkets> {
  const { store, lookup } = deps;
  const none = { token_ids: 0, slugs: 0, condition_ids: 0 };
  const distinct = [...new Set(entries)];
  if (distinct.includes('*')) {
    return { firehose: true, tokenIds: [], from: none, unresolved: [], withoutBook: [] };
  }
  const tokenEntries = distinct.filter((entry) => TOKEN_ID.test(entry));
  const conditions = distinct.filter((entry) => CONDITION_ID.test(entry));
  const known = new Set([...tokenEntries, ...conditions]);
  const slugs = distinct.filter((entry) => !known.has(entry));

  const found = new Map<string, readonly string[]>();
  for (const tokenId of tokenEntries) if (store.get(tokenId) !== undefined) found.set(tokenId, [tokenId]);
  for (const entry of conditions) {
    const tokenIds = store.tokensOfCondition(entry.toLowerCase());
    // A market has two outcomes; if one book is missing the catalogue names its token.
    if (tokenIds.length >= 2) found.set(entry, tokenIds);
  }
  const missingTokens = tokenEntries.filter((entry) => !found.has(entry));
  const missingConditions = conditions.filter((entry) => !found.has(entry));
  const [inCatalogue, byCondition, bySlug] = await Promise.all([
    missingTokens.length === 0 ? new Set<string>() : deps.tokens.knownTokens(missingTokens),
    missingConditions.length === 0 ? [] : lookup.byConditions(missingConditions.map((id) => id.toLowerCase())),
    slugs.length === 0 ? [] : lookup.bySlugs(slugs),
  ]);
  for (const tokenId of missingTokens) if (inCatalogue.has(tokenId)) found.set(tokenId, [tokenId]);
  const group = (rows: readonly MarketRow[]): ReadonlyMap<string, readonly string[]> => {
    const groups = new Map<string, string[]>();
    for (const { requested, token_id } of rows) {
      const group = groups.get(requested);
      if (group === undefined) groups.set(requested, [token_id]);
      else group.push(token_id);
    }
    return groups;
  };
  const conditionRows = group(byCondition);
  for (const entry of missingConditions) {
    const tokenIds = new Set([
      ...(conditionRows.get(entry.toLowerCase()) ?? []),
      ...store.tokensOfCondition(entry.toLowerCase()),
    ]);
    if (tokenIds.size > 0) found.set(entry, [...tokenIds]);
  }
  for (const [slug, tokenIds] of group(bySlug)) found.set(slug, tokenIds);

  const count = (list: readonly string[]) => list.filter((entry) => found.has(entry)).length;
  const tokenIds = [...new Set(distinct.flatMap((entry) => found.get(entry) ?? []))];
  const isWithoutBook = (tokenId: string): boolean => {
    const book = store.get(tokenId);
    return book === undefined || !book.hasBook || book.status.reason === 'not_followed';
  };
  return {
    firehose: false,
    tokenIds,
    from: { token_ids: count(tokenEntries), slugs: count(slugs), condition_ids: count(conditions) },
    unresolved: distinct.filter((entry) => !found.has(entry)).slice(0, MAX_NAMED),
    withoutBook: tokenIds.filter(isWithoutBook).slice(0, MAX_NAMED),
  };
}

/** The error of a request none of whose markets is known. */
export const unresolvedError = (entries: readonly string[]): BookError =>
  bookError('unresolved_markets', `None of the markets is known: ${entries.slice(0, 10).join(', ').slice(0, 500)}`);
