import type { NewRecord } from '../../infra/log/port.js';
import { type Codec, CodecError } from '../../schemas/codec.js';
import type { Trade } from '../../schemas/types.gen.js';
import type { ChainDecoder } from './decoder.js';
import type { Hex, SourceBlock } from './source.js';

/** A log nothing could be made of. */
export interface Refusal {
  readonly reason: string;
  readonly payload: string;
}

/** One block, decoded and encoded once for both topics: `facts` in log order, closed by `block`. */
export interface BlockRecords {
  readonly number: number;
  readonly hash: Hex;
  readonly parentHash: Hex;
  readonly timestampMs: number;
  /** false: no log of ours, so chain.final leaves the block out. */
  readonly hasLogs: boolean;
  readonly facts: readonly NewRecord[];
  /** Event ids of `facts`, same order. */
  readonly factIds: readonly string[];
  readonly block: NewRecord;
  readonly trades: readonly Trade[];
  readonly refusals: readonly Refusal[];
}

export type EncodeBlock = (block: SourceBlock) => BlockRecords;

/** Runs for every log of the history: no promises, one key per block. A fact the schema cannot hold becomes a refusal. */
export function createBlockEncoder(deps: { codec: Codec; decoder: ChainDecoder }): EncodeBlock {
  const { codec, decoder } = deps;
  return (block) => {
    const { events, problems } = decoder.decodeBlock(block);
    const key = String(block.number);
    const timestampMs = block.timestampS * 1000;
    const refusals: Refusal[] = problems.map(({ log, reason }) => ({ reason, payload: JSON.stringify(log) }));
    const facts: NewRecord[] = [];
    const factIds: string[] = [];
    const trades: Trade[] = [];
    let kept = events;
    for (const event of events) {
      let value: Buffer;
      try {
        value = codec.encode(event.kind, event.value);
      } catch (error) {
        if (!(error instanceof CodecError)) throw error;
        const index = event.value.log_index;
        const log = block.logs.find((candidate) => Number(candidate.logIndex) === index);
        refusals.push({ reason: error.message, payload: JSON.stringify(log ?? event.value.id) });
        kept = kept.filter((other) => other !== event);
        continue;
      }
      facts.push({ key, value, timestampMs });
      factIds.push(event.value.id);
      if (event.kind === 'trade') trades.push(event.value);
    }
    return {
      number: block.number,
      hash: block.hash,
      parentHash: block.parentHash,
      timestampMs,
      hasLogs: block.logs.length > 0,
      facts,
      factIds,
      block: { key, value: codec.encode('block', decoder.blockEvent(block, kept)), timestampMs },
      trades,
      refusals,
    };
  };
}
