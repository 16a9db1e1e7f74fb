import type { Sql, SqlValue } from '../tables/port.js';

export interface TokenSelection {
  readonly tokenId?: string;
  readonly conditionId?: string;
  readonly marketSlug?: string;
  readonly eventSlug?: string;
  readonly eventId?: string;
  /** Of a market's tags. */
  readonly tagSlug?: string;
}

const conditions: Readonly<Record<keyof TokenSelection, string>> = {
  tokenId: 'token_id = toUInt256({tokenId:String})',
  conditionId: 'condition_id = {conditionId:String}',
  marketSlug: 'market_slug = {marketSlug:String}',
  eventSlug: 'event_slug = {eventSlug:String}',
  eventId: 'event_id = {eventId:String}',
  tagSlug: 'token_id IN (SELECT arrayJoin(token_ids) FROM markets FINAL WHERE has(tag_slugs, {tagSlug:String}))',
};

/** The chain knows conditions that the catalogue does not; everything else that tokens are found by is the catalogue's. */
const source = (selection: TokenSelection): string => {
  const { tokenId: _token, conditionId, ...catalogued } = selection;
  return conditionId === undefined || Object.values(catalogued).some((value) => value !== undefined)
    ? 'tokens FINAL'
    : `(SELECT token_id, condition_id FROM tokens WHERE condition_id = {conditionId:String}
        UNION DISTINCT SELECT token_id, condition_id FROM chain_tokens WHERE condition_id = {conditionId:String})`;
};

/** Token ids that fit every given name, at most `limit`. */
export function tokensSql(selection: TokenSelection, limit: number): Sql {
  const parts: string[] = [];
  const params: Record<string, SqlValue> = { limit };
  for (const [name, value] of Object.entries(selection) as [keyof TokenSelection, string | undefined][]) {
    if (value === undefined) continue;
    parts.push(conditions[name]);
    params[name] = value;
  }
  return {
    text: `SELECT toString(token_id) AS token
      FROM ${source(selection)}
      WHERE ${parts.join(' AND ')}
      ORDER BY token_id
      LIMIT {limit:UInt32}`,
    params,
  };
}
