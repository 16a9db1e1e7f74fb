// SQL expressions over the tables of the catalogue that processors and api share.

/** Largest number of tokens of a tag, or of a selection of markets, that are listed outside ClickHouse; larger sets stay subqueries. */
export const MAX_LISTED_TOKENS = 1_000;

/**
 * Tokens whose markets carry any tag of each of the lists now, as a SELECT of `token_id`. `lists`: each as a condition takes it, e.g. a bound parameter.
 * `within`: a SELECT of the tokens that matter, which are found by the primary key; without it the tags of all tokens are read.
 */
export function taggedTokens(lists: readonly string[], within?: string): string {
  const conditions = lists.map((tags) => `hasAny(tags, ${tags})`);
  if (within !== undefined) conditions.unshift(`token_id IN (${within})`);
  return `SELECT token_id FROM token_tags FINAL WHERE ${conditions.join(' AND ')}`;
}
