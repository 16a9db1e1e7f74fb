/** Orders and settlement calldata for tests, with viem's encoder. */

import { type AbiFunction, encodeFunctionData, parseAbiItem } from 'viem';
import { type FunctionName, functionAbi } from '../order-abi.js';
import type { Hex, RpcTransaction } from '../source.js';

export interface TestOrder {
  readonly maker: Hex;
  readonly signer: Hex;
  readonly tokenId: bigint;
  readonly makerAmount: bigint;
  readonly takerAmount: bigint;
  readonly side: 0 | 1;
  readonly signatureType: 0 | 1 | 2 | 3;
  readonly salt?: bigint;
  readonly feeRateBps?: bigint;
}

const zero32: Hex = `0x${'00'.repeat(32)}`;
const signature: Hex = `0x${'5e'.repeat(65)}`;

export const orderV1 = (order: TestOrder) => ({
  salt: 12345n,
  taker: `0x${'00'.repeat(20)}`,
  expiration: 0n,
  nonce: 0n,
  feeRateBps: 0n,
  signature,
  ...order,
});

export const orderV2 = (order: TestOrder) => ({
  salt: 12345n,
  timestamp: 1790000000000n,
  metadata: zero32,
  builder: zero32,
  signature,
  ...order,
});

const callAbi = (name: FunctionName): AbiFunction => parseAbiItem(functionAbi[name].signature as string) as AbiFunction;

export const calldata = (name: FunctionName, args: readonly unknown[]): Hex =>
  encodeFunctionData({ abi: [callAbi(name)], args: args as never });

export const OPERATOR: Hex = `0x${'0e'.repeat(20)}`;

export const transaction = (to: Hex, input: Hex): RpcTransaction => ({
  hash: `0x${'9d'.repeat(32)}`,
  from: OPERATOR,
  to,
  input,
});
