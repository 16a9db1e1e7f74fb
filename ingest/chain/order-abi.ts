/**
 * Orders of the exchanges: calls that execute them, with selectors, and their EIP-712 types. Signatures are human-readable ABI (input of viem's
 * `parseAbi`); a test recomputes every selector and type hash from them.
 */

import type { Hex } from './source.js';

export interface FunctionAbi {
  readonly signature: `function ${string}`;
  readonly selector: Hex;
}

/** V1 order as an ABI tuple. */
const orderV1Tuple =
  '(uint256 salt, address maker, address signer, address taker, uint256 tokenId, uint256 makerAmount, uint256 takerAmount, uint256 expiration, uint256 nonce, uint256 feeRateBps, uint8 side, uint8 signatureType, bytes signature)';
/** V2 and V3 order as an ABI tuple. */
const orderV2Tuple =
  '(uint256 salt, address maker, address signer, uint256 tokenId, uint256 makerAmount, uint256 takerAmount, uint8 side, uint8 signatureType, uint256 timestamp, bytes32 metadata, bytes32 builder, bytes signature)';

export const functionAbi = {
  /** FeeModules since block 75,253,526. */
  matchOrdersFeeModule: {
    signature: `function matchOrders(${orderV1Tuple} takerOrder, ${orderV1Tuple}[] makerOrders, uint256 takerFillAmount, uint256 takerReceiveAmount, uint256[] makerFillAmounts, uint256 takerFeeAmount, uint256[] makerFeeAmounts)`,
    selector: '0x2287e350',
  },
  /** Older FeeModules. */
  matchOrdersFeeModuleOld: {
    signature: `function matchOrders(${orderV1Tuple} takerOrder, ${orderV1Tuple}[] makerOrders, uint256 takerFillAmount, uint256[] makerFillAmounts, uint256 takerFeeAmount, uint256[] makerFeeAmounts)`,
    selector: '0x18dbc837',
  },
  /** Oldest FeeModule: has a rate for makers and no fee of the taker. */
  matchOrdersFeeModuleRate: {
    signature: `function matchOrders(${orderV1Tuple} takerOrder, ${orderV1Tuple}[] makerOrders, uint256 takerFillAmount, uint256[] makerFillAmounts, uint256 makerFeeRate)`,
    selector: '0xd2539b37',
  },
  /** Exchange V1 itself. */
  matchOrdersV1: {
    signature: `function matchOrders(${orderV1Tuple} takerOrder, ${orderV1Tuple}[] makerOrders, uint256 takerFillAmount, uint256[] makerFillAmounts)`,
    selector: '0xe60f0c05',
  },
  fillOrderV1: {
    signature: `function fillOrder(${orderV1Tuple} order, uint256 fillAmount)`,
    selector: '0xfe729aaf',
  },
  fillOrdersV1: {
    signature: `function fillOrders(${orderV1Tuple}[] orders, uint256[] fillAmounts)`,
    selector: '0xd798eff6',
  },
  matchOrdersV2: {
    signature: `function matchOrders(bytes32 conditionId, ${orderV2Tuple} takerOrder, ${orderV2Tuple}[] makerOrders, uint256 takerFillAmount, uint256[] makerFillAmounts, uint256 takerFeeAmount, uint256[] makerFeeAmounts)`,
    selector: '0x3c2b4399',
  },
  matchOrdersV3: {
    signature: `function matchOrders(${orderV2Tuple} takerOrder, ${orderV2Tuple}[] makerOrders, uint256[] makerFillAmounts, uint256[] makerFeeAmounts, (uint256 takerFillAmount, uint256 takerReceiveAmount, uint256 takerFeeAmount) takerAmounts)`,
    selector: '0x0fb25ba4',
  },
  matchOrdersAndPrepareCombinatorialV3: {
    signature: `function matchOrdersAndPrepareCombinatorial(${orderV2Tuple} takerOrder, ${orderV2Tuple}[] makerOrders, uint256[] makerFillAmounts, uint256[] makerFeeAmounts, (uint256 takerFillAmount, uint256 takerReceiveAmount, uint256 takerFeeAmount) takerAmounts, uint256[] combinatorialLegs)`,
    selector: '0xe75cf6e5',
  },
} as const satisfies Record<string, FunctionAbi>;

export type FunctionName = keyof typeof functionAbi;

/** EIP-712 type strings of the signed orders. */
export const orderTypeStrings = {
  v1: 'Order(uint256 salt,address maker,address signer,address taker,uint256 tokenId,uint256 makerAmount,uint256 takerAmount,uint256 expiration,uint256 nonce,uint256 feeRateBps,uint8 side,uint8 signatureType)',
  v2: 'Order(uint256 salt,address maker,address signer,uint256 tokenId,uint256 makerAmount,uint256 takerAmount,uint8 side,uint8 signatureType,uint256 timestamp,bytes32 metadata,bytes32 builder)',
} as const;

/** keccak256 of the type strings. */
export const orderTypeHashes = {
  v1: '0xa852566c4e14d00869b6db0220888a9090a13eccdaea03713ff0a3d27bf9767c',
  v2: '0xbb86318a2138f5fa8ae32fbe8e659f8fcf13cc6ae4014a707893055433818589',
} as const satisfies Record<string, Hex>;

export const domainTypeString = 'EIP712Domain(string name,string version,uint256 chainId,address verifyingContract)';
export const exchangeDomainName = 'Polymarket CTF Exchange';
export const polygonChainId = 137;
