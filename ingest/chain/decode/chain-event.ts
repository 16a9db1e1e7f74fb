import type { EventOf } from '../../../schemas/codec.js';
import type { topics } from '../../../schemas/topics.js';
import type { SourceBlock } from '../source.js';

/** What a block says, one by one: every kind of chain.final but the block record itself. */
export type ChainEvent = EventOf<Exclude<(typeof topics.chainFinal.kinds)[number], 'block'>>;

/** Fields every fact shares. */
export interface EventHeader {
  readonly id: string;
  readonly block_number: number;
  readonly block_hash: string;
  readonly timestamp_ms: number;
  readonly tx_hash: string;
  readonly log_index: number;
}

/** Places a fact: id is `txHash-logIndex`, plus a suffix where one log makes several facts. */
export function eventHeader(block: SourceBlock, txHash: string, logIndex: number, suffix = ''): EventHeader {
  return {
    id: `${txHash}-${logIndex}${suffix}`,
    block_number: block.number,
    block_hash: block.hash,
    timestamp_ms: block.timestampS * 1000,
    tx_hash: txHash,
    log_index: logIndex,
  };
}
