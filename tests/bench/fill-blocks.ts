import type { Hex, RpcLog, SourceBlock } from '../../ingest/chain/source.js';

const EXCHANGE_V2: Hex = '0xe111180000d2663c0091e4f400237545b87b996b';
const ORDER_FILLED_V2: Hex = '0xd543adfd945773f1a62f74f0ee55a5e3b9b1a28262980ba90b1a89f2ea84d8ee';
/** Per transaction: three maker fills and the taker's. */
const FILLS_PER_TRANSACTION = 4;
const TRANSACTIONS_PER_BLOCK = 20;
export const FILLS_PER_BLOCK = FILLS_PER_TRANSACTION * TRANSACTIONS_PER_BLOCK;

const WALLETS = 20_000;
const TOKENS = 3_000;

const word = (value: bigint | number): string => BigInt(value).toString(16).padStart(64, '0');
const seeds = { block: 0, order: 1_000_000_000, transaction: 2_000_000_000 };

/** 32 bytes of a serial number that compress as little as a real hash. */
function hash(kind: keyof typeof seeds, serial: number): Hex {
  let state = seeds[kind] + serial;
  let digits = '';
  for (let word = 0; word < 8; word++) {
    state = (state + 0x9e3779b9) | 0;
    let mixed = Math.imul(state ^ (state >>> 16), 0x85ebca6b);
    mixed = Math.imul(mixed ^ (mixed >>> 13), 0xc2b2ae35);
    digits += ((mixed ^ (mixed >>> 16)) >>> 0).toString(16).padStart(8, '0');
  }
  return `0x${digits}`;
}
/** Deterministic hash of a serial number to [0, modulo). */
const spread = (serial: number, modulo: number): number => (serial * 2_654_435_761) % modulo;
const wallet = (n: number): string => word((0xa11cen << 100n) + BigInt(n) * 0x9e3779b97f4a7c15n);
const token = (n: number): string => word((BigInt(n) + 1n) * 0x9e3779b97f4a7c15f39cc0605cedc834_1082276bf3a27251n);

function fillLog(block: number, index: number): RpcLog {
  const transaction = block * TRANSACTIONS_PER_BLOCK + Math.floor(index / FILLS_PER_TRANSACTION);
  const serial = block * FILLS_PER_BLOCK + index;
  const isTakerFill = index % FILLS_PER_TRANSACTION === FILLS_PER_TRANSACTION - 1;
  const taker = wallet(spread(transaction, WALLETS));
  const maker = isTakerFill ? taker : wallet(spread(serial, WALLETS));
  const shares = 1_000_000 + spread(serial, 500_000_000);
  const usdc = Math.floor((shares * (1 + spread(transaction, 98))) / 100);
  const sell = spread(serial, 3) === 0;
  return {
    address: EXCHANGE_V2,
    topics: [
      ORDER_FILLED_V2,
      hash('order', serial),
      `0x${maker}`,
      `0x${isTakerFill ? EXCHANGE_V2.slice(2).padStart(64, '0') : taker}`,
    ],
    data: `0x${[
      word(sell ? 1 : 0),
      token(spread(transaction, TOKENS)),
      word(sell ? shares : usdc),
      word(sell ? usdc : shares),
      word(0),
      word(0),
      word(0),
    ].join('')}`,
    blockNumber: `0x${block.toString(16)}`,
    blockHash: hash('block', block),
    transactionHash: hash('transaction', transaction),
    transactionIndex: `0x${Math.floor(index / FILLS_PER_TRANSACTION).toString(16)}`,
    logIndex: `0x${index.toString(16)}`,
  };
}

/** A synthetic block in the node's format: 20 matches of 3 makers each on exchange V2, over 20,000 wallets and 3,000 tokens. */
export function fillBlock(number: number): SourceBlock {
  return {
    number,
    hash: hash('block', number),
    parentHash: hash('block', number - 1),
    timestampS: 1_790_000_000 + number * 2,
    txCount: TRANSACTIONS_PER_BLOCK,
    logs: Array.from({ length: FILLS_PER_BLOCK }, (_, index) => fillLog(number, index)),
  };
}
