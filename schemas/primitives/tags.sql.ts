// Expressions over the tables of the catalogue that processors and api must agree on.

/** A tag, or a choice of markets, with more tokens than this is wide: its tokens are never listed outside the tables. */
export const MAX_LISTED_TOKENS = 1_000;

/**
 * Tokens whose markets carry any of some tags now, as a SELECT of `token_id`. `tags`: a list as a condition takes it, e.g. a bound parameter.
 * `within`: a SELECT of the tokens that matter; without it all tokens of the tags are read.
 */
export function taggedTokens(tags: string, within?: string): string {
  const among = within ?? `SELECT token_id FROM tag_tokens WHERE tag IN ${tags}`;
  const limited = within === undefined ? '' : ` AND token_id IN (${within})`;
  // A market's rows in `tag_tokens` land before those in `tokens`, so a version of which half is there still counts.
  return `SELECT token_id FROM (
          SELECT token_id, _offset + 1 AS tagged, toUInt64(0) AS newest FROM tag_tokens WHERE tag IN ${tags}${limited}
          UNION ALL
          SELECT token_id, toUInt64(0), _offset + 1 FROM tokens WHERE token_id IN (${among})
        ) GROUP BY token_id HAVING max(tagged) > 0 AND max(tagged) >= max(newest)`;
}
