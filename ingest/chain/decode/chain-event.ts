import type { EventOf } from '../../../schemas/codec.js';
import type { topics } from '../../../schemas/topics.js';
import type { SourceBlock } from '../source.js';

/** Decoded event of a block: every kind of chain.final except the block record. */
export type ChainEvent = EventOf<Exclude<(typeof topics.chainFinal.kinds)[number], 'block'>>;

/** Fields that all events share. */
export interface EventHeader {
  readonly id: string;
  readonly block_number: number;
  readonly block_hash: string;
  readonly timestamp_ms: number;
  readonly tx_hash: string;
  readonly log_index: number;
}

/** Common fields of an event. The id is `txHash-logIndex`, with a suffix where one log yields several events. */
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
