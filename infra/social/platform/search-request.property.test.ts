import fc from 'fast-check';
import { expect, it } from 'vitest';
import { postDocument } from '../../../schemas/social/document.js';
import { matches } from '../../../schemas/social/query/matches.js';
import { parseQuery } from '../../../schemas/social/query/parse.js';
import { naivePost, naiveQuery } from '../../../schemas/social/testing/naive-query.js';
import { toSearchRequest } from './search-request.js';

/** What the platform evaluates, in the spelling of this query language. */
const ownSpelling = (text: string): string =>
  text.replaceAll('has:', 'filter:').replaceAll('is:reply', 'filter:replies');

it('what is sent, its times and the filter together are the query, for any post', () => {
  let filtered = 0;
  fc.assert(
    fc.property(
      naiveQuery.filter(({ searchable }) => searchable),
      fc.array(naivePost, { minLength: 1, maxLength: 5 }),
      (query, posts) => {
        const { text, startMs = 0, endMs = Number.POSITIVE_INFINITY, filter } = toSearchRequest(parseQuery(query.text));
        expect(text).not.toMatch(/since:|until:|min_/);
        // It names something to search for, or this would throw.
        const sent = parseQuery(ownSpelling(text));
        if (filter !== null) filtered += 1;
        for (const post of posts) {
          const document = postDocument(post);
          const found =
            matches(sent, document) &&
            document.createdMs >= startMs &&
            document.createdMs < endMs &&
            (filter === null || matches(filter, document));
          expect(found, `${query.text} as ${text}`).toBe(query.test(post));
        }
      },
    ),
    { numRuns: 2_000 },
  );
  expect(filtered).toBeGreaterThan(200);
});
