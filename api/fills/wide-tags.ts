import { MAX_LISTED_TOKENS } from '../../schemas/primitives/tags.sql.js';
import type { Tables } from '../tables/port.js';
import { tagReachSql } from './tokens.sql.js';

/** Lists of tags that are remembered. */
const MAX_REMEMBERED = 1_000;

/** Creates a function that says whether a list of tags has more tokens than can be listed. It remembers wide lists: `tag_tokens` only grows. */
export function createIsWide(tables: Tables) {
  const wide = new Set<string>();
  return async (tags: readonly string[]): Promise<boolean> => {
    const key = tags.join('\n');
    if (wide.has(key)) return true;
    const [row] = await tables.rows<{ reach: string }>(tagReachSql(tags));
    if (Number(row?.reach ?? 0) <= MAX_LISTED_TOKENS) return false;
    if (wide.size >= MAX_REMEMBERED) wide.clear();
    wide.add(key);
    return true;
  };
}
