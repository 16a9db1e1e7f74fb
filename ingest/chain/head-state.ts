import { oldestTenth } from '../../schemas/primitives/oldest.js';
import type { Hex } from './source.js';

/** A settlement seen in the mempool and not yet in a block. */
export interface PendingSettlement {
  readonly txHash: string;
  readonly detectedAtMs: number;
  readonly takerWallet: string;
  readonly takerToken: string;
  /** USDC in base units; null if only a record of an older version has the settlement. */
  readonly takerUsdc: bigint | null;
}

/** A canonical block of chain.head. */
export interface TailBlock {
  readonly number: number;
  readonly hash: Hex;
  /** Transactions with fills: a settlement that is detected after its block is not sent. */
  readonly settledTxs: readonly string[];
  /** Settlements confirmed by this block; they are pending again when it is retracted. */
  readonly confirmed: readonly PendingSettlement[];
}

/** Events of a block without its block record: the process died between the two writes. */
export interface IncompleteBlock {
  readonly number: number;
  readonly hash: Hex;
  readonly ids: ReadonlySet<string>;
}

/**
 * State of the head tracker: the canonical tail and the pending settlements. The same four steps change it, whether they come from the node
 * or, after a restart, from chain.head.
 */
export interface HeadState {
  tip(): TailBlock | undefined;
  lowest(): TailBlock | undefined;
  byHash(hash: string): TailBlock | undefined;
  byNumber(number: number): TailBlock | undefined;
  /** Returns false when the settlement is pending already or its block is in the tail. */
  addPending(pending: PendingSettlement, nowMs: number): boolean;
  pending(txHash: string): PendingSettlement | undefined;
  /** Appends a block. The settlements in `confirmed` are no longer pending. */
  push(block: TailBlock): void;
  /** Removes every block from `fromNumber` up and returns them ascending. Their settlements are pending again. */
  rollback(fromNumber: number, nowMs: number): TailBlock[];
  /** Reports the node's finalised block. Takes effect once the tail contains a block with that hash. */
  finalize(number: number, hash: Hex | undefined): void;
  /** Highest final block number of the tail, or -1. */
  finalNumber(): number;
  /** Clears the tail (after a gap too wide to fill) and keeps pending settlements. */
  reset(): void;
  /** Removes settlements that are pending longer than the limit; returns their number. */
  expire(nowMs: number): number;
  readonly pendingCount: number;
  readonly tailLength: number;
}

export function createHeadState(options: {
  pendingTtlMs: number;
  maxPending: number;
  /** Number of blocks kept below the finalised block, for late settlements. */
  keepFinal: number;
  /** Maximum length of the tail, for an endless finality stall. */
  maxTail: number;
}): HeadState {
  let tail: TailBlock[] = [];
  const hashes = new Map<string, TailBlock>();
  const settled = new Map<string, number>();
  const waiting = new Map<string, { readonly pending: PendingSettlement; readonly deadlineMs: number }>();
  let reportedFinal: { number: number; hash: Hex | undefined } | null = null;
  let final = -1;

  const byNumber = (number: number): TailBlock | undefined => {
    let low = 0;
    let high = tail.length - 1;
    while (low <= high) {
      const middle = (low + high) >>> 1;
      const block = tail[middle]!;
      if (block.number === number) return block;
      if (block.number < number) low = middle + 1;
      else high = middle - 1;
    }
    return undefined;
  };
  const unindex = (block: TailBlock) => {
    hashes.delete(block.hash);
    for (const tx of block.settledTxs) if (settled.get(tx) === block.number) settled.delete(tx);
  };
  const settleFinality = () => {
    if (reportedFinal === null) return;
    const { number, hash } = reportedFinal;
    const inTail = hash === undefined ? (tail.at(-1)?.number ?? -1) >= number : byNumber(number)?.hash === hash;
    if (!inTail) return;
    final = Math.max(final, number);
    reportedFinal = null;
    let drop = 0;
    while (drop < tail.length - 1 && tail[drop]!.number < final - options.keepFinal) drop += 1;
    if (drop >= options.keepFinal) for (const block of tail.splice(0, drop)) unindex(block);
  };
  const addWaiting = (pending: PendingSettlement, nowMs: number) => {
    waiting.set(pending.txHash, { pending, deadlineMs: nowMs + options.pendingTtlMs });
  };

  return {
    tip: () => tail.at(-1),
    lowest: () => tail[0],
    byHash: (hash) => hashes.get(hash),
    byNumber,
    addPending(pending, nowMs) {
      if (waiting.has(pending.txHash) || settled.has(pending.txHash)) return false;
      addWaiting(pending, nowMs);
      return true;
    },
    pending: (txHash) => waiting.get(txHash)?.pending,
    push(block) {
      tail.push(block);
      hashes.set(block.hash, block);
      for (const tx of block.settledTxs) settled.set(tx, block.number);
      for (const { txHash } of block.confirmed) waiting.delete(txHash);
      settleFinality();
      if (tail.length > options.maxTail)
        for (const old of tail.splice(0, Math.ceil(options.maxTail / 10))) unindex(old);
    },
    rollback(fromNumber, nowMs) {
      let keep = tail.length;
      while (keep > 0 && tail[keep - 1]!.number >= fromNumber) keep -= 1;
      const removed = tail.splice(keep);
      for (const block of removed) {
        unindex(block);
        for (const pending of block.confirmed) addWaiting(pending, nowMs);
      }
      return removed;
    },
    finalize(number, hash) {
      if (reportedFinal !== null && reportedFinal.number > number) return;
      if (number <= final) return;
      reportedFinal = { number, hash };
      settleFinality();
    },
    finalNumber: () => final,
    reset() {
      for (const block of tail) unindex(block);
      tail = [];
      final = -1;
    },
    expire(nowMs) {
      const before = waiting.size;
      for (const oldest of oldestTenth(waiting, options.maxPending)) waiting.delete(oldest);
      // All have the same time to live, so the oldest expire first.
      for (const [txHash, { deadlineMs }] of waiting) {
        if (deadlineMs > nowMs) break;
        waiting.delete(txHash);
      }
      return before - waiting.size;
    },
    get pendingCount() {
      return waiting.size;
    },
    get tailLength() {
      return tail.length;
    },
  };
}
