import type { Hex, RpcLog, SourceBlock } from '../source.js';
import { blockHash, timeOfBlock } from './block-clock.js';

/** A number as a 32-byte word, without `0x`. */
export const word = (value: number | bigint): string => value.toString(16).padStart(64, '0');
/** An address as a 32-byte word, without `0x`. */
export const addressWord = (address: Hex): string => `000000000000000000000000${address.slice(2)}`;
/** An address as a topic. */
export const addressTopic = (address: Hex): Hex => `0x${addressWord(address)}`;

export const ZERO_WORD = '0'.repeat(64);
export const ZERO_TOPIC: Hex = `0x${ZERO_WORD}`;

/** Collects the logs of one block in order and numbers them like a node. */
export interface LogSink {
  /** Logs added from now on belong to this transaction. */
  transaction(hash: Hex): void;
  add(address: Hex, topics: readonly Hex[], data: Hex): void;
  block(): SourceBlock;
}

export function createLogSink(number: number): LogSink {
  const logs: RpcLog[] = [];
  const blockNumber: Hex = `0x${number.toString(16)}`;
  const hash = blockHash(number);
  let transactionHash: Hex = ZERO_TOPIC;
  let transactionIndex: Hex = '0x0';
  let transactions = 0;
  return {
    transaction(of) {
      transactionHash = of;
      transactionIndex = `0x${transactions.toString(16)}`;
      transactions += 1;
    },
    add(address, topics, data) {
      logs.push({
        address,
        topics,
        data,
        blockNumber,
        blockHash: hash,
        transactionHash,
        transactionIndex,
        logIndex: `0x${logs.length.toString(16)}`,
        removed: false,
      });
    },
    block: () => ({
      number,
      hash,
      parentHash: blockHash(number - 1),
      timestampS: timeOfBlock(number),
      txCount: null,
      logs,
    }),
  };
}
