import { MAX_LISTED_TOKENS } from '../../schemas/primitives/tags.sql.js';
import { marketBySlugSql, type SluggedMarketRow } from '../catalog/markets.sql.js';
import type { TaggedTokens } from '../catalog/tagged-tokens.js';
import { badParameter } from '../errors/failure.js';
import type { Tables } from '../tables/port.js';
import { boolFrom } from '../tables/values.js';
import {
  type FillGroupRow,
  type FillRow,
  fillsByOrderSql,
  fillsSql,
  type Grouping,
  groupsSql,
  newestFillSql,
  residualFilterOf,
  WINDOWS,
  windowSql,
} from './fills.sql.js';
import { type FillFilter, matchesNothing, type Page, recentFillsFilter } from './filter.js';
import { type LogPosition, type LogPositionRow, logPositionOf } from './log-position.js';
import { type RowPage, toPage } from './read-page.js';
import { type TokenChoice, type TokenSelection, tagListsOf, tokenQuery, tokensSql } from './tokens.sql.js';
import { createIsWide } from './wide-tags.js';

export type FillReader = ReturnType<typeof createFillReader>;

/** Rows that are read to find a page of a tag among them; a page further behind is left to a statement. */
const MAX_NEXT_ROWS = 4_000;

/** Reads pages of the fills tables. */
export function createFillReader(deps: { tables: Tables; taggedTokens: TaggedTokens; nowMs: () => number }) {
  const { tables } = deps;
  const isWide = createIsWide(tables);

  /** Position of the newest fill that matches a filter. */
  const newest = async (filter: FillFilter): Promise<LogPosition | null> => {
    if (matchesNothing(filter)) return null;
    const [row] = await tables.rows<LogPositionRow>(newestFillSql(filter));
    return row === undefined ? null : logPositionOf(row);
  };

  /** The page and one row more, if it lies among the next `reach` rows of the filter without its tags: true of tags with most of the fills. Otherwise null. */
  const readTagged = async (
    filter: FillFilter,
    page: Page,
    lists: readonly (readonly string[])[],
    reach: number,
  ): Promise<readonly FillRow[] | null> => {
    const next = await tables.rows<FillRow>(
      fillsSql({ ...filter, among: null }, { ...page, offset: 0, limit: reach - 1 }),
    );
    const tagged = await deps.taggedTokens(
      next.map((row) => row.token_id),
      lists,
    );
    const found = next.filter((row) => tagged.has(row.token_id)).slice(page.offset, page.offset + page.limit + 1);
    return found.length > page.limit || next.length < reach ? found : null;
  };
  /** A page and one row more. */
  const read = async (filter: FillFilter, page: Page): Promise<readonly FillRow[]> => {
    for (const size of WINDOWS) {
      const window = windowSql(filter, page, size);
      if (window === null) break;
      const reach = size * (page.limit + 1 + page.offset);
      const lists = reach <= MAX_NEXT_ROWS ? (filter.among?.tagLists ?? null) : null;
      if (lists === null) {
        const found = await tables.rows<FillRow>(window);
        if (found.length > page.limit) return found;
      } else {
        const found = await readTagged(filter, page, lists, reach);
        if (found !== null) return found;
      }
    }
    const residual = page.offset === 0 ? residualFilterOf(filter) : null;
    if (residual !== null) {
      const found = await tables.rows<FillRow>(fillsSql(filter, page, 'deferred'));
      const matching = found.filter(residual);
      // The residual filter excluded no row, or no further row exists.
      if (matching.length === found.length || found.length <= page.limit) return matching;
    }
    return tables.rows<FillRow>(fillsSql(filter, page));
  };

  /** Condition of a market that the catalogue lists without tokens, if the selection names it by its slug. */
  const conditionWithoutTokens = async (selection: TokenSelection): Promise<string | null> => {
    const { marketSlug, conditionId, tokenId: _token, ...others } = selection;
    if (marketSlug === undefined || Object.values(others).some((value) => value !== undefined)) return null;
    const [market] = await tables.rows<SluggedMarketRow>(marketBySlugSql(marketSlug));
    if (market === undefined || boolFrom(market.has_tokens)) return null;
    return conditionId === undefined || conditionId === market.condition_id ? market.condition_id : null;
  };

  /** The tokens that match all of the given names; null if no name is given. */
  const choose = async (selection: TokenSelection): Promise<TokenChoice | null> => {
    const { tokenId, tagSlug, anyTag, ...names } = selection;
    const named = Object.values(names).some((value) => value !== undefined);
    const tagged = [...tagListsOf(selection).values()];
    if (!named && tagged.length === 0) return tokenId === undefined ? null : { tokenIds: [tokenId], among: null };
    if (!named && tokenId === undefined) {
      const wide = await Promise.all(tagged.map(isWide));
      if (wide.every((one) => one)) return { tokenIds: null, among: tokenQuery(selection) };
    }
    const rows = await tables.rows<{ token: string }>(tokensSql(selection, MAX_LISTED_TOKENS + 1));
    const condition = rows.length === 0 ? await conditionWithoutTokens(selection) : null;
    if (condition !== null) return choose({ tokenId, conditionId: condition });
    return rows.length > MAX_LISTED_TOKENS
      ? { tokenIds: null, among: tokenQuery(selection) }
      : { tokenIds: rows.map((row) => row.token), among: null };
  };

  return {
    /** Fills in chain order. */
    async fills(filter: FillFilter, page: Page): Promise<RowPage<FillRow>> {
      if (matchesNothing(filter)) return toPage<FillRow>([], page.limit);
      const recent = recentFillsFilter(filter, page, deps.nowMs() / 1000);
      let found = recent === null ? [] : await read(recent, page);
      if (found.length <= page.limit) found = await read(filter, page);
      return toPage(found, page.limit);
    },
    /** Single fills, those of an order adjacent. */
    async fillsByOrder(filter: FillFilter, page: Page): Promise<RowPage<FillRow>> {
      if (matchesNothing(filter)) return toPage<FillRow>([], page.limit);
      return toPage(await tables.rows<FillRow>(fillsByOrderSql(filter, page)), page.limit);
    },
    async groups(filter: FillFilter, page: Page, grouping: Grouping): Promise<RowPage<FillGroupRow>> {
      if (matchesNothing(filter)) return toPage<FillGroupRow>([], page.limit);
      const oneMore = { ...page, limit: page.limit + 1 };
      return toPage(await tables.rows<FillGroupRow>(groupsSql(filter, oneMore, grouping)), page.limit);
    },
    newest,
    choose,
    /** Token ids that match all of the given names; null if no name is given. Throws ApiError if there are too many to list. */
    async tokens(selection: TokenSelection): Promise<readonly string[] | null> {
      const chosen = await choose(selection);
      if (chosen !== null && chosen.tokenIds === null) {
        throw badParameter('filter too broad: narrow by market_slug, condition_id, token_id or time');
      }
      return chosen?.tokenIds ?? null;
    },
  };
}
