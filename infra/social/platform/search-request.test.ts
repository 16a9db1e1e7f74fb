import { describe, expect, it } from 'vitest';
import { parseQuery } from '../../../schemas/social/query/parse.js';
import { toSearchRequest } from './search-request.js';

const DAY = Date.UTC(2026, 4, 20);

describe('toSearchRequest', () => {
  it.each<[query: string, text: string]>([
    ['from:QuietFox "fed decision" #Odds $BTC @bob', 'from:quietfox "fed decision" #odds $btc @bob'],
    ['odds lang:pt filter:media filter:links -filter:replies', 'odds lang:pt has:media has:links -is:reply'],
    ['odds (poll OR "the market" -fake)', 'odds (poll OR ("the market" -fake))'],
    ['a OR b c', 'a OR (b c)'],
    ['odds and or', 'odds "and" "or"'],
    ['odds -(poll OR fake)', 'odds -poll -fake'],
  ])('%s is sent completely', (query, text) => {
    expect(toSearchRequest(parseQuery(query))).toEqual({ text, filter: null });
  });

  it('makes times of since and until, the narrowest of several', () => {
    expect(
      toSearchRequest(parseQuery('odds since:2026-05-18 since:2026-05-20 until:2026-05-22 until:2026-05-21')),
    ).toEqual({
      text: 'odds',
      startMs: DAY,
      endMs: DAY + 86_400_000,
      filter: null,
    });
  });

  it.each<[query: string, text: string, filter: string]>([
    ['odds min_faves:10', 'odds', 'x min_faves:10'],
    ['odds -min_retweets:3 min_replies:2', 'odds', 'x -min_retweets:3 min_replies:2'],
    ['odds (a min_faves:5 OR b)', 'odds (a OR b)', 'x (a min_faves:5 OR b)'],
    // Alternatives without a term cannot be sent at all.
    ['odds (a OR min_faves:5)', 'odds', 'x (a OR min_faves:5)'],
    ['odds (a OR -b)', 'odds', 'x (a OR -b)'],
    ['odds -(a min_faves:5)', 'odds', 'x (-a OR -min_faves:5)'],
  ])('%s is filtered after fetching', (query, text, filter) => {
    // The filters alone name nothing to search for, so that the expected ones are parsed beside a word.
    const expected = parseQuery(filter);
    const rest = expected.type === 'all' ? expected.parts.slice(1) : [];
    expect(toSearchRequest(parseQuery(query))).toEqual({
      text,
      filter: rest.length === 1 ? rest[0] : { type: 'all', parts: rest },
    });
  });
});
