import { settlementCalldata, settlementOf } from '../../ingest/chain/recorded/settlement.js';
import type { ChainSource, Hex, LiveEvent, RpcLog, SourceBlock } from '../../ingest/chain/source.js';

/**
 * Order in which a node delivers the same number of events per second:
 * - `blocks`: a block every 2 s with all of its fills, as the chain has them.
 * - `pending`: each settlement alone when it enters the mempool, and every 2 s the block with their fills.
 * - `small blocks`: many blocks of five fills.
 */
export const shapes = ['blocks', 'pending', 'small blocks'] as const;
export type Shape = (typeof shapes)[number];
/** Frames whose latency a shape measures. */
export const measuredType = (shape: Shape) => (shape === 'pending' ? 'settlement' : 'trade');

const BLOCK_INTERVAL_MS = 2_000;
const SMALL_BLOCK_FILLS = 5;
/** Blocks between the head and the finalized block. */
const FINALITY_BLOCKS = { blocks: 1, pending: 1, 'small blocks': 8 } as const satisfies Record<Shape, number>;
const FIRST_BLOCK = 90_000_000;
/** Blocks that `blockByHash` and `blockByNumber` can return: as many logs as the head tracker may drop, and more. */
const KEPT_LOGS = 200_000;
const EXCHANGE_V2: Hex = '0xe111180000d2663c0091e4f400237545b87b996b';
const ORDER_FILLED_V2: Hex = '0xd543adfd945773f1a62f74f0ee55a5e3b9b1a28262980ba90b1a89f2ea84d8ee';

const word = (value: bigint | number) => BigInt(value).toString(16).padStart(64, '0');
const hash = (prefix: string, value: number): Hex =>
  `0x${prefix}${value.toString(16).padStart(64 - prefix.length, '0')}`;
const address = (value: number): Hex => `0x${value.toString(16).padStart(40, '0')}`;
const transactionHash = (serial: number) => hash('7e', serial);
const hex = (value: number): Hex => `0x${value.toString(16)}`;

function fill(block: number, index: number, serial: number): RpcLog {
  return {
    address: EXCHANGE_V2,
    topics: [ORDER_FILLED_V2, hash('0d', serial), `0x${word(0xa11ce + (serial % 500))}`, `0x${word(0xb0b)}`],
    data: `0x${[0, 777 + (serial % 50), 5_000_000, 10_000_000, 0, 0, 0].map(word).join('')}`,
    blockNumber: hex(block),
    blockHash: hash('bb', block),
    transactionHash: transactionHash(serial),
    transactionIndex: hex(index),
    logIndex: hex(index),
  };
}

/** matchOrders calldata of one maker and one taker for token 777 + `n`. */
function calldata(n: number): Hex {
  const party = (seed: number) => ({
    address: address(seed),
    topic: hash('', seed),
    word: word(seed),
    signerWord: word(seed + 1),
    signer: address(seed + 1),
  });
  const order = { usdc: 5_000_000, shares: 10_000_000, outcome: 0 };
  const match = {
    kind: 'match' as const,
    market: 0,
    makers: [{ ...order, party: party(0xa11ce + n), side: 1 }],
    taker: { ...order, party: party(0xb0b), side: 0 },
    takerFee: 0,
  };
  const market = {
    conditionId: hash('cc', n),
    tokenWords: [word(777 + n), word(100_777 + n)] as const,
    negRisk: false,
  };
  return settlementCalldata(settlementOf(match, market, hash('5e', n), 1_790_000_000, false, 0));
}

export interface LatencySource extends ChainSource {
  /** Transactions that left the source. */
  readonly emitted: number;
  /** Blocks that were announced as finalized with the time (performance.now) of the announcement, oldest first. */
  readonly finalizedBlocks: { readonly number: number; readonly atMs: number }[];
}

/**
 * Events at a constant rate from `ready` until `stopped`. `emittedAt` receives the time (performance.now) at which each measured transaction left the
 * source. An overloaded consumer of the iterable delays the events: they keep the time at which they were due.
 */
export function createLatencySource(options: {
  shape: Shape;
  eventsPerSecond: number;
  emittedAt: Map<string, number>;
  ready: () => boolean;
  stopped: () => boolean;
}): LatencySource {
  const { shape, eventsPerSecond, emittedAt } = options;
  const finalizedBlocks: { number: number; atMs: number }[] = [];
  const kept = new Map<number, SourceBlock>();
  let keptLogs = 0;
  let oldestKept = FIRST_BLOCK;
  let emitted = 0;
  let number = FIRST_BLOCK;
  /** Fills that are in a block. */
  let mined = 0;

  const mine = (fills: number): SourceBlock => {
    const block: SourceBlock = {
      number,
      hash: hash('bb', number),
      parentHash: hash('bb', number - 1),
      timestampS: Math.floor(Date.now() / 1000),
      txCount: fills,
      logs: Array.from({ length: fills }, (_, index) => fill(number, index, mined + index)),
    };
    mined += fills;
    number += 1;
    kept.set(block.number, block);
    keptLogs += fills + 1;
    for (let old = kept.get(oldestKept); old !== undefined && keptLogs > KEPT_LOGS; old = kept.get(oldestKept)) {
      kept.delete(oldestKept);
      oldestKept += 1;
      keptLogs -= old.logs.length + 1;
    }
    return block;
  };
  let turnMs = performance.now();
  /** Also when late, I/O runs at least every millisecond, as between the messages of a socket. */
  const waitUntil = async (dueMs: number) => {
    const nowMs = performance.now();
    if (dueMs > nowMs) await new Promise((resolve) => setTimeout(resolve, dueMs - nowMs));
    else if (nowMs - turnMs < 1) return;
    else await new Promise((resolve) => setImmediate(resolve));
    turnMs = performance.now();
  };
  const head = function* (block: SourceBlock, dueMs: number): Generator<LiveEvent> {
    if (shape !== 'pending') for (const log of block.logs) emittedAt.set(log.transactionHash, dueMs);
    if (shape !== 'pending') emitted += block.logs.length;
    yield { type: 'head', block, seenAtMs: Date.now() };
    const final = block.number - FINALITY_BLOCKS[shape];
    if (final <= FIRST_BLOCK || (shape === 'small blocks' && final % FINALITY_BLOCKS[shape] !== 0)) return;
    finalizedBlocks.push({ number: final, atMs: performance.now() });
    yield { type: 'finalized', number: final, hash: hash('bb', final) };
  };
  const blocks = async function* (fills: number): AsyncGenerator<LiveEvent> {
    const began = performance.now();
    for (let n = 1; !options.stopped(); n++) {
      const dueMs = began + (n * fills * 1000) / eventsPerSecond;
      // Made beforehand: a node's block exists when it is announced.
      const block = mine(fills);
      await waitUntil(dueMs);
      if (options.stopped()) return;
      yield* head(block, dueMs);
    }
  };
  const pending = async function* (): AsyncGenerator<LiveEvent> {
    const inputs = Array.from({ length: 50 }, (_, n) => calldata(n));
    const began = performance.now();
    let nextBlockMs = began + BLOCK_INTERVAL_MS;
    for (let n = 0; !options.stopped(); n++) {
      const dueMs = began + (n * 1000) / eventsPerSecond;
      await waitUntil(dueMs);
      if (options.stopped()) break;
      const transaction = { hash: transactionHash(n), from: address(0xb0b), to: EXCHANGE_V2, input: inputs[n % 50]! };
      emittedAt.set(transaction.hash, dueMs);
      emitted += 1;
      yield { type: 'pending', transaction, seenAtMs: Date.now() };
      if (performance.now() < nextBlockMs) continue;
      nextBlockMs += BLOCK_INTERVAL_MS;
      yield* head(mine(n + 1 - mined), performance.now());
    }
    if (emitted > mined) yield* head(mine(emitted - mined), performance.now());
  };

  return {
    mode: 'live',
    description: 'latency benchmark',
    shiftDays: null,
    recordedFromMs: null,
    historyRange: async () => null,
    // biome-ignore lint/correctness/useYield: this source has no history
    history: async function* () {
      return;
    },
    live: async function* (signal): AsyncGenerator<LiveEvent> {
      while (!options.ready()) await new Promise((resolve) => setTimeout(resolve, 50));
      if (shape === 'pending') yield* pending();
      else
        yield* blocks(
          shape === 'blocks' ? Math.round((eventsPerSecond * BLOCK_INTERVAL_MS) / 1000) : SMALL_BLOCK_FILLS,
        );
      // A live source ends by its signal.
      if (!signal.aborted) await new Promise<void>((resolve) => signal.addEventListener('abort', () => resolve()));
    },
    blockByHash: async (wanted) => kept.get(Number(`0x${wanted.slice(4)}`)) ?? null,
    blockByNumber: async (wanted) => kept.get(wanted) ?? null,
    finalizedNumber: async () => FIRST_BLOCK,
    close: async () => undefined,
    get emitted() {
      return emitted;
    },
    finalizedBlocks,
  };
}
