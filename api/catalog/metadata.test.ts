import fc from 'fast-check';
import { expect, it } from 'vitest';
import type { Sql, Tables } from '../tables/port.js';
import { createMetadataLookups } from './metadata.js';

const text = fc.oneof(fc.string(), fc.constantFrom('', 'Yes', 'two\nlines', '"', '=', ' '));
const token = fc.record({
  conditionId: fc.constant(`0x${'ab'.repeat(32)}`),
  outcomeIndex: fc.nat(255),
  outcome: fc.option(text),
  negRisk: fc.option(fc.boolean()),
  otherTokenId: fc.option(fc.bigInt({ min: 0n, max: 2n ** 256n - 1n }).map(String)),
});
const pair = fc.record({
  tokenIds: fc.array(fc.bigInt({ min: 0n, max: 2n ** 256n - 1n }).map(String), { minLength: 2, maxLength: 2 }),
  negRisk: fc.boolean(),
});
const market = fc.record({
  question: text,
  slug: text,
  image: fc.option(text),
  icon: fc.option(text),
  event_id: fc.option(text),
  event_slug: fc.option(text),
  event_title: fc.option(text),
  outcomes: fc.array(text),
  tokens: fc.array(fc.bigInt({ min: 0n, max: 2n ** 256n - 1n }).map(String)),
  neg_risk: fc.boolean(),
  closed: fc.boolean(),
  end_ms: fc.option(fc.nat()),
  tag_slugs: fc.array(text),
});
const settled = fc.record({
  payouts: fc.array(fc.bigInt({ min: 0n, max: 10n ** 12n }).map(String), { minLength: 1 }),
  resolved_at: fc.nat(2 ** 32),
});

it('createMetadataLookups returns cached metadata equal to the rows of the tables', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.option(token),
      fc.option(market),
      fc.option(settled),
      fc.option(pair),
      async (ofToken, ofMarket, ofResolution, ofChain) => {
        let queryCount = 0;
        const tables: Tables = {
          reachable: async () => true,
          async rows<T>(sql: Sql): Promise<T[]> {
            queryCount += 1;
            const row = sql.text.includes('named')
              ? ofToken && {
                  token: 'id',
                  condition_id: ofToken.conditionId,
                  outcome_index: ofToken.outcomeIndex,
                  outcome: ofToken.outcome ?? '',
                  catalogued: ofToken.outcome !== null,
                  neg_risk: ofToken.negRisk,
                  other_token: ofToken.otherTokenId,
                }
              : sql.text.includes('payouts')
                ? ofResolution && { condition_id: 'id', ...ofResolution }
                : sql.text.includes('chain_tokens')
                  ? ofChain && { condition_id: 'id', tokens: ofChain.tokenIds, neg_risk: ofChain.negRisk }
                  : ofMarket && { condition_id: 'id', ...ofMarket };
            return row === null ? [] : [row as T];
          },
        };
        const changes = { subscribe: () => undefined, sync: async () => undefined };
        const { tokensOf, marketsOf, conditionTokensOf, resolutionsOf } = createMetadataLookups({
          tables,
          nowMs: () => 0,
          changes,
          cachedMarkets: 1_000,
        });
        for (const lookup of [tokensOf, marketsOf, conditionTokensOf, resolutionsOf]) {
          const first = (await lookup(['id'])).get('id');
          const before = queryCount;
          const again = (await lookup(['id'])).get('id');
          expect(again).toEqual(first);
          expect(queryCount).toBe(before);
        }
        expect((await tokensOf(['id'])).get('id')).toEqual(ofToken);
        expect((await conditionTokensOf(['id'])).get('id')).toEqual(ofChain);
        expect((await marketsOf(['id'])).get('id')?.question).toBe(ofMarket?.question);
        expect((await resolutionsOf(['id'])).get('id')?.payouts).toEqual(ofResolution?.payouts.map(BigInt));
      },
    ),
  );
});
