import { badParameter } from '../errors/failure.js';
import type { Tables } from '../tables/port.js';
import {
  type FillRow,
  fillsByOrderSql,
  fillsSql,
  type Grouping,
  type GroupRow,
  groupsSql,
  newestSql,
  rareFilterOf,
} from './fills.sql.js';
import { type FillFilter, matchesNothing, type Page, recentOnly } from './filter.js';
import { cut, type RowPage } from './paged.js';
import { type ChainPosition, type Placed, positionOf } from './position.js';
import { type TokenSelection, tokensSql } from './tokens.sql.js';
import type { Walks } from './walks.js';

/** More tokens than this in one filter ask for a narrower one. */
const MAX_TOKENS = 20_000;

export interface FillReader {
  /** Fills in chain order. `walk` null, here and below: the filter's own bounds are all there are. */
  fills(filter: FillFilter, page: Page, walk: string | null): Promise<RowPage<FillRow>>;
  /** Single fills, those of an order next to each other. */
  fillsByOrder(filter: FillFilter, page: Page, walk: string | null): Promise<RowPage<FillRow>>;
  groups(filter: FillFilter, page: Page, grouping: Grouping, walk: string | null): Promise<readonly GroupRow[]>;
  /** Place of the newest fill of a filter. */
  newest(filter: FillFilter): Promise<ChainPosition | null>;
  /** Token ids that fit all of the given names; null for no names. Throws ApiError when too many do. */
  tokens(selection: TokenSelection): Promise<readonly string[] | null>;
}

/** Pages of the fills' tables. A walk by offset newest first counts from the newest row of its first page. */
export function createFillReader(deps: { tables: Tables; walks: Walks; nowMs: () => number }): FillReader {
  const { tables, walks } = deps;

  const newestOf = async (filter: FillFilter): Promise<ChainPosition | null> => {
    if (matchesNothing(filter)) return null;
    const [newest] = await tables.rows<Placed>(newestSql(filter));
    return newest === undefined ? null : positionOf(newest);
  };

  /** The filter a page is read with. `fixed`: arriving fills move rows of this walk in either direction. */
  const begun = async (filter: FillFilter, page: Page, walk: string | null, fixed: boolean): Promise<FillFilter> => {
    if (walk === null || filter.beyond !== null || (page.order === 'asc' && !fixed)) return filter;
    if (page.offset > 0) return { ...filter, atMost: walks.boundOf(walk) };
    if (page.order === 'desc') return filter;
    const bound = await newestOf(filter);
    walks.begin(walk, bound);
    return { ...filter, atMost: bound };
  };
  const remember = (filter: FillFilter, page: Page, walk: string | null, first: Placed | undefined): void => {
    if (walk === null || page.offset > 0 || page.order === 'asc' || filter.beyond !== null) return;
    walks.begin(walk, first === undefined ? null : positionOf(first));
  };

  /** A page and one row more. */
  const read = async (filter: FillFilter, page: Page): Promise<readonly FillRow[]> => {
    const rare = page.offset === 0 ? rareFilterOf(filter) : null;
    if (rare !== null) {
      const found = await tables.rows<FillRow>(fillsSql(filter, page, 'left out'));
      const fitting = found.filter(rare);
      // Nothing went, or nothing comes behind it.
      if (fitting.length === found.length || found.length <= page.limit) return fitting;
    }
    return tables.rows<FillRow>(fillsSql(filter, page));
  };

  return {
    async fills(filter, page, walk) {
      if (matchesNothing(filter)) return cut<FillRow>([], page.limit);
      const held = await begun(filter, page, walk, false);
      const recent = recentOnly(held, page, deps.nowMs() / 1000);
      let found = recent === null ? [] : await read(recent, page);
      if (found.length <= page.limit) found = await read(held, page);
      remember(filter, page, walk, found[0]);
      return cut(found, page.limit);
    },
    async fillsByOrder(filter, page, walk) {
      if (matchesNothing(filter)) return cut<FillRow>([], page.limit);
      const held = await begun(filter, page, walk, true);
      const found = await tables.rows<FillRow>(fillsByOrderSql(held, page));
      remember(filter, page, walk, found[0]);
      return cut(found, page.limit);
    },
    async groups(filter, page, grouping, walk) {
      if (matchesNothing(filter)) return [];
      const held = await begun(filter, page, walk, true);
      const found = await tables.rows<GroupRow>(groupsSql(held, page, grouping));
      remember(filter, page, walk, found[0]);
      return found;
    },
    newest: newestOf,
    async tokens(selection) {
      const { tokenId, ...named } = selection;
      if (Object.values(named).every((value) => value === undefined)) return tokenId === undefined ? null : [tokenId];
      const rows = await tables.rows<{ token: string }>(tokensSql(selection, MAX_TOKENS + 1));
      if (rows.length > MAX_TOKENS) {
        throw badParameter('filter too broad: narrow by market_slug, condition_id, token_id or time');
      }
      return rows.map((row) => row.token);
    },
  };
}
