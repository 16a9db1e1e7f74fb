import type { EventName } from '../event-abi.js';
import { comboLogDecoders } from './combo-log-decoders.js';
import {
  AMOUNT_LIMIT,
  addressAt,
  amountAt,
  bytesAt,
  hashAt,
  isZeroWord,
  MalformedError,
  requireTopics,
  requireWords,
  topicAddress,
  topicHash,
  topicUint,
  uint31At,
  uint64At,
  uint256At,
  uintArrayAt,
  wordPosition,
} from './hex.js';
import { oracleLogDecoders } from './oracle-log-decoders.js';

type Topics = readonly string[];

const MAX_BIPS = 10_000;

function sideAt(data: string, index: number): 0 | 1 {
  if (!isZeroWord(data, wordPosition(index))) {
    if (uint31At(data, wordPosition(index), 'side') !== 1) throw new MalformedError('side is neither 0 nor 1');
    return 1;
  }
  return 0;
}

function amountsAt(data: string, head: number): bigint[] {
  const values = uintArrayAt(data, head);
  for (const value of values) if (value >= AMOUNT_LIMIT) throw new MalformedError('amount exceeds 38 digits');
  return values;
}

const actorAndCondition = (t: Topics, d: string) => {
  requireTopics(t, 3);
  requireWords(d, 1);
  return { stakeholder: topicAddress(t, 1), conditionId: topicHash(t, 2), amount: amountAt(d, wordPosition(0)) };
};
const fullSet = (t: Topics, d: string) => {
  requireTopics(t, 4);
  return {
    stakeholder: topicAddress(t, 1),
    parentCollectionId: topicHash(t, 2),
    conditionId: topicHash(t, 3),
    collateralToken: addressAt(d, wordPosition(0)),
    partition: uintArrayAt(d, 1),
    amount: amountAt(d, wordPosition(2)),
  };
};
const autoRedemption = (t: Topics, d: string) => {
  requireTopics(t, 3);
  requireWords(d, 1);
  return { from: topicAddress(t, 1), conditionId: topicHash(t, 2), payout: amountAt(d, wordPosition(0)) };
};
const wrap = (t: Topics, d: string) => {
  requireTopics(t, 4);
  requireWords(d, 1);
  return {
    caller: topicAddress(t, 1),
    asset: topicAddress(t, 2),
    to: topicAddress(t, 3),
    amount: amountAt(d, wordPosition(0)),
  };
};
/**
 * One decoder per event: topics and data to arguments (named as in the ABI; ids and amounts bigint, addresses and hashes lower-case hex).
 * Throws MalformedError. Arguments without a consumer are omitted, but the shape of the log is checked.
 */
export const logDecoders = {
  orderFilledV1: (t: Topics, d: string) => {
    requireTopics(t, 4);
    requireWords(d, 5);
    return {
      orderHash: topicHash(t, 1),
      maker: topicAddress(t, 2),
      taker: topicAddress(t, 3),
      makerAssetId: isZeroWord(d, 2) ? 0n : uint256At(d, 2),
      takerAssetId: isZeroWord(d, 66) ? 0n : uint256At(d, 66),
      makerAmountFilled: uint64At(d, 130),
      takerAmountFilled: uint64At(d, 194),
      fee: uint64At(d, 258),
    };
  },
  orderFilledV2: (t: Topics, d: string) => {
    requireTopics(t, 4);
    requireWords(d, 7);
    return {
      orderHash: topicHash(t, 1),
      maker: topicAddress(t, 2),
      taker: topicAddress(t, 3),
      side: sideAt(d, 0),
      tokenId: uint256At(d, 66),
      makerAmountFilled: uint64At(d, 130),
      takerAmountFilled: uint64At(d, 194),
      fee: uint64At(d, 258),
      /** null: no builder. */
      builder: isZeroWord(d, 322) ? null : hashAt(d, 322),
    };
  },
  ordersMatchedV1: (t: Topics, d: string) => {
    requireTopics(t, 3);
    requireWords(d, 4);
    return {
      takerOrderHash: topicHash(t, 1),
      takerOrderMaker: topicAddress(t, 2),
      makerAssetId: uint256At(d, wordPosition(0)),
      takerAssetId: uint256At(d, wordPosition(1)),
      makerAmountFilled: uint64At(d, wordPosition(2)),
      takerAmountFilled: uint64At(d, wordPosition(3)),
    };
  },
  ordersMatchedV2: (t: Topics, d: string) => {
    requireTopics(t, 3);
    requireWords(d, 4);
    return {
      takerOrderHash: topicHash(t, 1),
      takerOrderMaker: topicAddress(t, 2),
      side: sideAt(d, 0),
      tokenId: uint256At(d, wordPosition(1)),
      makerAmountFilled: uint64At(d, wordPosition(2)),
      takerAmountFilled: uint64At(d, wordPosition(3)),
    };
  },
  feeRefunded: (t: Topics, d: string) => {
    requireTopics(t, 4);
    requireWords(d, 2);
    return {
      orderHash: topicHash(t, 1),
      to: topicAddress(t, 2),
      feeCharged: topicUint(t, 3),
      id: uint256At(d, wordPosition(0)),
      refund: uint64At(d, wordPosition(1)),
    };
  },

  conditionPreparation: (t: Topics, d: string) => {
    requireTopics(t, 4);
    requireWords(d, 1);
    return {
      conditionId: topicHash(t, 1),
      oracle: topicAddress(t, 2),
      questionId: topicHash(t, 3),
      outcomeSlotCount: uint31At(d, wordPosition(0), 'outcome slot count'),
    };
  },
  conditionResolution: (t: Topics, d: string) => {
    requireTopics(t, 4);
    return {
      conditionId: topicHash(t, 1),
      oracle: topicAddress(t, 2),
      questionId: topicHash(t, 3),
      outcomeSlotCount: uint31At(d, wordPosition(0), 'outcome slot count'),
      payoutNumerators: uintArrayAt(d, 1),
    };
  },
  positionSplit: fullSet,
  positionsMerge: fullSet,
  payoutRedemption: (t: Topics, d: string) => {
    requireTopics(t, 4);
    return {
      redeemer: topicAddress(t, 1),
      collateralToken: topicAddress(t, 2),
      parentCollectionId: topicHash(t, 3),
      conditionId: hashAt(d, wordPosition(0)),
      indexSets: uintArrayAt(d, 1),
      payout: amountAt(d, wordPosition(2)),
    };
  },
  transferSingle: (t: Topics, d: string) => {
    requireTopics(t, 4);
    requireWords(d, 2);
    return {
      operator: topicAddress(t, 1),
      from: topicAddress(t, 2),
      to: topicAddress(t, 3),
      id: uint256At(d, 2),
      value: amountAt(d, 66),
    };
  },
  transferBatch: (t: Topics, d: string) => {
    requireTopics(t, 4);
    const ids = uintArrayAt(d, 0);
    const values = amountsAt(d, 1);
    if (ids.length !== values.length) throw new MalformedError('ids and values differ in length');
    return {
      operator: topicAddress(t, 1),
      from: topicAddress(t, 2),
      to: topicAddress(t, 3),
      ids,
      values,
    };
  },

  negRiskPositionSplit: actorAndCondition,
  negRiskPositionsMerge: actorAndCondition,
  negRiskPayoutRedemption: (t: Topics, d: string) => {
    requireTopics(t, 3);
    return {
      redeemer: topicAddress(t, 1),
      conditionId: topicHash(t, 2),
      amounts: amountsAt(d, 0),
      payout: amountAt(d, wordPosition(1)),
    };
  },
  positionsConverted: (t: Topics, d: string) => {
    requireTopics(t, 4);
    requireWords(d, 1);
    return {
      stakeholder: topicAddress(t, 1),
      marketId: topicHash(t, 2),
      indexSet: topicUint(t, 3),
      amount: amountAt(d, wordPosition(0)),
    };
  },

  negRiskMarketPrepared: (t: Topics, d: string) => {
    requireTopics(t, 3);
    const feeBips = uint31At(d, wordPosition(0), 'fee');
    if (feeBips > MAX_BIPS) throw new MalformedError('fee exceeds the amount');
    bytesAt(d, 1);
    return { marketId: topicHash(t, 1), oracle: topicAddress(t, 2), feeBips };
  },

  binaryRedemption: autoRedemption,
  negRiskRedemption: autoRedemption,
  comboRedemption: (t: Topics, d: string) => {
    requireTopics(t, 3);
    requireWords(d, 1);
    return { from: topicAddress(t, 1), positionId: topicUint(t, 2), payout: amountAt(d, wordPosition(0)) };
  },
  wrapped: wrap,
  unwrapped: wrap,
  erc20Transfer: (t: Topics, d: string) => {
    requireTopics(t, 3);
    requireWords(d, 1);
    return { from: topicAddress(t, 1), to: topicAddress(t, 2), value: amountAt(d, wordPosition(0)) };
  },

  ...oracleLogDecoders,
  ...comboLogDecoders,
} satisfies Partial<Record<EventName, (topics: Topics, data: string) => object>>;

/** Events that are decoded. */
export type DecodedName = keyof typeof logDecoders;
export type ArgsOf<N extends DecodedName> = ReturnType<(typeof logDecoders)[N]>;
