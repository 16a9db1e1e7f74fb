import { blockEvent } from '../../ingest/chain/decode/index.js';
import type { Hex, SourceBlock } from '../../ingest/chain/source.js';
import type { AnyEvent } from '../../schemas/codec.js';

const hashOf = (number: number): Hex => `0x${number.toString(16).padStart(64, '0')}`;

/** The record that ends a block without transactions. */
export const blockAt = ([number, timestampMs]: readonly [number, number]): AnyEvent => {
  const timestampS = timestampMs / 1000;
  const block: SourceBlock = {
    ...{ number, hash: hashOf(number), parentHash: hashOf(number - 1) },
    ...{ timestampS, txCount: 0, logs: [] },
  };
  return { kind: 'block', value: blockEvent(block, []) };
};
