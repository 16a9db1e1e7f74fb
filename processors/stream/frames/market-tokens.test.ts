import { expect, it } from 'vitest';
import { recordedMarkets } from '../../../schemas/primitives/recorded-ids.fixture.js';
import { emptyEnrichment, market, minedFields } from './market.fixture.js';
import { tokensOfCondition } from './market-tokens.js';
import { positionsConvertedDraft, splitOrMergeDraft } from './positions.js';
import { redemptionDraft } from './redemption.js';

const WALLET = `0x${'d1'.repeat(20)}`;
const negRisk = recordedMarkets.flatMap((one) => (one.negRisk === undefined ? [] : { ...one, ...one.negRisk }))[0]!;

it.each(recordedMarkets)(
  'split, merge and redemption of the uncatalogued market $conditionId match filters on its tokens',
  ({ collateral, conditionId, tokenIds }) => {
    const common = { ...minedFields, collateral_token: collateral, condition_id: conditionId };
    const drafts = [
      redemptionDraft(
        { ...common, redeemer: WALLET, index_sets: [1], amounts: null, payout: 1n, source: null },
        emptyEnrichment,
      ),
      ...(['position_split', 'position_merge'] as const).map((kind) =>
        splitOrMergeDraft(kind, { ...common, stakeholder: WALLET, amount: 1n }, emptyEnrichment),
      ),
    ];
    for (const draft of drafts) expect(draft).toMatchObject({ tokens: tokenIds, conditionIds: [conditionId] });
  },
);

it('conversions of an uncatalogued market match filters on its tokens and condition, those of catalogued ones on theirs too', () => {
  const { marketId, index, conditionId, tokenIds } = negRisk;
  const other = index === 0 ? 1 : 0;
  const draft = positionsConvertedDraft(
    {
      ...minedFields,
      stakeholder: WALLET,
      market_id: marketId,
      index_set: `0x${((1n << BigInt(index)) | (1n << BigInt(other))).toString(16)}`,
      amount: 1n,
      question_count: null,
      fee: null,
    },
    { ...emptyEnrichment, negRiskGroup: () => new Map([[other, market]]) },
  );
  expect([...(draft.tokens ?? [])].sort()).toEqual([...tokenIds, ...market.tokenIds].sort());
  expect([...(draft.conditionIds ?? [])].sort()).toEqual([conditionId, market.conditionId].sort());
  expect(draft.slugs).toEqual(['will-it-rain', 'weather']);
  expect(draft.body.data).not.toHaveProperty('converted_outcomes');
});

it('an event without a collateral matches the tokens of both collaterals, a combo its positions, malformed ids nothing', () => {
  for (const { conditionId, tokenIds } of recordedMarkets)
    expect(tokensOfCondition(undefined, null, conditionId)).toEqual(expect.arrayContaining([...tokenIds]));
  expect(tokensOfCondition(undefined, null, `0x03${'00'.repeat(30)}`)).toEqual([
    (3n << 248n).toString(),
    ((3n << 248n) + 1n).toString(),
  ]);
  for (const [collateral, condition] of [
    [null, null],
    [null, '0xc0'],
    ['0x2791', negRisk.conditionId],
  ] as const)
    expect(tokensOfCondition(undefined, collateral, condition)).toEqual([]);
});
