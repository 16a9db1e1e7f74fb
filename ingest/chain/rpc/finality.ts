import type { Logger } from '../../../infra/telemetry/logger.js';
import type { Hex } from '../source.js';
import type { BlockReader, Header } from './blocks.js';
import { classifyRpcError, RpcError } from './rpc-error.js';

export interface FinalizedBlock {
  readonly number: number;
  readonly hash: Hex;
}

/**
 * Reads the node's finalised block. Only a node that never knew the tag (rejects it or returns null) gets `head - depth`; when a request
 * fails otherwise, the last known block remains valid.
 */
export interface Finality {
  /** null: no finalised block is known. */
  read(headNumber: number): Promise<FinalizedBlock | null>;
}

export function createFinality(deps: {
  reader: Pick<BlockReader, 'header'>;
  /** Set once the node has had a finalised block. */
  network: { hasFinalizedTag: boolean };
  fallbackDepth: number;
  logger: Logger;
}): Finality {
  const { reader, network, logger, fallbackDepth } = deps;
  let warned = false;
  const behindHead = async (headNumber: number): Promise<Header | null> => {
    if (!warned) {
      warned = true;
      logger.warn({ depth: fallbackDepth }, 'the node does not know the finalized tag; using head minus a fixed depth');
    }
    return reader.header(Math.max(0, headNumber - fallbackDepth));
  };
  return {
    async read(headNumber) {
      let header: Header | null;
      try {
        header = await reader.header('finalized');
      } catch (error) {
        if (network.hasFinalizedTag || classifyRpcError(error).kind !== 'rejected') throw error;
        header = null;
      }
      if (header !== null && header.number > headNumber)
        throw new RpcError(`The node's finalised block ${header.number} is ahead of its head ${headNumber}`);
      if (header !== null) network.hasFinalizedTag = true;
      else if (!network.hasFinalizedTag) header = await behindHead(headNumber);
      return header === null ? null : { number: header.number, hash: header.hash };
    },
  };
}
