import { FatalError } from '../../../infra/errors.js';
import type { ImportedChainRow } from '../../../infra/import/format.js';
import type { Imported } from '../../shared/imported/open-imported.js';
import { blockHash, blockOfHash } from '../recorded/block-clock.js';
import type { ChainSource, Hex, HistoryRange, RpcLog, SourceBlock } from '../source.js';
import { rowLog } from './row-log.js';

const quantity = (value: number): Hex => `0x${value.toString(16)}`;
const day = (timeS: number): string => new Date(timeS * 1000).toISOString().slice(0, 10);

/** A block of rows of one block number, ascending log index. Its hash is derived from the number: exported rows have none. */
function blockOf(rows: readonly [ImportedChainRow, ...ImportedChainRow[]], imported: Imported): SourceBlock {
  const { block: number, time } = rows[0];
  const hash = blockHash(number);
  const transactions = new Map<string, number>();
  const logs = rows.map((row): RpcLog => {
    const index = transactions.get(row.tx) ?? transactions.size;
    transactions.set(row.tx, index);
    return {
      ...rowLog(row, imported.isNegRisk(row.condition)),
      blockNumber: quantity(number),
      blockHash: hash,
      transactionHash: row.tx as Hex,
      transactionIndex: quantity(index),
      logIndex: quantity(row.log),
      removed: false,
    };
  });
  return { number, hash, parentHash: blockHash(number - 1), timestampS: time, txCount: null, logs };
}

async function* blocksOf(imported: Imported, { fromBlock, toBlock }: HistoryRange): AsyncGenerator<SourceBlock> {
  let rows: [ImportedChainRow, ...ImportedChainRow[]] | null = null;
  for await (const row of imported.chainRows(fromBlock, toBlock)) {
    if (rows !== null && rows[0].block === row.block) rows.push(row);
    else {
      if (rows !== null) yield blockOf(rows, imported);
      rows = [row];
    }
  }
  if (rows !== null) yield blockOf(rows, imported);
}

/**
 * Chain source of exported files: their blocks at their own numbers and times, all of them final, and nothing after them. Later files may be added:
 * a log continues after its last block.
 */
export function createImportedChainSource(imported: Imported): ChainSource {
  const { chain, from_s, to_s } = imported.manifest;
  const first = chain[0]?.first_block;
  const last = chain.at(-1)?.last_block;
  if (first === undefined || last === undefined)
    throw new FatalError('The imported files have no rows of the chain: export trade_parties and import again');
  const description = `imported files: chain activity of ${day(from_s)} to ${day(to_s - 1)}`;
  const blockByNumber = async (number: number): Promise<SourceBlock | null> => {
    if (!Number.isSafeInteger(number) || number < first || number > last) return null;
    for await (const block of blocksOf(imported, { fromBlock: number, toBlock: number })) return block;
    return null;
  };
  return {
    mode: 'recorded',
    description,
    shiftDays: null,
    recordedFromMs: null,
    async historyRange(resumeFrom) {
      if (resumeFrom !== null && resumeFrom > last + 1)
        throw new FatalError(
          `The log ends with block ${resumeFrom - 1}, the imported files with ${last}: set ODDSTREAM_DATA to a directory of its own`,
        );
      const range = { fromBlock: resumeFrom ?? first, toBlock: last };
      return resumeFrom === null
        ? { ...range, blocksWithLogs: chain.reduce((total, { blocks }) => total + blocks, 0) }
        : range;
    },
    async *history(range, signal) {
      for await (const block of blocksOf(imported, range)) {
        if (signal.aborted) return;
        yield block;
      }
    },
    async *live(signal) {
      yield { type: 'connected', connected: true, detail: description };
      if (!signal.aborted) yield { type: 'finalized', number: last };
    },
    async blockByHash(hash) {
      const number = blockOfHash(hash);
      return number === null ? null : blockByNumber(number);
    },
    blockByNumber,
    finalizedNumber: async () => last,
    close: async () => undefined,
  };
}
