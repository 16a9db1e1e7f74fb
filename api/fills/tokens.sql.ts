import { MAX_LISTED_TOKENS, taggedTokens } from '../../schemas/primitives/tags.sql.js';
import { venueTokenPairs } from '../../schemas/primitives/venue-tokens.js';
import { derivedIdSql, mayBeDerived } from '../tables/catalog-id.js';
import type { Sql, SqlValue } from '../tables/port.js';

/** Names that select tokens; they are ANDed. */
export interface TokenSelection {
  readonly tokenId?: string;
  readonly conditionId?: string;
  readonly marketSlug?: string;
  readonly eventSlug?: string;
  /** Number in decimal, also one that is derived from an id without a number. */
  readonly eventId?: string;
  /** Slug of a tag of the market. */
  readonly tagSlug?: string;
  /** The market has at least one of these tags. */
  readonly anyTag?: readonly string[];
}

/** Tokens that are too many to list: a subquery that selects them from the catalogue's tables. */
export interface TokenQuery {
  /** A SELECT of `token_id`. `within`: a SELECT of the tokens to which it is restricted, so that it reads few rows. */
  text(within?: string): string;
  /** The lists of tags that select them, one tag of each; null if other names do too. */
  readonly tagLists: readonly (readonly string[])[] | null;
  readonly params: Readonly<Record<string, SqlValue>>;
}

/** Selected tokens: as a list up to a limit, else as a query. */
export type TokenChoice =
  | { readonly tokenIds: readonly string[]; readonly among: null }
  | { readonly tokenIds: null; readonly among: TokenQuery };

type NamedSelection = Omit<TokenSelection, 'tagSlug' | 'anyTag'>;

const conditions: Readonly<Record<keyof NamedSelection, string>> = {
  tokenId: 'token_id = toUInt256({tokenId:String})',
  conditionId: 'condition_id = {conditionId:String}',
  marketSlug: 'market_slug = {marketSlug:String}',
  eventSlug: 'event_slug = {eventSlug:String}',
  eventId: 'event_id = {eventId:String}',
};

/** Ids of events of a recording may have no number: clients know them by a derived one. The scan computes it for each such token. */
const ofDerivedEvent = `${derivedIdSql('event_id')} = {eventId:String}`;

/**
 * Conditions can be unknown to the catalogue but known to the chain, by a log or only by fills of the tokens that derive from their id; all other names exist
 * only in the catalogue.
 */
const source = (named: NamedSelection): string =>
  isByCondition(named)
    ? `(SELECT token_id, condition_id FROM tokens WHERE condition_id = {conditionId:String}
        UNION DISTINCT SELECT token_id, condition_id FROM chain_tokens WHERE condition_id = {conditionId:String}
        UNION DISTINCT SELECT token_id, {conditionId:String} FROM last_prices
          WHERE token_id IN (SELECT toUInt256(arrayJoin({derivedTokens:Array(String)}))))`
    : 'tokens FINAL';

function isByCondition(named: NamedSelection): named is NamedSelection & { readonly conditionId: string } {
  const { tokenId: _token, conditionId, ...catalogued } = named;
  return conditionId !== undefined && Object.values(catalogued).every((value) => value === undefined);
}

/** Tag lists by SQL parameter; a market must have a tag of each list. */
export function tagListsOf({ tagSlug, anyTag }: TokenSelection): ReadonlyMap<string, readonly string[]> {
  const lists = new Map<string, readonly string[]>();
  if (tagSlug !== undefined) lists.set('chosen_tag', [tagSlug]);
  if (anyTag !== undefined) lists.set('chosen_tags', anyTag);
  return lists;
}

const bound = (name: string): string => `{${name}:Array(String)}`;

/** Tokens that at any time belonged to a market with one of the tags, as a SELECT of `token_id`. */
const everTagged = (tags: string): string => `SELECT token_id FROM tag_tokens WHERE tag IN ${tags}`;

/** Their number in `reach`, counted to one more than can be listed. */
export const tagReachSql = (tags: readonly string[]): Sql => ({
  text: `SELECT toString(count()) AS reach
      FROM (SELECT DISTINCT token_id FROM tag_tokens WHERE tag IN ${bound('tags')} LIMIT ${MAX_LISTED_TOKENS + 1})`,
  params: { tags },
});

/** The tokens of a selection with at least one name. */
export function tokenQuery(selection: TokenSelection): TokenQuery {
  const { tagSlug: _tag, anyTag: _tags, ...named } = selection;
  const parts: string[] = [];
  const params: Record<string, SqlValue> = {};
  for (const [name, value] of Object.entries(named) as [keyof NamedSelection, string | undefined][]) {
    if (value === undefined) continue;
    parts.push(
      name === 'eventId' && mayBeDerived(value) ? `(${conditions.eventId} OR ${ofDerivedEvent})` : conditions[name],
    );
    params[name] = value;
  }
  if (isByCondition(named)) params.derivedTokens = venueTokenPairs(named.conditionId).flat();
  const lists = tagListsOf(selection);
  for (const [name, tags] of lists) params[name] = tags;
  const boundLists = [...lists.keys()].map(bound);
  return {
    params,
    tagLists: parts.length === 0 ? [...lists.values()] : null,
    text(within) {
      if (parts.length === 0) return taggedTokens(boundLists, within);
      const limits = within === undefined ? parts : [...parts, `token_id IN (${within})`];
      const found = `SELECT token_id FROM ${source(named)} WHERE ${limits.join(' AND ')}`;
      return boundLists.length === 0 ? found : taggedTokens(boundLists, found);
    },
  };
}

/** Token ids that match all given names, at most `limit`. */
export function tokensSql(selection: TokenSelection, limit: number): Sql {
  const { text, params } = tokenQuery(selection);
  const lists = [...tagListsOf(selection).keys()].map((name) => everTagged(bound(name)));
  const [first, ...rest] = lists;
  const within =
    first === undefined ? undefined : [first, ...rest.map((list) => `token_id IN (${list})`)].join(' AND ');
  return {
    text: `SELECT toString(token_id) AS token
      FROM (${text(within)})
      ORDER BY token_id
      LIMIT {limit:UInt32}`,
    params: { ...params, limit },
  };
}
