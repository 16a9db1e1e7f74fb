import { setTimeout as sleep } from 'node:timers/promises';
import { FatalError, RetryableError } from '../../infra/errors.js';
import { yieldToEventLoop } from '../../infra/event-loop.js';
import type { NewRecord } from '../../infra/log/port.js';
import type { Logger } from '../../infra/telemetry/logger.js';
import type { OnUnreadable } from '../../infra/telemetry/unreadable-records.js';
import type { Codec } from '../../schemas/codec.js';
import { topics } from '../../schemas/topics.js';
import type { DeadLetters } from '../shared/dead-letters.js';
import type { SourceLog } from '../shared/owned-log.js';
import { createProgress } from '../shared/progress.js';
import type { BlockCache } from './block-cache.js';
import type { BlockRecords, EncodeBlock } from './block-records.js';
import type { ChainMetrics } from './chain-metrics.js';
import { contractAt } from './contracts.js';
import { readFinalCheckpoint } from './final-checkpoint.js';
import type { ChainSource, Hex, HistoryRange } from './source.js';

export interface FinalWriter {
  /** Writes the history, then every block that becomes final, until the signal. */
  run(signal: AbortSignal): Promise<void>;
  /** Reports a new finalised block of the node. */
  onFinalized(number: number, hash: Hex | undefined): void;
  /** Reports a new block of the node's head. */
  onHead(number: number): void;
  /** Newest block in chain.final, or null. */
  readonly written: number | null;
  readonly historyDone: boolean;
}

const REREAD_ATTEMPTS = 3;
/** Blocks between head and finality in normal operation: the node's finalised block may stand still, and alone it would show no lag. */
const FINALITY_DEPTH = 128;

/**
 * Writes chain.final: finalised blocks with logs of watched contracts, in (block, log index) order, each followed by its block record. The
 * records are a function of the finalised chain alone, so two runs over the same blocks write the same records.
 */
export function createFinalWriter(deps: {
  source: Pick<ChainSource, 'mode' | 'historyRange' | 'history'>;
  log: SourceLog;
  codec: Codec;
  encodeBlock: EncodeBlock;
  cache: BlockCache;
  deadLetters: DeadLetters;
  metrics: ChainMetrics;
  logger: Logger;
  origin: string;
  onUnreadable: OnUnreadable;
  onProgress?: (share: number) => void;
  onHistoryDone?: () => void;
  batchRecords?: number;
  retryDelayMs?: number;
}): FinalWriter {
  const { source, log, cache, metrics, logger } = deps;
  const topic = topics.chainFinal.name;
  const batchRecords = deps.batchRecords ?? 4096;
  let last: { readonly number: number; readonly hash: string } | null = null;
  let partial: { readonly number: number; readonly hash: string; readonly lastId: string } | null = null;
  let batch: NewRecord[] = [];
  let appending: Promise<unknown> = Promise.resolve();
  let historyDone = false;
  /** Unknown events that were logged already. */
  const warned = new Set<string>();
  let target: { readonly number: number; readonly hash: Hex | undefined } | null = null;
  let wake: () => void = () => undefined;
  let head = -1;
  /** Newest block up to which chain.final is complete; its logs may be none. */
  let complete = -1;
  const reportLag = () => {
    const done = Math.max(complete, last?.number ?? -1);
    if (done >= 0) metrics.lagBlocks.set(Math.max(0, (target?.number ?? 0) - done, head - FINALITY_DEPTH - done));
  };

  /** Starts the append of the batch, after the previous append. The next batch is decoded meanwhile. */
  const flush = async () => {
    await appending;
    if (batch.length === 0) return;
    const records = batch;
    batch = [];
    const written = last?.number;
    appending = log.append(topic, records).then(() => {
      metrics.finalRecords.inc(records.length);
      if (written !== undefined) metrics.finalWritten.set(written);
    });
    // The next flush awaits it; this handler prevents an unhandled rejection until then.
    appending.catch(() => undefined);
  };
  const settle = async () => {
    await flush();
    await appending;
  };

  const remainderOf = (block: BlockRecords): readonly NewRecord[] => {
    if (partial === null) return block.eventRecords;
    const { number, hash, lastId } = partial;
    const at = block.eventIds.indexOf(lastId);
    if (block.number !== number) {
      throw new RetryableError(`chain.final ends inside block ${number}, which the source does not deliver`);
    }
    if (block.hash !== hash || at < 0) {
      throw new FatalError(
        `chain.final ends inside block ${number} (${hash}) with ${lastId}, but the finalised chain has ${block.hash} there`,
      );
    }
    partial = null;
    return block.eventRecords.slice(at + 1);
  };
  const write = (block: BlockRecords) => {
    if (last !== null && block.number <= last.number) return;
    if (!block.hasLogs) return;
    for (const record of remainderOf(block)) batch.push(record);
    batch.push(block.block);
    last = { number: block.number, hash: block.hash };
    for (const { address, logs, decoded } of block.contracts) {
      const contract = contractAt(address)?.name ?? address;
      metrics.watchedLogs.inc({ contract }, logs);
      metrics.undecodedLogs.inc({ contract }, logs - decoded);
    }
    for (const { address, topics: of, id } of block.unknown) {
      const contract = contractAt(address)?.name ?? address;
      metrics.unknownLogs.inc({ contract });
      const event = `${address} ${of[0] ?? 'anonymous'}`;
      const level = warned.has(event) ? 'debug' : 'warn';
      warned.add(event);
      logger[level]({ contract, address, topic0: of[0] ?? null, id, block: block.number }, 'log of an unknown event');
    }
    for (const { reason, payload } of block.rejectedLogs) {
      metrics.decodeErrors.inc({ stage: 'chain.decode' });
      deps.deadLetters.put({ origin: deps.origin, stage: 'chain.decode', reason, payload }).catch((error: unknown) => {
        logger.error({ err: error }, 'could not write a dead letter');
      });
    }
  };
  /** Consecutive blocks of a node must link by parent hash; a recording may omit blocks. */
  const links = (block: { readonly number: number; readonly parentHash: string }): boolean =>
    source.mode !== 'live' || last === null || block.number !== last.number + 1 || block.parentHash === last.hash;

  const writeRange = async (range: HistoryRange, signal: AbortSignal, onBlock: (number: number) => void) => {
    for (let attempt = 1; ; attempt += 1) {
      let broken: number | null = null;
      const fromBlock = Math.max(range.fromBlock, (last?.number ?? -1) + 1);
      for await (const block of source.history({ fromBlock, toBlock: range.toBlock }, signal)) {
        if (signal.aborted) return;
        if (!links(block)) {
          broken = block.number;
          break;
        }
        write(deps.encodeBlock(block));
        onBlock(block.number);
        if (batch.length >= batchRecords) {
          await flush();
          await yieldToEventLoop();
        }
      }
      if (broken === null) return;
      if (attempt === REREAD_ATTEMPTS) {
        throw new RetryableError(
          `Block ${broken} of the finalised chain does not follow ${last?.number} (${last?.hash}) of chain.final: wrong network, or the node changed a finalised block`,
        );
      }
      logger.warn({ block: broken }, 'the node returned a block that does not link to chain.final, reading it again');
      await sleep(deps.retryDelayMs ?? 2000, undefined, { signal, ref: false });
    }
  };

  const resumeFrom = (): number | null => partial?.number ?? (last === null ? null : last.number + 1);

  const runHistory = async (signal: AbortSignal) => {
    let from = resumeFrom();
    while (!signal.aborted) {
      const range = await source.historyRange(from, signal);
      if (range === null || range.fromBlock > range.toBlock) {
        from = range?.fromBlock ?? from;
        break;
      }
      const { fromBlock, toBlock } = range;
      const known = range.blocksWithLogs;
      const total = known ?? toBlock - fromBlock + 1;
      let given = 0;
      const progress = createProgress({ logger, source: 'chain', unit: 'blocks', total, onRatio: deps.onProgress });
      await writeRange(range, signal, (number) => {
        given += 1;
        progress.report(known === undefined ? number - fromBlock + 1 : given);
      });
      if (signal.aborted) break;
      await settle();
      progress.finish();
      from = toBlock + 1;
    }
    await settle();
    return from;
  };

  /**
   * Blocks next..target: from the cache where its blocks are proven to be on the finalised branch, else from the source. A block whose logs
   * may have been requested too early is read again.
   */
  const writeFinalized = async (next: number, to: NonNullable<typeof target>, signal: AbortSignal) => {
    const trusted = to.hash === undefined || cache.hashAt(to.number) === to.hash;
    const usable = (number: number): BlockRecords | undefined => {
      const cached = trusted ? cache.get(number) : undefined;
      return cached?.logsMayBeMissing === true ? undefined : cached;
    };
    let number = next;
    while (number <= to.number && !signal.aborted) {
      const cached = usable(number);
      if (cached !== undefined && links(cached) && partial === null) {
        write(cached);
        number += 1;
      } else {
        let end = number;
        while (end < to.number && usable(end + 1) === undefined) end += 1;
        await writeRange({ fromBlock: number, toBlock: end }, signal, () => undefined);
        number = end + 1;
      }
      if (batch.length >= batchRecords) await flush();
    }
    if (!signal.aborted) await settle();
    cache.dropThrough(number - 1);
    return number;
  };

  return {
    async run(signal) {
      try {
        const checkpoint = await readFinalCheckpoint(deps);
        if (checkpoint.kind === 'block') last = checkpoint;
        else if (checkpoint.kind === 'partial') partial = checkpoint;
        if (checkpoint.kind !== 'empty') logger.info({ checkpoint }, 'chain.final resumes');
        let next = await runHistory(signal);
        if (signal.aborted) return;
        historyDone = true;
        complete = (next ?? 0) - 1;
        deps.onHistoryDone?.();
        signal.addEventListener('abort', () => wake(), { once: true });
        while (!signal.aborted) {
          const to = target;
          if (to === null || (next !== null && to.number < next)) {
            await new Promise<void>((resolve) => {
              wake = resolve;
            });
            continue;
          }
          next = await writeFinalized(next ?? to.number, to, signal);
          complete = next - 1;
          reportLag();
        }
        await appending;
      } finally {
        // The next run reads the end of the topic, and the same ownership may append: a block in flight would be written twice.
        await appending.catch(() => undefined);
      }
    },
    onFinalized(number, hash) {
      if (target !== null && number <= target.number) return;
      target = { number, hash };
      metrics.finalized.set(number);
      reportLag();
      wake();
    },
    onHead(number) {
      head = number;
      reportLag();
    },
    get written() {
      return last?.number ?? null;
    },
    get historyDone() {
      return historyDone;
    },
  };
}
