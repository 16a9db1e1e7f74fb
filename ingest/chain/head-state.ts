import type { Hex } from './source.js';

/** A settlement seen in the mempool and not yet in a block. */
export interface PendingSettlement {
  readonly txHash: string;
  readonly detectedAtMs: number;
  readonly takerWallet: string;
  readonly takerToken: string;
}

/** A canonical block as chain.head has it. */
export interface TailBlock {
  readonly number: number;
  readonly hash: Hex;
  /** Transactions with fills: a settlement detected after its block is late and not sent. */
  readonly settledTxs: readonly string[];
  /** Settlements this block confirmed; pending again when it is retracted. */
  readonly confirmed: readonly PendingSettlement[];
}

/** Facts of a block whose block record is missing: the process died between them. */
export interface IncompleteBlock {
  readonly number: number;
  readonly hash: Hex;
  readonly ids: ReadonlySet<string>;
}

/**
 * What the head tracker knows: the canonical tail and the settlements waiting for a block. Changed by the same four steps whether they
 * come from the node or, after a restart, from chain.head itself.
 */
export interface HeadState {
  tip(): TailBlock | undefined;
  lowest(): TailBlock | undefined;
  byHash(hash: string): TailBlock | undefined;
  byNumber(number: number): TailBlock | undefined;
  /** false: already waiting, or its block is already in the tail. */
  addPending(pending: PendingSettlement, nowMs: number): boolean;
  pending(txHash: string): PendingSettlement | undefined;
  /** Append a block on top. The settlements in `confirmed` stop waiting. */
  push(block: TailBlock): void;
  /** Remove every block from `fromNumber` up; returns them ascending. Their settlements wait again. */
  rollback(fromNumber: number, nowMs: number): TailBlock[];
  /** The node's finalised block. Counts once the tail holds that very hash. */
  finalize(number: number, hash: Hex | undefined): void;
  /** Highest number the tail holds as final, or -1. */
  finalNumber(): number;
  /** Forget the tail (after a gap too wide to fill), keep what is pending. */
  reset(): void;
  /** Drop settlements waiting longer than the limit; returns how many. */
  expire(nowMs: number): number;
  readonly pendingCount: number;
  readonly tailLength: number;
}

export function createHeadState(options: {
  pendingTtlMs: number;
  maxPending: number;
  /** Blocks kept below the finalised one, for late settlements. */
  keepFinal: number;
  /** Hard bound of the tail, for a finality stall without end. */
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
      let count = 0;
      for (const [txHash, { deadlineMs }] of waiting) {
        if (deadlineMs > nowMs && waiting.size <= options.maxPending) continue;
        waiting.delete(txHash);
        count += 1;
      }
      return count;
    },
    get pendingCount() {
      return waiting.size;
    },
    get tailLength() {
      return tail.length;
    },
  };
}
