import { FatalError } from '../../../infra/errors.js';
import type { Logger } from '../../../infra/telemetry/logger.js';
import type { Metrics } from '../../../infra/telemetry/metrics.js';
import { pause } from '../../shared/pause.js';
import type { Hex, LiveEvent, RpcTransaction } from '../source.js';
import { type BlockReader, type Header, hintedBlock, type LogFilter, parseHeader, topicFilter } from './blocks.js';
import { createEventQueue } from './event-queue.js';
import type { Finality } from './finality.js';
import { backoffMs, type RetryPolicy } from './retry-policy.js';
import { requestedDelayMs } from './rpc-error.js';
import { openRpcSocket, type RpcSocket } from './socket.js';

export interface LiveFeedOptions {
  /** After this time without a new head the subscription counts as dead and the feed reconnects. */
  readonly staleMs: number;
  readonly socketTimeoutMs: number;
  readonly reconnect: RetryPolicy;
  /** When a log hints at a block whose head does not arrive within this time, the head is requested. */
  readonly hintDelayMs: number;
  /** Attempts to read a block that was just announced, because nodes behind one address differ in lag. */
  readonly headAttempts: number;
  readonly headRetryMs: number;
  /** Attempts to read the logs of such a block while the node has none, though the header admits them. */
  readonly emptyHeadAttempts: number;
  /** When the head advances by this many blocks without a new finalised block, a warning is logged. */
  readonly stillFinalityBlocks: number;
}

const liveFeedDefaults: LiveFeedOptions = {
  staleMs: 30_000,
  socketTimeoutMs: 10_000,
  reconnect: { attempts: Number.POSITIVE_INFINITY, baseMs: 500, maxMs: 30_000 },
  hintDelayMs: 1500,
  headAttempts: 6,
  headRetryMs: 150,
  emptyHeadAttempts: 3,
  stillFinalityBlocks: 128,
};

/** Maximum number of heads in the queue; beyond it only the newest is kept (gaps are filled by parent hash). */
const MAX_HEADS = 8;
/** Delivered heads that are recognised when the node repeats them. */
const MAX_DELIVERED = 256;

/**
 * Events of the node's head: newHeads triggers, the logs of each block are read by block hash, and the finalised block is read with every
 * head. Reconnects without a limit; after each connect the current head is sent immediately, so that a gap is detected. A head is sent once:
 * a node that repeats old heads is stuck, and must not appear to be current.
 */
export function createLiveFeed(deps: {
  wsUrl: string;
  host: string;
  reader: BlockReader;
  filter: LogFilter;
  finality: Finality;
  startPending: (socket: RpcSocket, on: (transaction: RpcTransaction, seenAtMs: number) => void) => Promise<void>;
  /** Throws FatalError on the wrong network. */
  checkNode: () => Promise<void>;
  logger: Logger;
  metrics: Metrics;
  now: () => number;
  options?: Partial<LiveFeedOptions>;
}): (signal: AbortSignal) => AsyncIterable<LiveEvent> {
  const { reader, logger, now, host } = deps;
  const options = { ...liveFeedDefaults, ...deps.options };
  const connects = deps.metrics.counter('chain_ws_connects_total', 'WebSocket connections to the node');
  const malformed = deps.metrics.counter('chain_ws_malformed_total', 'WebSocket frames that cannot be read');
  const unreadHeads = deps.metrics.counter(
    'chain_head_read_failures_total',
    'Announced heads whose block could not be read',
  );

  const text = (error: unknown) => (error instanceof Error ? error.message : String(error));

  return (outer) => {
    const queue = createEventQueue<LiveEvent>();
    const stop = new AbortController();
    const signal = AbortSignal.any([outer, stop.signal]);
    let finalized = -1;
    /** Newest delivered hash by block number: after a reorganisation and back, the first branch is new again. */
    const delivered = new Map<number, Hex>();
    const isRepeated = ({ number, hash }: { number: number; hash: Hex }) => delivered.get(number) === hash;
    const markDelivered = ({ number, hash }: { number: number; hash: Hex }) => {
      delivered.delete(number);
      delivered.set(number, hash);
      for (const oldest of delivered.keys()) {
        if (delivered.size <= MAX_DELIVERED) break;
        delivered.delete(oldest);
      }
    };

    const readHead = async (hash: Hex) => {
      for (let attempt = 1; attempt <= options.headAttempts && !signal.aborted; attempt += 1) {
        let delayMs = options.headRetryMs * attempt;
        try {
          const block = await reader.byHash(hash);
          if (block !== null && (block.logsMayBeMissing !== true || attempt >= options.emptyHeadAttempts)) return block;
        } catch (error) {
          if (attempt === options.headAttempts) throw error;
          delayMs = Math.max(delayMs, requestedDelayMs(error));
        }
        await pause(delayMs, signal);
      }
      return null;
    };
    /** Head at the last new finalised block. */
    let headAtFinality: number | null = null;
    let isFinalityStill = false;
    const onNoFinality = (headNumber: number, err: string | undefined) => {
      headAtFinality ??= headNumber;
      if (isFinalityStill || headNumber - headAtFinality < options.stillFinalityBlocks) return;
      isFinalityStill = true;
      logger.warn({ err, finalized, head: headNumber }, 'the node reports no new finalised block');
    };
    const readFinality = async (headNumber: number) => {
      try {
        const found = await deps.finality.read(headNumber);
        if (found === null || found.number <= finalized) {
          onNoFinality(headNumber, undefined);
          return;
        }
        finalized = found.number;
        headAtFinality = headNumber;
        if (isFinalityStill) logger.info({ finalized }, 'the node reports new finalised blocks again');
        isFinalityStill = false;
        queue.push({ type: 'finalized', ...found });
      } catch (error) {
        logger.debug({ err: text(error) }, 'finalised block not read');
        onNoFinality(headNumber, text(error));
      }
    };

    /** One connection, from open to close; returns the number of heads and the reason of the close. */
    const session = async (): Promise<{ heads: number; reason: string }> => {
      await deps.checkNode();
      const socket = await openRpcSocket({
        url: deps.wsUrl,
        timeoutMs: options.socketTimeoutMs,
        onMalformed: (frame) => {
          malformed.inc();
          logger.warn({ frame: frame.slice(0, 200) }, 'the node sent a frame that cannot be read');
        },
      });
      connects.inc();
      const onAbort = () => socket.close('stopping');
      signal.addEventListener('abort', onAbort, { once: true });
      let heads: { header: Header; seenAtMs: number }[] = [];
      let received = 0;
      let newest = -1;
      let lastHeadMs = now();
      let working: Promise<void> | null = null;
      let healthy = true;
      const timers = new Set<NodeJS.Timeout>();

      const work = async () => {
        for (let next = heads.shift(); next !== undefined && !signal.aborted; next = heads.shift()) {
          const { header, seenAtMs } = next;
          if (isRepeated(header)) {
            await readFinality(header.number);
            continue;
          }
          try {
            const [block] = await Promise.all([readHead(header.hash), readFinality(header.number)]);
            if (block === null) {
              unreadHeads.inc();
              logger.warn({ block: header.number }, 'the node announced a block it does not have');
              continue;
            }
            markDelivered(block);
            queue.push({ type: 'head', block, seenAtMs });
            if (!healthy) queue.push({ type: 'connected', connected: true, detail: `connected to ${host}` });
            healthy = true;
          } catch (error) {
            unreadHeads.inc();
            if (healthy)
              queue.push({ type: 'connected', connected: false, detail: `cannot read blocks: ${text(error)}` });
            healthy = false;
          }
        }
        working = null;
      };
      const onHeader = (header: Header) => {
        const seenAtMs = now();
        if (!isRepeated(header)) {
          received += 1;
          lastHeadMs = seenAtMs;
        }
        newest = Math.max(newest, header.number);
        heads.push({ header, seenAtMs });
        if (heads.length > MAX_HEADS) heads = heads.slice(-1);
        working ??= work();
      };
      const later = (ms: number, run: () => void) => {
        const timer = setTimeout(() => {
          timers.delete(timer);
          run();
        }, ms);
        timers.add(timer);
      };
      const readLatest = async () => {
        try {
          const header = await reader.header('latest');
          if (header !== null) onHeader(header);
        } catch (error) {
          logger.warn({ err: text(error) }, 'latest block not read');
        }
      };
      let hinted = -1;
      const onLog = (value: unknown) => {
        const number = hintedBlock(value);
        if (number === null || number <= Math.max(newest, hinted)) return;
        hinted = number;
        later(options.hintDelayMs, () => {
          if (newest < number) void readLatest();
        });
      };
      const watch = () => {
        if (now() - lastHeadMs > options.staleMs) socket.close(`no head for ${options.staleMs} ms`);
        else later(Math.min(1000, options.staleMs / 4), watch);
      };

      try {
        await socket.subscribe(['newHeads'], (value) => {
          try {
            const header = parseHeader(value);
            if (header !== null) onHeader(header);
          } catch (error) {
            malformed.inc();
            logger.warn({ err: text(error) }, 'unreadable head');
          }
        });
        queue.push({ type: 'connected', connected: true, detail: `connected to ${host}` });
        watch();
        await readLatest();
        await socket.subscribe(['logs', topicFilter(deps.filter)], onLog).catch((error: unknown) => {
          logger.warn(
            { err: text(error) },
            'the node rejects the logs subscription, new blocks are detected by heads only',
          );
        });
        await deps.startPending(socket, (transaction, seenAtMs) =>
          queue.push({ type: 'pending', transaction, seenAtMs }),
        );
        const reason = await socket.closed;
        return { heads: received, reason };
      } finally {
        signal.removeEventListener('abort', onAbort);
        for (const timer of timers) clearTimeout(timer);
        socket.close('done');
        await (working ?? Promise.resolve());
      }
    };

    const run = async () => {
      for (let attempt = 1; !signal.aborted; attempt += 1) {
        let detail: string;
        try {
          const { heads, reason } = await session();
          detail = reason;
          if (heads > 1) attempt = 1;
        } catch (error) {
          if (error instanceof FatalError) throw error;
          detail = text(error);
        }
        if (signal.aborted) return;
        queue.push({ type: 'connected', connected: false, detail: `lost ${host}: ${detail}` });
        await pause(backoffMs(attempt, options.reconnect), signal);
      }
    };
    const running = run().then(
      () => queue.end(),
      (error: unknown) => queue.end(error),
    );

    return {
      async *[Symbol.asyncIterator]() {
        const onAbort = () => queue.end();
        signal.addEventListener('abort', onAbort, { once: true });
        try {
          for await (const event of queue) {
            if (signal.aborted) return;
            yield event;
          }
        } finally {
          stop.abort();
          await running;
        }
      },
    };
  };
}
