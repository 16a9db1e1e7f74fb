/**
 * Sources of chain data, in the JSON-RPC shape of a node (hex strings, lower case), so that the same decoders process a live node and a
 * recording.
 */

export type Hex = `0x${string}`;

/** A log as eth_getLogs returns it. `blockTimestamp` (seconds, hex) is present on newer nodes only. */
export interface RpcLog {
  readonly address: Hex;
  readonly topics: readonly Hex[];
  readonly data: Hex;
  readonly blockNumber: Hex;
  readonly blockHash: Hex;
  readonly transactionHash: Hex;
  readonly transactionIndex: Hex;
  readonly logIndex: Hex;
  readonly removed?: boolean;
}

/** Used fields of a transaction; pending ones have no block. */
export interface RpcTransaction {
  readonly hash: Hex;
  readonly from: Hex;
  readonly to: Hex | null;
  readonly input: Hex;
  readonly blockNumber?: Hex | null;
}

/** A block header with all logs of watched contracts in the block, ascending log index. */
export interface SourceBlock {
  readonly number: number;
  readonly hash: Hex;
  readonly parentHash: Hex;
  /** Unix seconds of the header. */
  readonly timestampS: number;
  /** All transactions of the block; null when the source did not fetch the header's list. */
  readonly txCount: number | null;
  readonly logs: readonly RpcLog[];
  /** No logs, though the bloom filter of the header admits them: a node answers so while it has not indexed the block yet. */
  readonly logsMayBeMissing?: boolean;
}

/** Event of the live feed. */
export type LiveEvent =
  | { readonly type: 'pending'; readonly transaction: RpcTransaction; readonly seenAtMs: number }
  /** A new canonical head. Blocks may be skipped or replaced: the head tracker closes gaps and finds reorgs by parent hash. */
  | { readonly type: 'head'; readonly block: SourceBlock; readonly seenAtMs: number }
  /**
   * The node's finalized tag advanced. `hash` is the node's hash of that block: a reader may only use its own block of that height when the
   * hashes are equal. Absent where the source never replaces a block.
   */
  | { readonly type: 'finalized'; readonly number: number; readonly hash?: Hex }
  | { readonly type: 'connected'; readonly connected: boolean; readonly detail: string };

export interface HistoryRange {
  readonly fromBlock: number;
  /** Inclusive. */
  readonly toBlock: number;
  /** Number of blocks that `history` will deliver, where the source knows that most of the range is empty; for progress only. */
  readonly blocksWithLogs?: number;
}

export interface ChainSource {
  readonly mode: 'live' | 'recorded';
  /** Human-readable: the node, or the recording and its time shift. */
  readonly description: string;
  /** Whole days added to recorded times during the live tail; null for a live node. */
  readonly shiftDays: number | null;
  /** Start of the recorded day being played (its own time); null for a live node. */
  readonly recordedFromMs: number | null;
  /**
   * First block for an empty log, and the last final block of the history. null: no history. The writer calls this again with the block
   * after its last one until `fromBlock > toBlock`.
   */
  historyRange(resumeFrom: number | null, signal: AbortSignal): Promise<HistoryRange | null>;
  /** Finalised blocks with logs of watched contracts, ascending; blocks without logs may be omitted. */
  history(range: HistoryRange, signal: AbortSignal): AsyncIterable<SourceBlock>;
  /** Live feed until the signal. Reconnects automatically. */
  live(signal: AbortSignal): AsyncIterable<LiveEvent>;
  /** Used for gaps and reorganisations. null when the node does not have the block (any more). */
  blockByHash(hash: Hex): Promise<SourceBlock | null>;
  blockByNumber(number: number): Promise<SourceBlock | null>;
  finalizedNumber(): Promise<number>;
  close(): Promise<void>;
}
