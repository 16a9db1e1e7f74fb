import { RetryableError } from '../../infra/errors.js';
import type { Logger } from '../../infra/telemetry/logger.js';
import type { OnUnreadable } from '../../infra/telemetry/unreadable-records.js';
import type { Codec } from '../../schemas/codec.js';
import { topics } from '../../schemas/topics.js';
import { createAppender } from '../shared/appender.js';
import type { DeadLetters } from '../shared/dead-letters.js';
import type { SourceLog } from '../shared/owned-log.js';
import type { BlockCache } from './block-cache.js';
import type { EncodeBlock } from './block-records.js';
import type { ChainMetrics } from './chain-metrics.js';
import type { ChainDecoder } from './decoder.js';
import { createForkPath } from './fork-path.js';
import { createGapFill, type RereadReport } from './head-gap.js';
import {
  type HeadRecord,
  retractRecord,
  settle,
  settlementRecord,
  statusRecord,
  statusUpdate,
} from './head-records.js';
import { recoverHead } from './head-recovery.js';
import { createHeadState, type IncompleteBlock } from './head-state.js';
import type { ChainSource, Hex, RpcTransaction, SourceBlock } from './source.js';

export interface HeadTrackerOptions {
  /** A settlement that is not in a block after this time is dropped. */
  readonly pendingTtlMs: number;
  readonly maxPending: number;
  /** Largest range of chain.head that is read at a restart if it contains a block. */
  readonly recoveryWindowMs: number;
  /** Gaps up to this many blocks are filled by parent hash, wider gaps forward by number. */
  readonly maxParentFetchBlocks: number;
  /** A wider gap stays open in chain.head (chain.final has no gap). */
  readonly maxGapBlocks: number;
  /** Reorganisations deeper than this are logged as errors. */
  readonly alertDepth: number;
  /** Delay before the next request of a block that the node does not have yet. */
  readonly retryDelayMs: number;
}

const headTrackerDefaults: HeadTrackerOptions = {
  pendingTtlMs: 10 * 60_000,
  maxPending: 50_000,
  recoveryWindowMs: 30 * 60_000,
  maxParentFetchBlocks: 32,
  maxGapBlocks: 20_000,
  alertDepth: 10,
  retryDelayMs: 200,
};

/** Heads that may wait whatever they contain. */
const MIN_QUEUED_HEADS = 16;
/** Logs and heads that may wait beyond that; when exceeded all but the newest head are dropped and requested again by parent hash. */
const MAX_QUEUED_LOGS = 20_000;
/** Records in flight to the log above which the next block waits. Below it the appender combines the blocks of one append. */
const MAX_RECORDS_IN_FLIGHT = 2_000;
const MAX_CONSECUTIVE_ABANDONED = 20;
/** A path of fewer missed blocks is normal: a node may announce only the newest of several blocks. */
const MIN_REREAD_BLOCKS = 5;

const sizeOf = (block: SourceBlock): number => 1 + block.logs.length;

/**
 * Writes the node's canonical chain to chain.head without delay: the events of a block in log order, the status updates of confirmed
 * settlements, the block record; after a reorganisation first a retract, then the new blocks.
 */
export interface HeadTracker {
  /** Restores the state from chain.head. Call once, before anything else. */
  recover(): Promise<void>;
  onHead(block: SourceBlock, seenAtMs: number): void;
  onPending(transaction: RpcTransaction, seenAtMs: number): void;
  onFinalized(number: number, hash: Hex | undefined): void;
  /** Resolves when all reported heads are processed and durable; rejects with the first error. */
  idle(): Promise<void>;
  /** Rejects when the tracker cannot continue; never resolves. */
  readonly failed: Promise<never>;
  readonly head: number | null;
}

export function createHeadTracker(deps: {
  source: Pick<ChainSource, 'blockByHash' | 'blockByNumber'>;
  log: SourceLog;
  codec: Codec;
  decoder: ChainDecoder;
  encodeBlock: EncodeBlock;
  cache: BlockCache;
  deadLetters: DeadLetters;
  metrics: ChainMetrics;
  logger: Logger;
  signal: AbortSignal;
  origin: string;
  onUnreadable: OnUnreadable;
  /** Called with the number of pending settlements whenever it may have changed. */
  onPendingCount?: (count: number) => void;
  reread: RereadReport;
  /** Called when chain.head skips blocks, and awaited before the block after them is written; both ends inclusive. */
  onGap?: (fromBlock: number, toBlock: number) => Promise<void> | void;
  now?: () => number;
  options?: Partial<HeadTrackerOptions>;
}): HeadTracker {
  const { source, codec, cache, metrics, logger, signal, origin } = deps;
  const now = deps.now ?? Date.now;
  const options = { ...headTrackerDefaults, ...deps.options };
  const state = createHeadState({
    pendingTtlMs: options.pendingTtlMs,
    maxPending: options.maxPending,
    keepFinal: 64,
    maxTail: Math.max(options.maxGapBlocks, 20_000),
  });
  const appender = createAppender({ log: deps.log, topic: topics.chainHead.name });
  let open: IncompleteBlock | null = null;
  let missingAfter: number | null = null;
  let abandoned = 0;
  let heads: { readonly block: SourceBlock; readonly seenAtMs: number }[] = [];
  let queuedLogs = 0;
  let working: Promise<void> | null = null;
  let fail: (error: unknown) => void = () => undefined;
  const failed = new Promise<never>((_, reject) => {
    fail = reject;
  });
  // The caller races `failed`; without a handler the rejection would end the process.
  failed.catch(() => undefined);

  const reject = (stage: string, reason: string, payload: string) => {
    metrics.decodeErrors.inc({ stage });
    deps.deadLetters.put({ origin, stage, reason, payload }).catch((error: unknown) => {
      deps.logger.error({ err: error }, 'could not write a dead letter');
    });
  };
  const add = (records: readonly HeadRecord[]) => {
    const done = appender.add(records.map(({ record }) => record));
    done.catch(fail);
    return done;
  };

  const reportPending = (): void => {
    metrics.pending.set(state.pendingCount);
    deps.onPendingCount?.(state.pendingCount);
  };

  const retract = (fromNumber: number): void => {
    const atMs = now();
    const orphans: { number: number; hash: string }[] = state.rollback(fromNumber, atMs);
    cache.rollback(fromNumber);
    if (open !== null) orphans.push({ number: open.number, hash: open.hash });
    open = null;
    if (orphans.length === 0) return;
    void add([retractRecord(codec, orphans, atMs)]);
    metrics.reorgs.inc();
    metrics.reorgDepth.observe(orphans.length);
    const level = orphans.length > options.alertDepth ? 'error' : 'warn';
    logger[level]({ fromBlock: orphans[0]?.number, depth: orphans.length }, 'reorganisation: blocks retracted');
  };

  /** Resolves when the next block may be emitted, not when this one is durable: the appender preserves the order, and a failed append ends the tracker. */
  const emit = async (source: SourceBlock, seenAtMs: number): Promise<void> => {
    const block = deps.encodeBlock(source);
    for (const { reason, payload } of block.rejectedLogs) reject('chain.decode', reason, payload);
    const { settledTxs, updates } = settle(block.trades, state);
    const statuses = updates.map(({ pending, trades }) => {
      const status = statusUpdate(pending, block, trades, seenAtMs);
      metrics.confirmLatency.observe(status.latency_ms);
      return statusRecord(codec, status);
    });
    const records: HeadRecord[] = block.eventRecords.map((record, index) => ({ id: block.eventIds[index]!, record }));
    records.push(...statuses);
    const already = open?.hash === block.hash ? open.ids : null;
    open = null;
    const missing = already === null ? records : records.filter(({ id }) => !already.has(id));
    state.push({
      number: block.number,
      hash: block.hash,
      settledTxs,
      confirmed: updates.map(({ pending }) => pending),
    });
    cache.put(block);
    metrics.head.set(block.number);
    const durable = add([...missing, { id: `block-${block.number}`, record: block.block }]);
    if (appender.waiting > MAX_RECORDS_IN_FLIGHT) await durable;
  };

  const pathTo = createForkPath({ source, state, signal, retryDelayMs: options.retryDelayMs });

  const advance = async (block: SourceBlock, seenAtMs: number, reread: RereadReport | null): Promise<boolean> => {
    if (state.byHash(block.hash) !== undefined) return true;
    // Below the whole tail: the node lags or was reset, so the block is ignored.
    if (block.number < (state.lowest()?.number ?? 0)) return false;
    const path = await pathTo(block);
    if (path === null) return false;
    const fork = state.byHash(path[0]!.parentHash);
    // Without a fork point every block of the tail is on another branch.
    const firstOrphan = fork === undefined ? (state.lowest()?.number ?? 0) : fork.number + 1;
    const tip = state.tip();
    if (tip !== undefined && tip.number >= firstOrphan && firstOrphan <= state.finalNumber()) {
      throw new RetryableError(
        `The node's chain differs from chain.head at block ${firstOrphan}, below the finalised block ${state.finalNumber()}: wrong network or a reset node`,
      );
    }
    const replaced = tip !== undefined && tip.number >= firstOrphan;
    const missed = { from: path[0]!.number, to: block.number - 1 };
    const report = tip !== undefined && path.length > MIN_REREAD_BLOCKS ? reread : null;
    if (report !== null) await report.begin(missed.from, missed.to);
    if (replaced || (open !== null && open.hash !== path[0]!.hash)) retract(firstOrphan);
    for (const next of path) await emit(next, seenAtMs);
    report?.end(missed.from, missed.to);
    return true;
  };

  const fillGap = createGapFill({
    source,
    state,
    advance: (block) => advance(block, now(), null),
    maxParentFetchBlocks: options.maxParentFetchBlocks,
    maxGapBlocks: options.maxGapBlocks,
    retryDelayMs: options.retryDelayMs,
    reread: deps.reread,
    onGap: deps.onGap,
    metrics,
    logger,
    signal,
  });

  const handle = async (block: SourceBlock, seenAtMs: number): Promise<void> => {
    await fillGap(block, missingAfter);
    missingAfter = null;
    if (signal.aborted) return;
    if (await advance(block, seenAtMs, deps.reread)) abandoned = 0;
    else {
      abandoned += 1;
      metrics.abandonedHeads.inc();
      logger.warn({ block: block.number }, 'a parent of this head is unavailable, the next head fills the gap');
      if (abandoned > MAX_CONSECUTIVE_ABANDONED) {
        throw new RetryableError(
          `The node does not return the blocks between ${state.tip()?.number} and ${block.number}`,
        );
      }
    }
    metrics.pendingExpired.inc(state.expire(now()));
    reportPending();
  };

  const work = async (): Promise<void> => {
    try {
      for (let next = heads.shift(); next !== undefined && !signal.aborted; next = heads.shift()) {
        queuedLogs -= sizeOf(next.block);
        await handle(next.block, next.seenAtMs);
      }
    } catch (error) {
      if (!signal.aborted) fail(error);
      throw error;
    } finally {
      working = null;
    }
  };

  return {
    async recover() {
      const { recoveryWindowMs: windowMs, pendingTtlMs } = options;
      ({ open, missingAfter } = await recoverHead({ ...deps, state, windowMs, pendingTtlMs, nowMs: now() }));
      reportPending();
      const tip = state.tip();
      if (tip !== undefined || open !== null) {
        const eventRecords = {
          tip: tip?.number,
          tail: state.tailLength,
          pending: state.pendingCount,
          half: open?.number,
        };
        logger.info(eventRecords, 'chain.head recovered');
      }
    },
    onHead(block, seenAtMs) {
      heads.push({ block, seenAtMs });
      queuedLogs += sizeOf(block);
      if (heads.length > MIN_QUEUED_HEADS && queuedLogs > MAX_QUEUED_LOGS) {
        heads = heads.slice(-1);
        queuedLogs = sizeOf(block);
      }
      if (working === null) {
        working = work();
        working.catch(() => undefined);
      }
    },
    onPending(transaction, seenAtMs) {
      const decoded = deps.decoder.decodePending(transaction, seenAtMs);
      if (decoded === null) return;
      if ('problem' in decoded) {
        reject('chain.decode-pending', decoded.problem, JSON.stringify(transaction));
        return;
      }
      const { settlement } = decoded;
      const pending = {
        txHash: settlement.tx_hash,
        detectedAtMs: settlement.detected_at_ms,
        takerWallet: settlement.taker_wallet,
        takerToken: settlement.taker_token,
        takerUsdc: settlement.taker_usdc,
      };
      let record: HeadRecord;
      try {
        record = settlementRecord(codec, settlement);
      } catch (error) {
        reject('chain.decode-pending', String(error), JSON.stringify(transaction));
        return;
      }
      if (!state.addPending(pending, now())) return;
      if (state.pendingCount > options.maxPending) metrics.pendingExpired.inc(state.expire(now()));
      reportPending();
      void add([record]);
    },
    onFinalized: (number, hash) => state.finalize(number, hash),
    async idle() {
      try {
        while (working !== null) await working;
      } finally {
        await appender.drained();
      }
    },
    failed,
    get head() {
      return state.tip()?.number ?? null;
    },
  };
}
