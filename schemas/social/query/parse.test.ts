import { describe, expect, it } from 'vitest';
import { parseQuery } from './parse.js';
import { QuerySyntaxError } from './tokens.js';

const word = (value: string) => ({ type: 'term', kind: 'word', value });

describe('parseQuery', () => {
  it('reads every operator', () => {
    expect(
      parseQuery(
        'from:@QuietFox to:bob since:2026-03-01 until:2026-03-02 min_faves:10 min_retweets:2 min_replies:1 lang:EN filter:media',
      ),
    ).toEqual({
      type: 'all',
      parts: [
        { type: 'term', kind: 'from', value: 'quietfox' },
        { type: 'term', kind: 'to', value: 'bob' },
        { type: 'since', timeMs: Date.UTC(2026, 2, 1) },
        { type: 'until', timeMs: Date.UTC(2026, 2, 2) },
        { type: 'min', metric: 'likes', count: 10 },
        { type: 'min', metric: 'retweets', count: 2 },
        { type: 'min', metric: 'replies', count: 1 },
        { type: 'term', kind: 'lang', value: 'en' },
        { type: 'term', kind: 'filter', value: 'media' },
      ],
    });
  });

  it('reads words, phrases, tags and mentions', () => {
    expect(parseQuery('Odds "Fed decision" #Bitcoin $BTC @bob covid-19 https://news.example/a')).toEqual({
      type: 'all',
      parts: [
        word('odds'),
        { type: 'phrase', words: ['fed', 'decision'] },
        { type: 'term', kind: 'hashtag', value: 'bitcoin' },
        { type: 'term', kind: 'cashtag', value: 'btc' },
        { type: 'term', kind: 'mention', value: 'bob' },
        { type: 'phrase', words: ['covid', '19'] },
        { type: 'phrase', words: ['https', 'news', 'example', 'a'] },
      ],
    });
  });

  it('binds words closer than OR, and parentheses closest', () => {
    expect(parseQuery('a b OR c')).toEqual({
      type: 'any',
      parts: [{ type: 'all', parts: [word('a'), word('b')] }, word('c')],
    });
    expect(parseQuery('a (b OR c)')).toEqual({
      type: 'all',
      parts: [word('a'), { type: 'any', parts: [word('b'), word('c')] }],
    });
    expect(parseQuery('a or b')).toEqual({ type: 'all', parts: [word('a'), word('or'), word('b')] });
  });

  it('moves negations to the conditions', () => {
    const not = (value: string) => ({ type: 'not', part: word(value) });
    expect(parseQuery('a -(b OR c)')).toEqual({ type: 'all', parts: [word('a'), not('b'), not('c')] });
    expect(parseQuery('a -(b -c)')).toEqual({
      type: 'all',
      parts: [word('a'), { type: 'any', parts: [not('b'), word('c')] }],
    });
    expect(parseQuery('--a')).toEqual(word('a'));
  });

  it.each<[query: string, position: number, message: RegExp]>([
    ['', 1, /is empty/],
    ['   ', 4, /is empty/],
    ['odds "open', 6, /quotation mark is not closed/],
    ['odds ""', 6, /letter or digit/],
    ['😀 odds', 1, /letter or digit/],
    ['😀x (odds', 4, /parenthesis is not closed/],
    ['odds (', 6, /parenthesis is not closed/],
    ['odds)', 5, /not opened/],
    [') odds', 1, /not opened/],
    ['(odds OR )', 7, /OR needs/],
    ['(OR odds)', 2, /OR needs/],
    ['odds -OR poll', 7, /OR needs/],
    ['odds -(poll', 7, /parenthesis is not closed/],
    ['odds ()', 6, /empty/],
    ['OR odds', 1, /OR needs/],
    ['odds OR', 6, /OR needs/],
    ['odds - poll', 6, /'-' must stand directly/],
    ['odds from:', 6, /from: needs a value/],
    ['odds from:"x"', 6, /from: needs a value/],
    ['from:a-b', 1, /needs a handle/],
    ['odds since:2026-02-30', 6, /YYYY-MM-DD/],
    ['odds until:yesterday', 6, /YYYY-MM-DD/],
    ['odds min_faves:1.5', 6, /whole number/],
    ['odds lang:english', 6, /language code/],
    ['odds filter:verified', 6, /one of media, links, replies/],
    ['odds has:media', 6, /unknown operator 'has:': use filter:media or filter:links/],
    ['odds formm:x', 6, /unknown operator 'formm:': known are from:/],
    ['min_faves:5', 1, /needs a word/],
    ['-odds lang:en', 1, /needs a word/],
    ['odds OR min_faves:5', 1, /every branch of OR/],
    ['x'.repeat(513), 513, /longer than 512/],
  ])('rejects %j at character %d', (query, position, message) => {
    let thrown: unknown;
    try {
      parseQuery(query);
    } catch (error) {
      thrown = error;
    }
    expect(thrown).toBeInstanceOf(QuerySyntaxError);
    expect(thrown).toMatchObject({ position, message: expect.stringMatching(message) });
  });
});
