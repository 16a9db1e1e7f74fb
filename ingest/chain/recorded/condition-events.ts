import { keccakOfHex } from '../../../schemas/primitives/hash.js';
import type { RecordedMarket } from '../../shared/recorded/types.js';
import { addresses } from '../contracts.js';
import type { Hex } from '../source.js';
import { addPreparation, addResolution } from './ctf-logs.js';
import { type LogSink, word, ZERO_TOPIC } from './log-sink.js';
import type { MarketWords } from './v1-logs.js';

export type ConditionStep = 'prepared' | 'resolved';

const STEP_BYTE: Readonly<Record<ConditionStep, string>> = { prepared: '01', resolved: '02' };

/** Transaction hash of a step, which the recording lacks: keccak256(conditionId ++ 01 | 02). */
function stepHash(step: ConditionStep, conditionId: Hex): Hex {
  return keccakOfHex(conditionId.slice(2) + STEP_BYTE[step]);
}

/** Preparation or resolution of a market's condition, as a transaction. Unknown question ids are zero. */
export function addConditionStep(sink: LogSink, step: ConditionStep, market: RecordedMarket): void {
  const oracle = market.negRisk ? addresses.negRiskAdapter : addresses.cryptoOracle;
  const questionId = market.questionId ?? ZERO_TOPIC;
  if (step === 'resolved' && market.outcome === null) throw new RangeError(`${market.slug} has no outcome`);
  sink.transaction(stepHash(step, market.conditionId));
  if (step === 'prepared') addPreparation(sink, oracle, market.conditionId, questionId);
  else addResolution(sink, oracle, market.conditionId, questionId, market.outcome!);
}

export function marketWords(market: RecordedMarket): MarketWords {
  return {
    conditionId: market.conditionId,
    tokenWords: [word(BigInt(market.tokenIds[0])), word(BigInt(market.tokenIds[1]))],
    negRisk: market.negRisk,
  };
}
