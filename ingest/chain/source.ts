/**
 * What a source of chain data delivers, in the node's own JSON-RPC shape (hex strings, lower case), so that the same decoders run on a
 * live node and on a recording.
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

/** The transaction fields we use; pending ones have no block. */
export interface RpcTransaction {
  readonly hash: Hex;
  readonly from: Hex;
  readonly to: Hex | null;
  readonly input: Hex;
  readonly blockNumber?: Hex | null;
}

/** A block header with every log of ours in it, ascending log index. */
export interface SourceBlock {
  readonly number: number;
  readonly hash: Hex;
  readonly parentHash: Hex;
  /** Unix seconds, as the header has it. */
  readonly timestampS: number;
  /** All transactions of the block; null when the source did not fetch the header's list. */
  readonly txCount: number | null;
  readonly logs: readonly RpcLog[];
}

/** What happens at the head, as it happens. */
export type LiveEvent =
  | { readonly type: 'pending'; readonly transaction: RpcTransaction; readonly seenAtMs: number }
  /** A new canonical head. Blocks may be skipped or replaced: the head tracker closes gaps and finds reorgs by parent hash. */
  | { readonly type: 'head'; readonly block: SourceBlock; readonly seenAtMs: number }
  /**
   * The node's finalized tag moved up. `hash` is the block the node means: a reader may only use what it holds of that height when the
   * hashes agree. Absent where the source never replaces a block.
   */
  | { readonly type: 'finalized'; readonly number: number; readonly hash?: Hex }
  | { readonly type: 'connected'; readonly connected: boolean; readonly detail: string };

export interface HistoryRange {
  readonly fromBlock: number;
  /** Inclusive. */
  readonly toBlock: number;
  /** How many blocks `history` will give, where the source knows that most of the range is empty; for progress only. */
  readonly blocksWithLogs?: number;
}

export interface ChainSource {
  readonly mode: 'live' | 'recorded';
  /** For people: which node, or which recording and how it is shifted. */
  readonly description: string;
  /** Whole days added to recorded times during the live tail; null for a live node. */
  readonly shiftDays: number | null;
  /** Start of the recorded day being played (its own time); null for a live node. */
  readonly recordedFromMs: number | null;
  /**
   * Where a fresh log starts and up to where the history is final now. null: no history. The writer asks again with the block after its
   * last one until `fromBlock > toBlock`.
   */
  historyRange(resumeFrom: number | null, signal: AbortSignal): Promise<HistoryRange | null>;
  /** Finalised blocks that hold logs of ours, ascending; blocks without any may be left out. */
  history(range: HistoryRange, signal: AbortSignal): AsyncIterable<SourceBlock>;
  /** The head, until the signal. Reconnects by itself. */
  live(signal: AbortSignal): AsyncIterable<LiveEvent>;
  /** For gaps and reorgs. null when the node does not have it (any more). */
  blockByHash(hash: Hex): Promise<SourceBlock | null>;
  blockByNumber(number: number): Promise<SourceBlock | null>;
  finalizedNumber(): Promise<number>;
  close(): Promise<void>;
}
