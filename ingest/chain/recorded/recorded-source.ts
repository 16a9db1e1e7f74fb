import { FatalError } from '../../../infra/errors.js';
import type { Logger } from '../../../infra/telemetry/logger.js';
import { createClock, type RecordedClock } from '../../shared/recorded/clock.js';
import { createLiveMarkets, type LiveMarkets } from '../../shared/recorded/shift.js';
import type { Recording } from '../../shared/recorded/types.js';
import type { ChainSource, HistoryRange, SourceBlock } from '../source.js';
import { blockAt, blockOfHash, headAt, timeOfBlock } from './block-clock.js';
import { createRecordedHistory, type HistoryRows } from './history.js';
import { FINAL_DEPTH, replayLive } from './live.js';
import { createParties } from './parties.js';
import { createRecordedTail } from './tail.js';
import { createRecordedTransactions } from './transactions.js';

export interface RecordedChainOptions {
  readonly recording: Recording;
  readonly logger: Logger;
  /** Default: the wall clock. */
  readonly clock?: RecordedClock;
  /** Length of the shifted timeline before now that an empty log receives. Default: an hour. */
  readonly leadS?: number;
  /** A log that ends earlier than this is not caught up block by block but continued like an empty log. Default: a day. */
  readonly maxCatchUpS?: number;
  /** Default: until the recording's cut, which keeps the first load short. */
  readonly historyRows?: HistoryRows;
  /** End of the recording: no block after this time, and all blocks before it are final. Default: never. */
  readonly untilMs?: number;
  /** true: recorded times only, without shifted blocks and without a live feed. */
  readonly historyOnly?: boolean;
  /** Windows to play; shared with the catalog source so that both play the same windows. */
  readonly liveMarkets?: LiveMarkets;
}

/** Windows are prepared up to 25 hours ahead; the rest covers windows that are open at the start of the tail. */
const PRELUDE_S = 27 * 3600;
const GRID_S = 300;

const day = (timeS: number): string => new Date(timeS * 1000).toISOString().slice(0, 10);

/**
 * Chain source that plays the recording: first the recorded blocks at their times, then the recorded day repeatedly, shifted by whole days
 * to the current time. Except for the start of the tail in an empty log, everything is a function of the block number: a restart resumes at
 * the end of the log. Throws FatalError when the clock is before the end of the recording.
 */
export async function createRecordedChainSource(options: RecordedChainOptions): Promise<ChainSource> {
  const { recording, logger } = options;
  const clock = options.clock ?? createClock();
  const leadS = options.leadS ?? 3600;
  const maxCatchUpS = options.maxCatchUpS ?? 86_400;
  const chain = recording.chain();
  const parties = createParties(chain);
  const transactions = createRecordedTransactions(chain, parties);
  const history = createRecordedHistory(recording, transactions, options.historyRows ?? 'until_cut');
  const tail = createRecordedTail(
    recording,
    transactions,
    parties,
    options.liveMarkets ?? createLiveMarkets(recording),
  );
  const historyOnly = options.historyOnly ?? false;
  const untilMs = options.untilMs ?? Number.POSITIVE_INFINITY;
  const nowS = () => Math.min(clock.nowMs(), untilMs) / 1000;
  if (!historyOnly && timeOfBlock(history.lastBlock) + PRELUDE_S + leadS + GRID_S > nowS())
    throw new FatalError(
      'The system clock is before the end of the recording: set the clock, or choose a recording of the past',
    );

  const recordedFromS = recording.meta.tail.from_s;
  const shift = () => tail.shiftDays(nowS());
  const played = `${day(recordedFromS)} 17:00 to ${day(recordedFromS + 86_400)} 17:00 UTC`;
  const description = historyOnly
    ? 'recording: chain activity at its recorded times'
    : `recording: chain activity of ${played}, played ${shift()} days later`;
  const head = () => (historyOnly ? history.lastBlock : headAt(nowS()));
  const finalized = () => (historyOnly || clock.nowMs() >= untilMs ? head() : head() - FINAL_DEPTH);
  /** First block of the shifted timeline that is played completely; earlier blocks contain preparations only. */
  let tailStart: number | null = null;

  const chooseTailStart = (resumeFrom: number | null): number => {
    const fresh = blockAt(Math.floor((nowS() - leadS) / GRID_S) * GRID_S);
    if (resumeFrom === null || resumeFrom <= history.lastBlock + 1) return fresh;
    // A log whose last block has preparations ends in the prelude of an empty log's start.
    if (tail.hasPreparations(resumeFrom) || tail.hasPreparations(resumeFrom - 1)) return fresh;
    return timeOfBlock(resumeFrom) < nowS() - maxCatchUpS ? fresh : resumeFrom;
  };

  function* shiftedBlocks({ fromBlock, toBlock }: HistoryRange): Generator<SourceBlock> {
    const start = tailStart ?? 0;
    const preludeFrom = blockAt(timeOfBlock(start) - PRELUDE_S);
    for (let number = Math.max(fromBlock, preludeFrom, history.lastBlock + 1); number <= toBlock; number++) {
      const prelude = number < start;
      if (prelude && !tail.hasPreparations(number)) continue;
      const block = tail.block(number, prelude);
      if (block.logs.length > 0) yield block;
    }
  }

  const blockByNumber = (number: number): SourceBlock | null => {
    if (!Number.isSafeInteger(number) || number < history.firstBlock || number > head()) return null;
    return number <= history.lastBlock ? history.block(number) : tail.block(number, false);
  };

  return {
    mode: 'recorded',
    description,
    get shiftDays() {
      return historyOnly ? null : shift();
    },
    recordedFromMs: historyOnly ? null : recordedFromS * 1000,
    async historyRange(resumeFrom) {
      const from = resumeFrom ?? history.firstBlock;
      if (historyOnly || from <= history.lastBlock) {
        const range = { fromBlock: from, toBlock: history.lastBlock };
        return { ...range, blocksWithLogs: history.count(range) };
      }
      if (tailStart === null) {
        tailStart = chooseTailStart(resumeFrom);
        logger.info({ resumeFrom, tailStart, shiftDays: shift() }, description);
      }
      const preludeFrom = blockAt(timeOfBlock(tailStart) - PRELUDE_S);
      return { fromBlock: Math.max(from, preludeFrom), toBlock: finalized() };
    },
    async *history(range, signal) {
      const parts = [
        history.blocks({ ...range, toBlock: Math.min(range.toBlock, history.lastBlock) }),
        shiftedBlocks(range),
      ];
      for (const blocks of parts) {
        for (const block of blocks) {
          if (signal.aborted) return;
          yield block;
        }
      }
    },
    async *live(signal) {
      yield { type: 'connected', connected: true, detail: description };
      if (!historyOnly) yield* replayLive({ tail, clock, untilMs, signal });
      if (!signal.aborted) yield { type: 'finalized', number: finalized() };
    },
    async blockByHash(hash) {
      const number = blockOfHash(hash);
      return number === null ? null : blockByNumber(number);
    },
    blockByNumber: async (number) => blockByNumber(number),
    finalizedNumber: async () => finalized(),
    close: async () => undefined,
  };
}
