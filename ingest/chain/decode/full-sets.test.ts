import { describe, expect, it } from 'vitest';
import { conditionId, indexSetTokenId, negRiskQuestionId, tokenPair } from '../../../schemas/primitives/ids.js';
import { addresses } from '../contracts.js';
import type { Hex } from '../source.js';
import { buildBlock } from './build.fixture.js';
import {
  alice,
  batch,
  bob,
  CONDITION,
  carol,
  decodeEvents,
  fillV1,
  fillV2,
  fullSet,
  kinds,
  M,
  neg,
  negAdapter,
  plain,
  plainAdapter,
  single,
  values,
  wrapped,
  wrappedPair,
  zero,
} from './scenario.fixture.js';

describe('splits and merges', () => {
  it('of a user are one event each, with mint and burn explained', () => {
    const events = decodeEvents(
      buildBlock(
        batch(alice, zero, alice, plain, [M, M]),
        fullSet('positionSplit', alice, M),
        batch(alice, alice, zero, plain, [M, M]),
        fullSet('positionsMerge', alice, M),
      ),
    );
    expect(kinds(events)).toEqual(['position_split', 'position_merge']);
    expect(values(events)).toMatchObject([
      { stakeholder: alice, collateral_token: addresses.usdcE, condition_id: CONDITION, amount: M, log_index: 1 },
      { stakeholder: alice, log_index: 3 },
    ]);
  });

  it('of the NegRiskAdapter are counted once despite the log of ConditionalTokens', () => {
    const nra = addresses.negRiskAdapter;
    const events = decodeEvents(
      buildBlock(
        batch(nra, zero, nra, wrappedPair, [M, M]),
        fullSet('positionSplit', nra, M, addresses.wrappedCollateral),
        batch(nra, nra, alice, wrappedPair, [M, M]),
        neg('negRiskPositionSplit', { stakeholder: alice, conditionId: CONDITION, amount: M }),
        batch(nra, alice, nra, wrappedPair, [M, M]),
        batch(nra, nra, zero, wrappedPair, [M, M]),
        fullSet('positionsMerge', nra, M, addresses.wrappedCollateral),
        neg('negRiskPositionsMerge', { stakeholder: alice, conditionId: CONDITION, amount: M }),
      ),
    );
    expect(kinds(events)).toEqual(['position_split', 'position_merge']);
    expect(values(events)).toMatchObject([
      { stakeholder: alice, collateral_token: addresses.wrappedCollateral, log_index: 3 },
      { stakeholder: alice, collateral_token: addresses.wrappedCollateral, log_index: 7 },
    ]);
  });

  it('of other tokens instead of collateral are no splits or merges, but transfers of their tokens', () => {
    const PARENT: Hex = `0x${'aa'.repeat(32)}`;
    const below = [11n, 12n];
    const events = decodeEvents(
      buildBlock(
        single(alice, alice, zero, plain[0]!, M),
        batch(alice, zero, alice, below, [M, M]),
        fullSet('positionSplit', alice, M, undefined, { parentCollectionId: PARENT }),
        batch(alice, alice, zero, below, [M, M]),
        single(alice, zero, alice, plain[0]!, M),
        fullSet('positionsMerge', alice, M, undefined, { parentCollectionId: PARENT }),
        single(alice, alice, zero, 13n, M),
        batch(alice, zero, alice, plain, [M, M]),
        fullSet('positionSplit', alice, M, undefined, { partition: [1n, 2n, 4n] }),
      ),
    );
    expect(kinds(events)).toEqual(Array.from({ length: 9 }, () => 'position_change'));
    expect(events[0]?.value).toMatchObject({ from: alice, to: zero, token_id: String(plain[0]), amount: M });
  });

  it('of two of more outcomes are transfers: the token of both is burnt or minted instead of collateral', () => {
    const both = BigInt(indexSetTokenId({ collateral: addresses.usdcE, conditionId: CONDITION, indexSet: 3n }));
    const split = [
      single(alice, alice, zero, both, M),
      batch(alice, zero, alice, plain, [M, M]),
      fullSet('positionSplit', alice, M),
    ];
    const merge = [
      batch(alice, alice, zero, plain, [M, M]),
      single(alice, zero, alice, both, M),
      fullSet('positionsMerge', alice, M),
    ];
    for (const logs of [split, merge])
      expect(kinds(decodeEvents(buildBlock(...logs)))).toEqual(Array.from({ length: 3 }, () => 'position_change'));
    // Another token, amount or owner: a full set.
    for (const other of [
      single(alice, alice, zero, 13n, M),
      single(alice, alice, zero, both, 2n * M),
      single(bob, bob, zero, both, M),
    ])
      expect(kinds(decodeEvents(buildBlock(other, ...split.slice(1))))).toContain('position_split');
  });

  it('of the V1 exchange belong to the match', () => {
    const e = addresses.exchangeV1;
    const events = decodeEvents(
      buildBlock(
        batch(e, zero, e, plain, [M, M]),
        fullSet('positionSplit', e, M),
        single(e, e, alice, plain[0]!, M),
        fillV1(alice, bob, [0n, plain[0]!], M / 2n, M, 0n),
        single(e, e, bob, plain[1]!, M),
        fillV1(bob, e, [0n, plain[1]!], M / 2n, M, 0n),
      ),
    );
    expect(kinds(events)).toEqual(['trade', 'trade']);
  });

  it('of an exchange are never attributed to a user, even without a fill', () => {
    expect(decodeEvents(buildBlock(fullSet('positionSplit', addresses.exchangeV1, M)))).toEqual([]);
  });

  it('of the V1 neg-risk exchange belong to the match on both contracts', () => {
    const e = addresses.exchangeV1NegRisk;
    const fill = fillV1(alice, bob, [0n, wrappedPair[0]!], M / 2n, M, 0n);
    const events = decodeEvents(
      buildBlock(
        fullSet('positionSplit', addresses.negRiskAdapter, M, addresses.wrappedCollateral),
        neg('negRiskPositionSplit', { stakeholder: e, conditionId: CONDITION, amount: M }),
        { ...fill, address: e },
      ),
    );
    expect(kinds(events)).toEqual(['trade']);
  });

  it('of a collateral adapter for a V2 exchange belong to the match', () => {
    const e = addresses.exchangeV2;
    const events = decodeEvents(
      buildBlock(
        batch(plainAdapter, zero, plainAdapter, plain, [M, M]),
        fullSet('positionSplit', plainAdapter, M),
        batch(plainAdapter, plainAdapter, e, plain, [M, M]),
        single(e, e, alice, plain[0]!, M),
        fillV2(e, alice, bob, 0, M / 2n, M),
        fillV2(e, bob, e, 0, M / 2n, M),
      ),
    );
    expect(kinds(events)).toEqual(['trade', 'trade']);
  });

  it('of a collateral adapter for a user in the transaction of a V2 match belong to the user', () => {
    const e = addresses.exchangeV2;
    const events = decodeEvents(
      buildBlock(
        fullSet('positionSplit', plainAdapter, 3n * M),
        batch(plainAdapter, plainAdapter, carol, plain, [3n * M, 3n * M]),
        batch(e, e, plainAdapter, plain, [M, M]),
        fullSet('positionsMerge', plainAdapter, M),
        fillV2(e, alice, bob, 1, M, M / 2n),
      ),
    );
    expect(kinds(events)).toEqual(['position_split', 'trade']);
    expect(events[0]?.value).toMatchObject({ stakeholder: carol, amount: 3n * M });
  });

  it('of a collateral adapter belong to the receiver or sender of the full set', () => {
    const events = decodeEvents(
      buildBlock(
        fullSet('positionSplit', plainAdapter, M),
        batch(plainAdapter, plainAdapter, alice, plain, [M, M]),
        batch(plainAdapter, bob, plainAdapter, [...plain].reverse(), [2n * M, 2n * M]),
        fullSet('positionsMerge', plainAdapter, 2n * M),
        wrapped(plainAdapter, bob, 2n * M),
      ),
    );
    expect(kinds(events)).toEqual(['position_split', 'position_merge']);
    expect(values(events)).toMatchObject([{ stakeholder: alice }, { stakeholder: bob }]);
  });

  it('of the neg-risk collateral adapter: adapter event, real user', () => {
    const nra = addresses.negRiskAdapter;
    const events = decodeEvents(
      buildBlock(
        batch(negAdapter, alice, negAdapter, wrappedPair, [M, M]),
        batch(nra, negAdapter, nra, wrappedPair, [M, M]),
        fullSet('positionsMerge', nra, M, addresses.wrappedCollateral),
        neg('negRiskPositionsMerge', { stakeholder: negAdapter, conditionId: CONDITION, amount: M }),
      ),
    );
    expect(values(events)).toMatchObject([{ stakeholder: alice, collateral_token: addresses.wrappedCollateral }]);
    expect(events).toHaveLength(1);
  });

  it('of several users in one transaction match one transfer each, by tokens and amounts', () => {
    const events = decodeEvents(
      buildBlock(
        batch(plainAdapter, alice, plainAdapter, plain, [M, M]),
        batch(plainAdapter, bob, plainAdapter, plain, [2n * M, 2n * M]),
        batch(plainAdapter, carol, plainAdapter, plain, [2n * M, 2n * M]),
        fullSet('positionsMerge', plainAdapter, 2n * M),
        fullSet('positionsMerge', plainAdapter, M),
        fullSet('positionsMerge', plainAdapter, 2n * M),
      ),
    );
    expect(events.map((event) => event.kind === 'position_merge' && event.value.stakeholder)).toEqual([
      carol,
      alice,
      bob,
    ]);
  });

  it('fall back to the recipient of the payment, then to the adapter', () => {
    const events = decodeEvents(
      buildBlock(
        fullSet('positionsMerge', plainAdapter, M),
        wrapped(plainAdapter, alice, M),
        fullSet('positionSplit', plainAdapter, 5n * M),
      ),
    );
    expect(values(events)).toMatchObject([{ stakeholder: alice }, { stakeholder: plainAdapter }]);
  });
});

describe('conversions', () => {
  const MARKET = `0x${'2c'.repeat(31)}00` as const;
  const noTokens = [0, 2].map((index) => {
    const condition = conditionId({ oracle: addresses.negRiskAdapter, questionId: negRiskQuestionId(MARKET, index) });
    return BigInt(tokenPair(addresses.wrappedCollateral, condition)[1]);
  });
  const converted = (stakeholder: Hex) =>
    neg('positionsConverted', { stakeholder, marketId: MARKET, indexSet: 0b101n, amount: M });

  it('of a user: one event, with inner splits and transfers explained', () => {
    const nra = addresses.negRiskAdapter;
    const events = decodeEvents(
      buildBlock(
        batch(nra, alice, addresses.noTokenBurn, noTokens, [M, M]),
        batch(nra, zero, nra, wrappedPair, [M, M]),
        fullSet('positionSplit', nra, M, addresses.wrappedCollateral),
        single(nra, nra, addresses.noTokenBurn, wrappedPair[1]!, M),
        batch(nra, nra, alice, [wrappedPair[0]!], [M]),
        converted(alice),
      ),
    );
    expect(kinds(events)).toEqual(['positions_converted']);
    expect(events[0]?.value).toMatchObject({ stakeholder: alice, market_id: MARKET, index_set: '0x5', amount: M });
  });

  it('derive the number of questions from a transfer of exactly one YES token per other question', () => {
    const yes = [1, 3].map((index) => {
      const condition = conditionId({ oracle: addresses.negRiskAdapter, questionId: negRiskQuestionId(MARKET, index) });
      return BigInt(tokenPair(addresses.wrappedCollateral, condition)[0]);
    });
    const nra = addresses.negRiskAdapter;
    const countOf = (tokens: bigint[]) => {
      const legs =
        tokens.length === 0
          ? []
          : [
              batch(
                nra,
                nra,
                alice,
                tokens,
                tokens.map(() => M),
              ),
            ];
      const [event] = decodeEvents(
        buildBlock(batch(nra, alice, addresses.noTokenBurn, noTokens, [M, M]), ...legs, converted(alice)),
      );
      return event?.kind === 'positions_converted' ? event.value.question_count : undefined;
    };
    expect([yes, yes.slice(0, 1), yes.slice(1), []].map(countOf)).toEqual([4, 3, null, null]);
  });

  describe('of all questions', () => {
    const nra = addresses.negRiskAdapter;
    const allNo = [0, 1, 2].map((index) => {
      const questionId = negRiskQuestionId(MARKET, index);
      const condition = conditionId({ oracle: nra, questionId });
      return BigInt(tokenPair(addresses.wrappedCollateral, condition)[1]);
    });
    const amounts = allNo.map(() => M);
    const all = (stakeholder: Hex) =>
      neg('positionsConverted', { stakeholder, marketId: MARKET, indexSet: 0b111n, amount: M });

    it('are found by the burnt NO tokens, since no YES is created; their log contains no fee', () => {
      const events = decodeEvents(buildBlock(batch(nra, alice, addresses.noTokenBurn, allNo, amounts), all(alice)));
      expect(values(events)).toMatchObject([{ stakeholder: alice, question_count: 3, fee: null }]);
    });

    it('through a collateral adapter have the fee that lowers what it pays its user', () => {
      const decode = (paid: bigint) =>
        values(
          decodeEvents(
            buildBlock(
              batch(negAdapter, alice, negAdapter, allNo, amounts),
              batch(nra, negAdapter, addresses.noTokenBurn, allNo, amounts),
              all(negAdapter),
              wrapped(negAdapter, alice, paid),
            ),
          ),
        );
      // 2 x (amount - fee).
      const fee = M / 40n;
      expect(decode(2n * (M - fee))).toMatchObject([{ stakeholder: alice, question_count: 3, fee }]);
      expect(decode(2n * M)).toMatchObject([{ fee: 0n }]);
      expect(decode(2n * M - 1n)).toMatchObject([{ fee: null }]);
      expect(decode(2n * M + 2n)).toMatchObject([{ fee: null }]);
    });
  });

  it('of one market in one transaction have the fee and the questions of their own transfers', () => {
    const nra = addresses.negRiskAdapter;
    const yes = [1, 3].map((index) => {
      const condition = conditionId({ oracle: nra, questionId: negRiskQuestionId(MARKET, index) });
      return BigInt(tokenPair(addresses.wrappedCollateral, condition)[0]);
    });
    const convert = (amount: bigint, handed: bigint) => [
      batch(nra, alice, addresses.noTokenBurn, noTokens, [amount, amount]),
      batch(nra, nra, alice, yes, [handed, handed]),
      neg('positionsConverted', { stakeholder: alice, marketId: MARKET, indexSet: 0b101n, amount }),
    ];
    const events = decodeEvents(
      buildBlock(...convert(10n * M, 10n * M), ...convert(25n * M, 24n * M), ...convert(5n * M, 5n * M)),
    );
    expect(values(events)).toMatchObject([
      { amount: 10n * M, question_count: 4, fee: 0n },
      { amount: 25n * M, question_count: 4, fee: M },
      { amount: 5n * M, question_count: 4, fee: 0n },
    ]);
  });

  it('have the fee of the preparation of their market', () => {
    const events = decodeEvents(
      buildBlock(neg('negRiskMarketPrepared', { marketId: MARKET, oracle: bob, feeBips: 250n, data: '0x6d' })),
    );
    expect(events).toMatchObject([
      { kind: 'neg_risk_market', value: { market_id: MARKET, oracle: bob, fee_bips: 250 } },
    ]);
  });

  it('through a collateral adapter belong to the sender of exactly those NO tokens', () => {
    const events = decodeEvents(
      buildBlock(
        batch(negAdapter, alice, negAdapter, noTokens, [M, M]),
        batch(negAdapter, bob, negAdapter, noTokens, [M, 2n * M]),
        batch(negAdapter, carol, negAdapter, wrappedPair, [M, M]),
        converted(negAdapter),
        converted(negAdapter),
      ),
    );
    expect(values(events)).toMatchObject([{ stakeholder: alice }, { stakeholder: negAdapter }]);
  });
});
