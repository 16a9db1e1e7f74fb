import type { ChainEvent } from '../../ingest/chain/decode/index.js';
import type { ChainDecoder } from '../../ingest/chain/decoder.js';
import type { ChainSource, Hex, HistoryRange, LiveEvent, RpcLog, SourceBlock } from '../../ingest/chain/source.js';
import type { Settlement, Trade } from '../../schemas/types.gen.js';

const hex = (value: number): Hex => `0x${value.toString(16)}`;
const wide = (prefix: string, value: number): Hex =>
  `0x${prefix}${value.toString(16).padStart(64 - prefix.length, '0')}`;
export const txHash = (value: number): Hex => wide('7', value);

/** One log of a scripted block: the transaction it belongs to; `bad` ones cannot be decoded. */
export interface ScriptedLog {
  readonly tx: number;
  readonly bad?: boolean;
}

/** A chain that grows, forks and finalizes on request. Orphaned blocks are deleted, as by a node that prunes at once. */
export class FakeNode {
  readonly blocks: SourceBlock[] = [];
  finalized = 0;
  private salt: number;

  /** Chains with different seeds have no common hash. */
  constructor(length = 1, seed = 0) {
    this.salt = seed * 1_000_000;
    for (let i = 0; i < length; i += 1) this.mine([]);
  }

  get tip(): SourceBlock {
    return this.blocks.at(-1)!;
  }

  mine(logs: readonly ScriptedLog[]): SourceBlock {
    this.salt += 1;
    const number = this.blocks.length;
    const hash = wide('b', this.salt);
    const block: SourceBlock = {
      number,
      hash,
      parentHash: this.blocks.at(-1)?.hash ?? wide('0', 0),
      timestampS: 1_700_000_000 + number * 2,
      txCount: logs.length,
      logs: logs.map(
        ({ tx, bad }, index): RpcLog => ({
          address: wide('e', 1),
          topics: [],
          data: bad === true ? '0xbad' : '0x',
          blockNumber: hex(number),
          blockHash: hash,
          transactionHash: txHash(tx),
          transactionIndex: hex(index),
          logIndex: hex(index * 3),
        }),
      ),
    };
    this.blocks.push(block);
    return block;
  }

  /** Replace the newest `depth` blocks; never a finalised one. */
  fork(depth: number): number {
    const removed = Math.min(depth, this.blocks.length - 1 - this.finalized);
    this.blocks.length -= removed;
    return removed;
  }

  byHash = async (hash: Hex): Promise<SourceBlock | null> => this.blocks.find((block) => block.hash === hash) ?? null;
  byNumber = async (number: number): Promise<SourceBlock | null> => this.blocks[number] ?? null;

  async *history(range: HistoryRange): AsyncIterable<SourceBlock> {
    for (let number = range.fromBlock; number <= range.toBlock; number += 1) {
      const block = this.blocks[number]!;
      if (block.logs.length > 0) yield block;
    }
  }
}

/** A live source over a FakeNode; the test sends its events. */
export function createFakeSource(node: FakeNode, options: { startBlock?: number } = {}) {
  const queue: LiveEvent[] = [];
  let wake: () => void = () => undefined;
  const source: ChainSource = {
    mode: 'live',
    description: 'scripted node',
    shiftDays: null,
    recordedFromMs: null,
    historyRange: async (resumeFrom) => ({
      fromBlock: resumeFrom ?? options.startBlock ?? 0,
      toBlock: node.finalized,
    }),
    history: (range) => node.history(range),
    async *live(signal) {
      signal.addEventListener('abort', () => wake(), { once: true });
      while (!signal.aborted) {
        const event = queue.shift();
        if (event !== undefined) yield event;
        else
          await new Promise<void>((resolve) => {
            wake = resolve;
          });
      }
    },
    blockByHash: node.byHash,
    blockByNumber: node.byNumber,
    finalizedNumber: async () => node.finalized,
    close: async () => undefined,
  };
  return {
    source,
    send(event: LiveEvent) {
      queue.push(event);
      wake();
    },
  };
}

const trade = (block: SourceBlock, log: RpcLog): Trade => ({
  id: `${log.transactionHash}-${Number(log.logIndex)}`,
  block_number: block.number,
  block_hash: block.hash,
  timestamp_ms: block.timestampS * 1000,
  tx_hash: log.transactionHash,
  log_index: Number(log.logIndex),
  exchange: '0xe0',
  exchange_version: 2,
  neg_risk: false,
  order_hash: `0xo${Number(log.logIndex)}`,
  maker: `0xmaker${Number(log.logIndex)}`,
  taker: '0xtaker',
  is_taker_order: false,
  side: 'BUY',
  token_id: '9001',
  usdc: 400_000n,
  shares: 1_000_000n,
  maker_asset_id: '0',
  taker_asset_id: '9001',
  maker_amount: 400_000n,
  taker_amount: 1_000_000n,
  fee: 0n,
  fee_shares: 0n,
  builder: null,
});

const settlement = (tx: string, seenAtMs: number): Settlement => ({
  id: `settlement-${tx}`,
  tx_hash: tx,
  detected_at_ms: seenAtMs,
  exchange: '0xe0',
  exchange_version: 2,
  neg_risk: false,
  condition_id: null,
  combo_legs: null,
  taker_wallet: '0xtaker',
  taker_token: '9001',
  taker_side: 'BUY',
  taker_usdc: 400_000n,
  taker_shares: 1_000_000n,
  taker_fee: 0n,
  trades: [],
});

/** Decodes every log to a fill of its transaction; calldata `0xbad` is a decoding problem, `0x` is not of the venue. */
export const fakeDecoder: ChainDecoder = {
  decodeBlock(block) {
    const events: ChainEvent[] = [];
    const problems: { log: RpcLog; reason: string }[] = [];
    for (const log of block.logs) {
      if (log.data === '0xbad') problems.push({ log, reason: 'scripted as bad' });
      else events.push({ kind: 'trade', value: trade(block, log) });
    }
    return { events, problems, contracts: [] };
  },
  blockEvent: (block, events) => ({
    id: `block-${block.number}`,
    block_number: block.number,
    block_hash: block.hash,
    parent_hash: block.parentHash,
    timestamp_ms: block.timestampS * 1000,
    tx_count: block.txCount,
    polymarket_tx_count: new Set(events.map((event) => event.value.tx_hash)).size,
    settlement_count: 0,
    trade_volume: 0n,
    contracts: null,
  }),
  decodePending(transaction, seenAtMs) {
    if (transaction.input === '0x') return null;
    if (transaction.input === '0xbad') return { problem: 'scripted as bad' };
    return { settlement: settlement(transaction.hash, seenAtMs) };
  },
};
