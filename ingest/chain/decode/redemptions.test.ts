import { describe, expect, it } from 'vitest';
import { addresses } from '../contracts.js';
import type { Hex } from '../source.js';
import { buildBlock, type LogSpec } from './build.fixture.js';
import {
  alice,
  batch,
  bob,
  CONDITION,
  carol,
  decodeEvents,
  kinds,
  M,
  neg,
  negAdapter,
  plain,
  plainAdapter,
  redeem,
  single,
  values,
  wrapped,
  wrappedPair,
  zero,
} from './scenario.fixture.js';

describe('redemptions', () => {
  it('of a user: amounts are the burnt amounts', () => {
    const events = decodeEvents(
      buildBlock(
        single(alice, alice, zero, plain[0]!, 3n * M),
        single(alice, alice, zero, plain[1]!, 2n * M),
        redeem(alice, 3n * M),
        redeem(bob, 0n),
      ),
    );
    expect(kinds(events)).toEqual(['redemption', 'redemption']);
    expect(values(events)).toMatchObject([
      { redeemer: alice, index_sets: [1, 2], amounts: [3n * M, 2n * M], payout: 3n * M, source: null },
      { redeemer: bob, amounts: null, payout: 0n },
    ]);
  });

  it('of one outcome named twice have it once', () => {
    const events = decodeEvents(
      buildBlock(
        single(alice, alice, zero, plain[0]!, 9n * M),
        single(alice, alice, zero, plain[0]!, 3n * M),
        redeem(alice, 3n * M, undefined, { indexSets: [1n, 1n] }),
      ),
    );
    expect(values(events)).toMatchObject([{ index_sets: [1], amounts: [3n * M], payout: 3n * M }]);
  });

  it('of a position below another are transfers of tokens, no redemption', () => {
    const parentCollectionId = `0x${'aa'.repeat(32)}` as const;
    const events = decodeEvents(
      buildBlock(
        single(alice, alice, zero, 11n, 3n * M),
        single(alice, zero, alice, plain[0]!, 3n * M),
        redeem(alice, 3n * M, undefined, { parentCollectionId }),
      ),
    );
    expect(kinds(events)).toEqual(['position_change', 'position_change']);
  });

  it('through the NegRiskAdapter count once, with its amounts', () => {
    const nra = addresses.negRiskAdapter;
    const events = decodeEvents(
      buildBlock(
        batch(nra, alice, nra, wrappedPair, [0n, 11n * M]),
        single(nra, nra, zero, wrappedPair[1]!, 11n * M),
        redeem(nra, 11n * M, addresses.wrappedCollateral),
        neg('negRiskPayoutRedemption', {
          redeemer: alice,
          conditionId: CONDITION,
          amounts: [0n, 11n * M],
          payout: 11n * M,
        }),
      ),
    );
    expect(events).toHaveLength(1);
    expect(events[0]?.value).toMatchObject({
      redeemer: alice,
      collateral_token: addresses.wrappedCollateral,
      index_sets: [1, 2],
      amounts: [0n, 11n * M],
      payout: 11n * M,
      log_index: 3,
    });
  });

  it('through a collateral adapter belong to the sender of the tokens', () => {
    const events = decodeEvents(
      buildBlock(
        batch(plainAdapter, alice, plainAdapter, plain, [5n * M, 0n]),
        single(plainAdapter, plainAdapter, zero, plain[0]!, 5n * M),
        redeem(plainAdapter, 5n * M),
        wrapped(plainAdapter, alice, 5n * M),
      ),
    );
    expect(kinds(events)).toEqual(['redemption']);
    expect(events[0]?.value).toMatchObject({ redeemer: alice, amounts: [5n * M, 0n], payout: 5n * M });
  });

  it('through the neg-risk collateral adapter: matched by amounts', () => {
    const negRedeem = (amounts: bigint[], payout: bigint) =>
      neg('negRiskPayoutRedemption', { redeemer: negAdapter, conditionId: CONDITION, amounts, payout });
    const events = decodeEvents(
      buildBlock(
        batch(negAdapter, alice, negAdapter, wrappedPair, [5n * M, 0n]),
        batch(negAdapter, bob, negAdapter, wrappedPair, [7n * M, M]),
        negRedeem([5n * M, 0n], 5n * M),
        negRedeem([7n * M, M], 7n * M),
      ),
    );
    expect(values(events)).toMatchObject([{ redeemer: alice }, { redeemer: bob, amounts: [7n * M, M] }]);
  });

  it('by the AutoRedeemer: its event names the user, and the paying wrap is not a deposit', () => {
    const auto = addresses.autoRedeemer;
    const redeemed = (from: Hex, payout: bigint): LogSpec => ({
      address: auto,
      event: 'binaryRedemption',
      args: { from, conditionId: CONDITION, payout },
    });
    const events = decodeEvents(
      buildBlock(
        batch(auto, alice, auto, plain, [4n * M, M]),
        batch(auto, bob, auto, plain, [0n, 9n * M]),
        single(auto, auto, zero, plain[0]!, 4n * M),
        single(auto, auto, zero, plain[1]!, 10n * M),
        redeem(auto, 4n * M),
        wrapped(addresses.collateralOnramp, alice, 4n * M),
        redeemed(alice, 4n * M),
        redeemed(bob, 0n),
      ),
    );
    expect(kinds(events)).toEqual(['redemption', 'redemption']);
    expect(values(events)).toMatchObject([
      {
        redeemer: alice,
        collateral_token: addresses.usdcE,
        index_sets: [1, 2],
        amounts: [4n * M, M],
        payout: 4n * M,
        source: 'AutoRedeemer.BinaryRedemption',
      },
      { redeemer: bob, amounts: [0n, 9n * M], payout: 0n, source: 'AutoRedeemer.BinaryRedemption' },
    ]);
  });

  it('of combos by the AutoRedeemer have the shares that the module redeemed before, each used once', () => {
    const position = (3n << 248n) | (77n << 120n);
    const redeemed = (amount: bigint, initiator: Hex = addresses.autoRedeemer): LogSpec => ({
      address: addresses.combinatorialModule,
      event: 'comboRedeem',
      args: { initiator, positionId: position, recipient: alice, amount, payout: M },
    });
    const named = (from: Hex): LogSpec => ({
      address: addresses.autoRedeemer,
      event: 'comboRedemption',
      args: { from, positionId: position, payout: M },
    });
    const events = decodeEvents(
      buildBlock(redeemed(9n * M, carol), redeemed(2n * M), named(alice), redeemed(3n * M), named(bob), named(carol)),
    );
    const redemptions = events.flatMap((event) => (event.kind === 'redemption' ? [event.value] : []));
    expect(redemptions.map(({ redeemer, amounts, payout }) => [redeemer, amounts, payout])).toEqual([
      [alice, [2n * M], M],
      [bob, [3n * M], M],
      [carol, null, M],
    ]);
  });

  it('by the AutoRedeemer of neg-risk markets and combos', () => {
    const position = (3n << 248n) | (77n << 120n) | 1n;
    const events = decodeEvents(
      buildBlock(
        neg('negRiskPayoutRedemption', {
          redeemer: addresses.autoRedeemer,
          conditionId: CONDITION,
          amounts: [M, 0n],
          payout: M,
        }),
        {
          address: addresses.autoRedeemer,
          event: 'negRiskRedemption',
          args: { from: alice, conditionId: CONDITION, payout: M },
        },
        {
          address: addresses.autoRedeemer,
          event: 'comboRedemption',
          args: { from: bob, positionId: position, payout: 2n * M },
        },
      ),
    );
    expect(values(events)).toMatchObject([
      { redeemer: alice, collateral_token: addresses.wrappedCollateral, source: 'AutoRedeemer.NegRiskRedemption' },
      {
        redeemer: bob,
        collateral_token: addresses.pusd,
        condition_id: `0x${position.toString(16).padStart(64, '0').slice(0, 62)}`,
        index_sets: [2],
        source: 'AutoRedeemer.Redemption',
      },
      { action: 'Redeem', user: bob, source_position_ids: [position.toString()], payout: 2n * M, log_index: 2 },
    ]);
  });
});
