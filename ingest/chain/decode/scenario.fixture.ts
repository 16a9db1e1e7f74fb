/** Wallets, tokens and logs of hand-built transactions. */

import { expect } from 'vitest';
import { tokenPair } from '../../../schemas/primitives/ids.js';
import { addresses } from '../contracts.js';
import type { Hex, SourceBlock } from '../source.js';
import { decodeBlock } from './block.js';
import { hash, type LogSpec, wallet } from './build.fixture.js';
import type { ChainEvent } from './chain-event.js';

export const alice = wallet('a1');
export const bob = wallet('b2');
export const carol = wallet('c3');
export const CONDITION = hash('c0');
const ROOT = hash('00');
export const plain = tokenPair(addresses.usdcE, CONDITION).map(BigInt);
export const wrappedPair = tokenPair(addresses.wrappedCollateral, CONDITION).map(BigInt);
export const plainAdapter = addresses.ctfCollateralAdapter;
export const negAdapter = addresses.negRiskCtfCollateralAdapter;
export const M = 1_000_000n;

export function decodeEvents(block: SourceBlock): readonly ChainEvent[] {
  const { events, problems } = decodeBlock(block);
  expect(problems).toEqual([]);
  return events;
}
export const kinds = (events: readonly ChainEvent[]) => events.map((event) => event.kind);
export const values = (events: readonly ChainEvent[]) => events.map((event) => event.value);

const ctf = (event: LogSpec['event'], args: Record<string, unknown>): LogSpec => ({
  address: addresses.conditionalTokens,
  event,
  args,
});
export const neg = (event: LogSpec['event'], args: Record<string, unknown>): LogSpec => ({
  address: addresses.negRiskAdapter,
  event,
  args,
});
export const fullSet = (
  event: 'positionSplit' | 'positionsMerge',
  stakeholder: Hex,
  amount: bigint,
  collateral?: Hex,
  over: { parentCollectionId?: Hex; partition?: readonly bigint[] } = {},
) =>
  ctf(event, {
    stakeholder,
    collateralToken: collateral ?? addresses.usdcE,
    parentCollectionId: ROOT,
    conditionId: CONDITION,
    partition: [1n, 2n],
    amount,
    ...over,
  });
export const redeem = (
  redeemer: Hex,
  payout: bigint,
  collateral?: Hex,
  over: { parentCollectionId?: Hex; indexSets?: readonly bigint[] } = {},
) =>
  ctf('payoutRedemption', {
    redeemer,
    collateralToken: collateral ?? addresses.usdcE,
    parentCollectionId: ROOT,
    conditionId: CONDITION,
    indexSets: [1n, 2n],
    payout,
    ...over,
  });
export const single = (operator: Hex, from: Hex, to: Hex, id: bigint, value: bigint) =>
  ctf('transferSingle', { operator, from, to, id, value });
export const batch = (operator: Hex, from: Hex, to: Hex, ids: bigint[], amounts: bigint[]) =>
  ctf('transferBatch', { operator, from, to, ids, values: amounts });
export const fillV2 = (
  address: Hex,
  maker: Hex,
  taker: Hex,
  side: 0 | 1,
  made: bigint,
  took: bigint,
  fee = 0n,
): LogSpec => ({
  address,
  event: 'orderFilledV2',
  args: {
    orderHash: hash('0d'),
    maker,
    taker,
    side,
    tokenId: plain[0],
    makerAmountFilled: made,
    takerAmountFilled: took,
    fee,
    builder: ROOT,
    metadata: ROOT,
  },
});
export const fillV1 = (
  maker: Hex,
  taker: Hex,
  assets: [bigint, bigint],
  made: bigint,
  took: bigint,
  fee: bigint,
): LogSpec => ({
  address: addresses.exchangeV1,
  event: 'orderFilledV1',
  args: {
    orderHash: hash('0d'),
    maker,
    taker,
    makerAssetId: assets[0],
    takerAssetId: assets[1],
    makerAmountFilled: made,
    takerAmountFilled: took,
    fee,
  },
});
export const refund = (amount: bigint, feeCharged: bigint, address: Hex = addresses.feeModule): LogSpec => ({
  address,
  event: 'feeRefunded',
  args: { orderHash: hash('0d'), to: alice, id: 0n, refund: amount, feeCharged },
});
export const wrapped = (caller: Hex, to: Hex, amount: bigint): LogSpec => ({
  address: addresses.pusd,
  event: 'wrapped',
  args: { caller, asset: addresses.usdcE, to, amount },
});
export const zero = addresses.zero;
