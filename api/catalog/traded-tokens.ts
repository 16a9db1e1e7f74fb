import type { Sql, Tables } from '../tables/port.js';

/** Tokens with at least one fill. */
const tradedTokensSql = (tokenIds: readonly string[]): Sql => ({
  text: 'SELECT DISTINCT toString(token_id) AS token FROM last_prices WHERE token_id IN (SELECT toUInt256(arrayJoin({tokens:Array(String)})))',
  params: { tokens: tokenIds },
  singleChunk: true,
});

/** Those of the tokens that have fills. */
export async function tradedTokensAmong(tables: Tables, tokenIds: readonly string[]): Promise<ReadonlySet<string>> {
  if (tokenIds.length === 0) return new Set();
  const rows = await tables.rows<{ readonly token: string }>(tradedTokensSql(tokenIds));
  return new Set(rows.map(({ token }) => token));
}
