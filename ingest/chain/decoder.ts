import type { Block, Settlement } from '../../schemas/types.gen.js';

import type { ChainEvent } from './decode/index.js';
import type { RpcLog, RpcTransaction, SourceBlock } from './source.js';

/** Decoder interface of the writers. Pure and synchronous; invalid input is returned as a problem, never thrown. */
export interface ChainDecoder {
  /** Facts ascending by log index (batch members by batch index). */
  decodeBlock(block: SourceBlock): {
    readonly events: readonly ChainEvent[];
    readonly problems: readonly { readonly log: RpcLog; readonly reason: string }[];
    /** Logs that are decoded, by contract. */
    readonly contracts: readonly { readonly address: string; readonly logs: number; readonly decoded: number }[];
  };
  blockEvent(block: SourceBlock, events: readonly ChainEvent[]): Block;
  /** null: not a settlement of a watched exchange. */
  decodePending(
    transaction: RpcTransaction,
    seenAtMs: number,
  ): { readonly settlement: Settlement } | { readonly problem: string } | null;
}
