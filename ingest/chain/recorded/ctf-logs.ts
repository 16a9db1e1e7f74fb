import { addresses } from '../contracts.js';
import { eventAbi } from '../event-abi.js';
import type { Hex } from '../source.js';
import { addressTopic, addressWord, type LogSink, word, ZERO_TOPIC } from './log-sink.js';
import type { Party } from './parties.js';

const CTF = addresses.conditionalTokens;
const USDC_TOPIC = addressTopic(addresses.usdcE);
const USDC_WORD = addressWord(addresses.usdcE);
const BOTH_OUTCOMES = word(2) + word(1) + word(2);
/** Offset of the array after three head words. */
const AFTER_THREE = word(0x60);

/** Split or merge of a full set. Used for matches (stakeholder: the exchange or its adapter) and for users. */
export function addSplitOrMerge(
  sink: LogSink,
  kind: 'positionSplit' | 'positionsMerge',
  stakeholder: Hex,
  conditionId: Hex,
  amount: number,
): void {
  sink.add(
    CTF,
    [eventAbi[kind].topic0, stakeholder, ZERO_TOPIC, conditionId],
    `0x${USDC_WORD}${AFTER_THREE}${word(amount)}${BOTH_OUTCOMES}`,
  );
}

export function addRedemption(sink: LogSink, redeemer: Party, conditionId: Hex, payout: number): void {
  sink.add(
    CTF,
    [eventAbi.payoutRedemption.topic0, redeemer.topic, USDC_TOPIC, ZERO_TOPIC],
    `0x${conditionId.slice(2)}${AFTER_THREE}${word(payout)}${BOTH_OUTCOMES}`,
  );
}

export function addPreparation(sink: LogSink, oracle: Hex, conditionId: Hex, questionId: Hex): void {
  sink.add(CTF, [eventAbi.conditionPreparation.topic0, conditionId, addressTopic(oracle), questionId], `0x${word(2)}`);
}

export function addResolution(sink: LogSink, oracle: Hex, conditionId: Hex, questionId: Hex, outcome: number): void {
  const payouts = outcome === 0 ? word(1) + word(0) : word(0) + word(1);
  sink.add(
    CTF,
    [eventAbi.conditionResolution.topic0, conditionId, addressTopic(oracle), questionId],
    `0x${word(2)}${word(0x40)}${word(2)}${payouts}`,
  );
}

/** Transfer of both outcome tokens of a full set in one batch. */
export function addPairTransfer(
  sink: LogSink,
  from: Hex,
  to: Hex,
  tokenWords: readonly [string, string],
  amount: number,
): void {
  const value = word(amount);
  sink.add(
    CTF,
    [eventAbi.transferBatch.topic0, addressTopic(from), addressTopic(from), addressTopic(to)],
    `0x${word(0x40)}${word(0xa0)}${word(2)}${tokenWords[0]}${tokenWords[1]}${word(2)}${value}${value}`,
  );
}
