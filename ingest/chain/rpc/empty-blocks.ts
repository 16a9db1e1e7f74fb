import { pause } from '../../shared/pause.js';
import type { SourceBlock } from '../source.js';
import type { BlockReader, Header } from './blocks.js';
import type { BlockRange } from './log-ranges.js';
import { RpcError } from './rpc-error.js';

export interface EmptyBlockOptions {
  /** Blocks up to the end of a history whose empty answers are checked. */
  readonly newestBlocks: number;
  /** Reads of a block that stays empty, though its header admits logs. */
  readonly attempts: number;
  /** Pause after the first of them; after attempt n, n times as long. */
  readonly pauseMs: number;
}

const emptyBlockDefaults: EmptyBlockOptions = { newestBlocks: 128, attempts: 3, pauseMs: 500 };

/** Blocks that are read at once. */
const READS_AT_ONCE = 8;

/**
 * Returns a function that completes a range that was read from a history up to `lastBlock`. Of a range beyond its head or its index, a node
 * sends the logs it has, and behind a shared address nothing proves that the node that sent the header of the last block also sent the logs.
 * So a block near `lastBlock` is empty only if its header says so, or if it is also empty when read by hash, which a node that lacks it rejects.
 * A header may admit logs that do not exist: a block that stays empty for the attempts is empty.
 */
export function createEmptyBlockCheck(deps: {
  reader: Pick<BlockReader, 'byHash' | 'admitting'>;
  retry: <T>(what: string, attempt: () => Promise<T>, signal: AbortSignal) => Promise<T>;
  options?: Partial<EmptyBlockOptions>;
}): (range: BlockRange, lastBlock: number, signal: AbortSignal) => Promise<readonly SourceBlock[]> {
  const { reader, retry } = deps;
  const options = { ...emptyBlockDefaults, ...deps.options };

  const read = ({ number, hash }: Header, signal: AbortSignal): Promise<SourceBlock> =>
    retry(
      `block ${number}`,
      async () => {
        const block = await reader.byHash(hash);
        if (block === null) throw new RpcError(`The node does not have block ${number} (${hash}) yet`);
        return block;
      },
      signal,
    );

  return async ({ fromBlock, toBlock, blocks }, lastBlock, signal) => {
    const known = new Set(blocks.map(({ number }) => number));
    const empty: number[] = [];
    for (let number = Math.max(fromBlock, lastBlock - options.newestBlocks + 1); number <= toBlock; number += 1)
      if (!known.has(number)) empty.push(number);
    let suspects = await retry('headers of empty blocks', () => reader.admitting(empty), signal);
    const found: SourceBlock[] = [];
    for (let attempt = 1; suspects.length > 0 && !signal.aborted; attempt += 1) {
      const still: Header[] = [];
      for (let at = 0; at < suspects.length; at += READS_AT_ONCE) {
        const some = suspects.slice(at, at + READS_AT_ONCE);
        const answers = await Promise.all(some.map((header) => read(header, signal)));
        for (const [index, block] of answers.entries()) {
          if (block.logs.length > 0) found.push(block);
          else if (block.logsMayBeMissing === true) still.push(some[index]!);
        }
      }
      suspects = still;
      if (attempt === options.attempts || suspects.length === 0) break;
      await pause(options.pauseMs * attempt, signal);
    }
    return found.length === 0 ? blocks : [...blocks, ...found].sort((a, b) => a.number - b.number);
  };
}
