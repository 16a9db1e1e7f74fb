import { inChunks } from '../filters/in-chunks.js';
import type { TokenLookup } from './resolve-markets.js';
import type { TokenNames } from './update-texts.js';

/** Tokens of one query. */
const CHUNK = 2_000;
/** A token that the catalogue did not know is looked up again after so long. */
const RETRY_MS = 60_000;
/** Names of known tokens are read again after so long: the venue corrects them. */
const REFRESH_MS = 5 * 60_000;

interface QueryClient {
  query<T>(sql: string, params: Record<string, unknown>): Promise<T[]>;
}

interface NamesRow {
  readonly token_id: string;
  readonly slug: string;
  readonly outcome: string;
  readonly question: string | null;
  readonly event_title: string | null;
}

/** Reads names of tokens from the tables of the catalogue. */
export function createNamesReader(clickhouse: QueryClient): TokenLookup & {
  read(tokenIds: readonly string[]): Promise<readonly (TokenNames & { tokenId: string })[]>;
} {
  return {
    async read(tokenIds) {
      const rows = await clickhouse.query<NamesRow>(
        `SELECT toString(t.token_id) AS token_id, t.market_slug AS slug, t.outcome AS outcome, nullIf(m.question, '') AS question, m.event_title AS event_title
         FROM (SELECT token_id, condition_id, market_slug, outcome FROM tokens FINAL
               WHERE token_id IN (SELECT toUInt256(arrayJoin({ids:Array(String)})))) AS t
         LEFT JOIN (SELECT condition_id, question, event_title FROM markets FINAL
               WHERE condition_id IN (SELECT condition_id FROM tokens WHERE token_id IN (SELECT toUInt256(arrayJoin({ids:Array(String)}))))) AS m
         ON m.condition_id = t.condition_id`,
        { ids: tokenIds },
      );
      return rows.map(({ token_id: tokenId, slug, outcome, question, event_title: eventTitle }) => ({
        tokenId,
        slug,
        outcome,
        question,
        eventTitle,
      }));
    },
    async knownTokens(tokenIds) {
      const rows = await inChunks(tokenIds, (ids) =>
        clickhouse.query<{ token_id: string }>(
          `SELECT toString(token_id) AS token_id FROM tokens WHERE token_id IN (SELECT toUInt256(arrayJoin({ids:Array(String)})))
           UNION DISTINCT
           SELECT toString(token_id) AS token_id FROM chain_tokens WHERE token_id IN (SELECT toUInt256(arrayJoin({ids:Array(String)})))`,
          { ids },
        ),
      );
      return new Set(rows.map(({ token_id }) => token_id));
    },
  };
}

/** Names of the tokens of all books, in memory. */
export interface NameCache {
  get(tokenId: string): TokenNames | undefined;
  /** Reads the names of tokens that have none yet or were read minutes ago, and forgets tokens without a book. */
  refresh(tokenIds: Iterable<string>, nowMs: number): Promise<void>;
}

export function createNameCache(deps: {
  read: (tokenIds: readonly string[]) => Promise<readonly (TokenNames & { tokenId: string })[]>;
}): NameCache {
  const names = new Map<string, TokenNames>();
  const readAtMs = new Map<string, number>();
  return {
    get: (tokenId) => names.get(tokenId),
    async refresh(tokenIds, nowMs) {
      const current = new Set(tokenIds);
      for (const tokenId of readAtMs.keys()) {
        if (current.has(tokenId)) continue;
        readAtMs.delete(tokenId);
        names.delete(tokenId);
      }
      const isDue = (tokenId: string): boolean => {
        const ageMs = nowMs - (readAtMs.get(tokenId) ?? Number.NEGATIVE_INFINITY);
        // Negative after the clock was set back.
        return ageMs >= (names.has(tokenId) ? REFRESH_MS : RETRY_MS) || ageMs < 0;
      };
      const wanted = [...current].filter(isDue);
      for (let from = 0; from < wanted.length; from += CHUNK) {
        const chunk = wanted.slice(from, from + CHUNK);
        const found = await deps.read(chunk);
        for (const tokenId of chunk) readAtMs.set(tokenId, nowMs);
        for (const { tokenId, ...own } of found) names.set(tokenId, own);
      }
    },
  };
}
