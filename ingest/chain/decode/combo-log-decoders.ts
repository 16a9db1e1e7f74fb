import type { EventName } from '../event-abi.js';
import {
  addressArrayAt,
  addressAt,
  amountAt,
  hashAt,
  leadingBytesAt,
  MalformedError,
  requireTopics,
  requireWords,
  topicAddress,
  topicLeadingBytes,
  topicUint,
  uint31At,
  uint256At,
  uintArrayAt,
  wordPosition,
} from './hex.js';
import { boolWord, joinedWords } from './oracle-log-decoders.js';

type Topics = readonly string[];

const CONDITION_BYTES = 31;
const EVENT_BYTES = 29;
const OUTCOMES = 2;
const conditionTopic = (t: Topics, index: number) => topicLeadingBytes(t, index, CONDITION_BYTES);
const eventTopic = (t: Topics, index: number) => topicLeadingBytes(t, index, EVENT_BYTES);
const conditionWord = (d: string, index: number) => leadingBytesAt(d, wordPosition(index), CONDITION_BYTES);

/** Three conditions, one or two recipients, an amount. */
const threeConditions = (recipients: 1 | 2) => (t: Topics, d: string) => {
  requireTopics(t, 3);
  requireWords(d, 3 + recipients);
  return {
    initiator: topicAddress(t, 1),
    conditionId: conditionTopic(t, 2),
    conditionId1: conditionWord(d, 0),
    conditionId2: conditionWord(d, 1),
    recipient: addressAt(d, wordPosition(2)),
    amount: amountAt(d, wordPosition(2 + recipients)),
  };
};
const decodeFormExchange = (t: Topics, d: string) => {
  requireTopics(t, 2);
  requireWords(d, 4);
  return {
    initiator: topicAddress(t, 1),
    fromId: uint256At(d, wordPosition(0)),
    toId: uint256At(d, wordPosition(1)),
    recipient: addressAt(d, wordPosition(2)),
    amount: amountAt(d, wordPosition(3)),
  };
};

/** Decoders of the combo protocol's events and of approvals; the contract of logDecoders applies. */
export const comboLogDecoders = {
  comboPrepared: (t: Topics, d: string) => {
    requireTopics(t, 2);
    return { conditionId: conditionTopic(t, 1), legs: uintArrayAt(d, 0) };
  },
  comboSplit: (t: Topics, d: string) => {
    requireTopics(t, 4);
    requireWords(d, 2);
    return {
      initiator: topicAddress(t, 1),
      conditionId: conditionTopic(t, 2),
      recipient: topicAddress(t, 3),
      recipient1: addressAt(d, wordPosition(0)),
      amount: amountAt(d, wordPosition(1)),
    };
  },
  comboMerge: (t: Topics, d: string) => {
    requireTopics(t, 4);
    requireWords(d, 1);
    return {
      initiator: topicAddress(t, 1),
      conditionId: conditionTopic(t, 2),
      recipient: topicAddress(t, 3),
      amount: amountAt(d, wordPosition(0)),
    };
  },
  comboRedeem: (t: Topics, d: string) => {
    requireTopics(t, 4);
    requireWords(d, 2);
    return {
      initiator: topicAddress(t, 1),
      positionId: topicUint(t, 2),
      recipient: topicAddress(t, 3),
      amount: amountAt(d, wordPosition(0)),
      payout: amountAt(d, wordPosition(1)),
    };
  },
  comboSplitOnEvent: (t: Topics, d: string) => {
    requireTopics(t, 4);
    return {
      initiator: topicAddress(t, 1),
      conditionId: conditionTopic(t, 2),
      eventId: eventTopic(t, 3),
      recipients: addressArrayAt(d, 0),
      amount: amountAt(d, wordPosition(1)),
    };
  },
  comboMergedOnEvent: (t: Topics, d: string) => {
    requireTopics(t, 4);
    requireWords(d, 2);
    return {
      initiator: topicAddress(t, 1),
      conditionId: conditionTopic(t, 2),
      eventId: eventTopic(t, 3),
      recipient: addressAt(d, wordPosition(0)),
      amount: amountAt(d, wordPosition(1)),
    };
  },
  comboSplitOnCondition: threeConditions(2),
  comboMergedOnCondition: threeConditions(1),
  comboConvert: (t: Topics, d: string) => {
    requireTopics(t, 4);
    return {
      initiator: topicAddress(t, 1),
      conditionId: conditionTopic(t, 2),
      eventId: eventTopic(t, 3),
      index: uint31At(d, wordPosition(0), 'question index'),
      recipients: addressArrayAt(d, 1),
      amount: amountAt(d, wordPosition(2)),
    };
  },
  comboExtract: threeConditions(2),
  comboInject: threeConditions(1),
  comboConvertToYesBasket: (t: Topics, d: string) => {
    requireTopics(t, 3);
    return {
      initiator: topicAddress(t, 1),
      conditionId: conditionTopic(t, 2),
      recipients: addressArrayAt(d, 0),
      amount: amountAt(d, wordPosition(1)),
    };
  },
  comboMergeFromYesBasket: (t: Topics, d: string) => {
    requireTopics(t, 3);
    requireWords(d, 2);
    return {
      initiator: topicAddress(t, 1),
      conditionId: conditionTopic(t, 2),
      recipient: addressAt(d, wordPosition(0)),
      amount: amountAt(d, wordPosition(1)),
    };
  },
  comboCompress: (t: Topics, d: string) => {
    requireTopics(t, 4);
    requireWords(d, 4);
    return {
      initiator: topicAddress(t, 1),
      fromId: topicUint(t, 2),
      toId: topicUint(t, 3),
      recipient: addressAt(d, wordPosition(0)),
      amount: amountAt(d, wordPosition(1)),
      positionAmount: amountAt(d, wordPosition(2)),
      collateralOut: amountAt(d, wordPosition(3)),
    };
  },
  comboWrap: decodeFormExchange,
  comboUnwrap: decodeFormExchange,
  comboConditionResolved: (t: Topics, d: string) => {
    requireTopics(t, 2);
    const result = uintArrayAt(d, 0);
    if (result.length !== OUTCOMES) throw new MalformedError('result is not of two outcomes');
    if (result.every((numerator) => numerator === 0n)) throw new MalformedError('result pays no outcome');
    return { conditionId: conditionTopic(t, 1), result };
  },
  comboMigrationRegistered: (t: Topics, d: string) => {
    const words = joinedWords(t, d);
    requireWords(words, 2);
    return { conditionId: conditionWord(words, 0), legacyConditionId: hashAt(words, wordPosition(1)) };
  },
  comboEventPrepared: (t: Topics, d: string) => {
    requireTopics(t, 2);
    requireWords(d, 2);
    return {
      eventId: eventTopic(t, 1),
      count: uint31At(d, wordPosition(0), 'question count'),
      legacyEventId: hashAt(d, wordPosition(1)),
    };
  },
  approvalForAll: (t: Topics, d: string) => {
    requireTopics(t, 3);
    requireWords(d, 1);
    return { account: topicAddress(t, 1), operator: topicAddress(t, 2), approved: boolWord(d, wordPosition(0)) };
  },
  erc20Approval: (t: Topics, d: string) => {
    requireTopics(t, 3);
    requireWords(d, 1);
    return { owner: topicAddress(t, 1), spender: topicAddress(t, 2), value: uint256At(d, wordPosition(0)) };
  },
} satisfies Partial<Record<EventName, (topics: Topics, data: string) => object>>;
