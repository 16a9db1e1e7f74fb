import type { RecordedMarket, Recording } from '../../shared/recorded/types.js';
import type { HistoryRange, SourceBlock } from '../source.js';
import { blockAt } from './block-clock.js';
import { addConditionStep, type ConditionStep, marketWords } from './condition-events.js';
import { addRedemption, addSplitOrMerge } from './ctf-logs.js';
import { createLogSink } from './log-sink.js';
import type { RecordedTransactions } from './transactions.js';
import { addMatchV1, type MarketWords } from './v1-logs.js';

/** Rows of the six wallets that are part of the history: until the cut of the recording, or all of them. */
export type HistoryRows = 'until_cut' | 'all';

/** The recorded chain at its recorded times. */
export interface RecordedHistory {
  readonly firstBlock: number;
  readonly lastBlock: number;
  /** Number of blocks with logs in a range. */
  count(range: HistoryRange): number;
  block(number: number): SourceBlock;
  /** Blocks with logs. */
  blocks(range: HistoryRange): Generator<SourceBlock>;
}

interface BlockStep {
  readonly block: number;
  readonly step: ConditionStep;
  readonly market: RecordedMarket;
}

function conditionSteps(markets: readonly RecordedMarket[]): BlockStep[] {
  const steps: BlockStep[] = [];
  for (const market of markets) {
    if (market.createdS !== null && market.questionId !== null)
      steps.push({ block: blockAt(market.createdS), step: 'prepared', market });
    if (market.resolvedS !== null && market.outcome !== null)
      steps.push({ block: blockAt(market.resolvedS), step: 'resolved', market });
  }
  return steps.sort((a, b) => a.block - b.block);
}

function lowerBound(length: number, valueAt: (index: number) => number, target: number): number {
  let low = 0;
  let high = length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (valueAt(middle) < target) low = middle + 1;
    else high = middle;
  }
  return low;
}

export function createRecordedHistory(
  recording: Recording,
  transactions: RecordedTransactions,
  rows: HistoryRows,
): RecordedHistory {
  const cutS = recording.meta.tail.history_until_s;
  const indexes: number[] = [];
  const txBlocks: number[] = [];
  for (let i = 0; i < transactions.length; i++) {
    if (rows === 'until_cut' && transactions.source[i] === 0 && transactions.timeS[i]! >= cutS) continue;
    indexes.push(i);
    txBlocks.push(blockAt(transactions.timeS[i]!));
  }
  const steps = conditionSteps(recording.markets);
  const numbers = [...new Set([...txBlocks, ...steps.map((step) => step.block)])].sort((a, b) => a - b);
  const firstFrom = (number: number) => lowerBound(numbers.length, (at) => numbers[at]!, number);
  const words: (MarketWords | undefined)[] = [];
  const wordsOf = (market: number): MarketWords => {
    words[market] ??= marketWords(recording.markets[market]!);
    return words[market];
  };

  const build = (number: number): SourceBlock => {
    const sink = createLogSink(number);
    for (let i = lowerBound(steps.length, (at) => steps[at]!.block, number); steps[i]?.block === number; i++)
      addConditionStep(sink, steps[i]!.step, steps[i]!.market);
    for (let i = lowerBound(txBlocks.length, (at) => txBlocks[at]!, number); txBlocks[i] === number; i++) {
      const { hash, actions } = transactions.at(indexes[i]!);
      sink.transaction(hash);
      for (const action of actions) {
        const market = wordsOf(action.market);
        if (action.kind === 'match') addMatchV1(sink, hash, action, market);
        else if (action.kind === 'merge')
          addSplitOrMerge(sink, 'positionsMerge', action.party.topic, market.conditionId, action.amount);
        else addRedemption(sink, action.party, market.conditionId, action.amount);
      }
    }
    return sink.block();
  };

  return {
    firstBlock: numbers[0]!,
    lastBlock: numbers.at(-1)!,
    count: ({ fromBlock, toBlock }) => firstFrom(toBlock + 1) - firstFrom(fromBlock),
    block: build,
    *blocks({ fromBlock, toBlock }) {
      for (let i = firstFrom(fromBlock); i < numbers.length; i++) {
        if (numbers[i]! > toBlock) return;
        yield build(numbers[i]!);
      }
    },
  };
}
