import type { EventName } from '../event-abi.js';
import {
  bytesAt,
  hashAt,
  int256At,
  MalformedError,
  requireTopics,
  requireWords,
  topicAddress,
  topicHash,
  topicUint,
  uint31At,
  uint64At,
  uintArrayAt,
  wordCount,
  wordPosition,
} from './hex.js';

type Topics = readonly string[];

export function boolWord(data: string, position: number): boolean {
  const value = uint31At(data, position, 'bool');
  if (value > 1) throw new MalformedError('not a bool');
  return value === 1;
}

/** Topics after the first and data words as one text, for events whose leading arguments may or may not be indexed. */
export function joinedWords(topics: Topics, data: string): string {
  wordCount(data);
  let text = '0x';
  for (let i = 1; i < topics.length; i++) text += topicHash(topics, i).slice(2);
  return text + data.slice(2);
}

const question = (t: Topics, d: string) => {
  requireTopics(t, 2);
  requireWords(d, 0);
  return { questionID: topicHash(t, 1) };
};
const manual = (t: Topics, d: string) => {
  requireTopics(t, 2);
  return { questionID: topicHash(t, 1), payouts: uintArrayAt(d, 0) };
};

/** Decoders of the UMA adapters, the optimistic oracles and the NegRiskOperator; the contract of logDecoders applies. */
export const oracleLogDecoders = {
  questionInitialized: (t: Topics, d: string) => {
    requireTopics(t, 4);
    return { questionID: topicHash(t, 1), creator: topicAddress(t, 3), ancillaryData: bytesAt(d, 0) };
  },
  questionResolved: (t: Topics, d: string) => {
    requireTopics(t, 3);
    return {
      questionID: topicHash(t, 1),
      settledPrice: BigInt.asIntN(256, topicUint(t, 2)),
      payouts: uintArrayAt(d, 0),
    };
  },
  questionReset: question,
  questionFlagged: question,
  questionUnflagged: question,
  questionPaused: question,
  questionUnpaused: question,
  questionManuallyResolved: manual,
  questionEmergencyResolved: manual,

  operatorQuestionPrepared: (t: Topics, d: string) => {
    const words = joinedWords(t, d);
    const marketId = hashAt(words, wordPosition(0));
    const questionId = hashAt(words, wordPosition(1));
    if (!marketId.endsWith('00') || marketId.slice(0, 64) !== questionId.slice(0, 64)) {
      throw new MalformedError('question does not belong to the market');
    }
    uint31At(words, wordPosition(3), 'question index');
    // The last of five arguments: its head follows the arguments that are in topics.
    bytesAt(d, 5 - t.length);
    return { marketId, questionId, requestId: hashAt(words, wordPosition(2)) };
  },
  operatorQuestionReported: (t: Topics, d: string) => {
    const words = joinedWords(t, d);
    requireWords(words, 3);
    return {
      questionId: hashAt(words, wordPosition(0)),
      requestId: hashAt(words, wordPosition(1)),
      result: boolWord(words, wordPosition(2)),
    };
  },
  operatorQuestionEmergencyResolved: (t: Topics, d: string) => {
    const words = joinedWords(t, d);
    requireWords(words, 2);
    return { questionId: hashAt(words, wordPosition(0)), result: boolWord(words, wordPosition(1)) };
  },

  proposePrice: (t: Topics, d: string) => {
    requireTopics(t, 3);
    return {
      requester: topicAddress(t, 1),
      proposer: topicAddress(t, 2),
      ancillaryData: bytesAt(d, 2),
      proposedPrice: int256At(d, wordPosition(3)),
      expirationTimestamp: uint64At(d, wordPosition(4)),
    };
  },
  disputePrice: (t: Topics, d: string) => {
    requireTopics(t, 4);
    return {
      requester: topicAddress(t, 1),
      proposer: topicAddress(t, 2),
      disputer: topicAddress(t, 3),
      ancillaryData: bytesAt(d, 2),
      proposedPrice: int256At(d, wordPosition(3)),
    };
  },
  settle: (t: Topics, d: string) => {
    requireTopics(t, 4);
    return {
      requester: topicAddress(t, 1),
      proposer: topicAddress(t, 2),
      disputer: topicAddress(t, 3),
      ancillaryData: bytesAt(d, 2),
      price: int256At(d, wordPosition(3)),
    };
  },
} satisfies Partial<Record<EventName, (topics: Topics, data: string) => object>>;
