import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { SocialPost } from '../../types.gen.js';
import { postDocument } from '../document.js';
import { naivePost, naiveQuery } from '../testing/naive-query.js';
import { matches } from './matches.js';
import { parseQuery } from './parse.js';
import { QuerySyntaxError } from './tokens.js';

const post = (over: Partial<SocialPost>): SocialPost => ({
  id: '1',
  author_id: '31',
  author_username: 'QuietFox',
  author_name: 'Quiet Fox',
  text: '',
  created_at_ms: Date.UTC(2026, 4, 22, 20),
  conversation_id: '1',
  fetched_at_ms: 0,
  body: '{}',
  lang: 'en',
  reply_to_username: '',
  is_reply: false,
  is_repost: false,
  has_media: false,
  has_links: false,
  like_count: 12,
  retweet_count: 3,
  reply_count: 1,
  ...over,
});

describe('query evaluation', () => {
  it('equals a naive matcher for any post and query', () => {
    const seen = { matched: 0, total: 0 };
    fc.assert(
      fc.property(naivePost, naiveQuery, (record, query) => {
        let parsed: ReturnType<typeof parseQuery>;
        try {
          parsed = parseQuery(query.text);
        } catch (error) {
          // Queries without a search term are rejected; naiveQuery says which ones.
          expect(error).toBeInstanceOf(QuerySyntaxError);
          expect(query.searchable, query.text).toBe(false);
          return;
        }
        expect(query.searchable, query.text).toBe(true);
        const expected = query.test(record);
        seen.total += 1;
        if (expected) seen.matched += 1;
        expect(matches(parsed, postDocument(record)), `${query.text} on ${record.text}`).toBe(expected);
      }),
      { numRuns: 3_000 },
    );
    // Both outcomes are frequent, so that the comparison means something.
    expect(seen.matched).toBeGreaterThan(seen.total / 20);
    expect(seen.matched).toBeLessThan((seen.total * 19) / 20);
  });

  it.each<[text: string, query: string, expected: boolean]>([
    ['Odds moved to 41%', 'odds 41', true],
    ['Odds moved to 41%', '"moved odds"', false],
    ['Odds: moved', '"odds moved"', true],
    ['oddsmaker', 'odds', false],
    ['#Election2028 tonight', 'election2028', true],
    ['Election2028 tonight', '#election2028', false],
    ['$BTC to 100k', '$btc', true],
    ['btc to 100k', '$btc', false],
    ["don't bet", "don't", true],
    ['ＦＥＤ cuts', 'fed', true],
    ['any', 'from:quietfox since:2026-05-22 until:2026-05-23', true],
    ['any', 'from:quietfox until:2026-05-22', false],
    ['any', 'any min_faves:12 -min_faves:13', true],
  ])('%j with %j: %s', (text, query, expected) => {
    expect(matches(parseQuery(query), postDocument(post({ text })))).toBe(expected);
  });
});
