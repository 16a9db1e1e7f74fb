import { keccakOfHex } from '../../../schemas/primitives/hash.js';
import { addresses } from '../contracts.js';
import { eventAbi } from '../event-abi.js';
import type { Hex } from '../source.js';
import { addSplitOrMerge } from './ctf-logs.js';
import { addressTopic, type LogSink, word, ZERO_WORD } from './log-sink.js';
import type { MatchedOrder, RecordedMatch } from './transactions.js';

/** Ids of a market in the forms that logs need. */
export interface MarketWords {
  readonly conditionId: Hex;
  readonly tokenWords: readonly [string, string];
  readonly negRisk: boolean;
}

const FILLED = eventAbi.orderFilledV1.topic0;
const MATCHED = eventAbi.ordersMatchedV1.topic0;
const EXCHANGE_TOPICS = {
  plain: addressTopic(addresses.exchangeV1),
  negRisk: addressTopic(addresses.exchangeV1NegRisk),
};

/**
 * Order hash of a recorded V1 fill, which the recording lacks: the transaction hash rotated by one byte per order, so that orders of one
 * transaction differ.
 */
function recordedOrderHash(transactionHash: Hex, order: number): Hex {
  if (order >= 31) return keccakOfHex(transactionHash.slice(2) + word(order));
  const cut = 2 + 2 * (order + 1);
  return `0x${transactionHash.slice(cut)}${transactionHash.slice(2, cut)}`;
}

function amountWords(leg: MatchedOrder, tokenWord: string): string {
  return leg.side === 0
    ? ZERO_WORD + tokenWord + word(leg.usdc) + word(leg.shares)
    : tokenWord + ZERO_WORD + word(leg.shares) + word(leg.usdc);
}

/** Logs of a match in the order of exchange V1: every maker's fill (after its split or merge), the taker's fill, the match. */
export function addMatchV1(sink: LogSink, transactionHash: Hex, match: RecordedMatch, market: MarketWords): void {
  const exchange = market.negRisk ? addresses.exchangeV1NegRisk : addresses.exchangeV1;
  const exchangeTopic = market.negRisk ? EXCHANGE_TOPICS.negRisk : EXCHANGE_TOPICS.plain;
  const { taker, makers } = match;
  let order = 0;
  for (const maker of makers) {
    if (maker.side === taker.side) {
      const kind = maker.side === 0 ? 'positionSplit' : 'positionsMerge';
      addSplitOrMerge(sink, kind, exchangeTopic, market.conditionId, maker.shares);
    }
    sink.add(
      exchange,
      [FILLED, recordedOrderHash(transactionHash, order), maker.party.topic, taker.party.topic],
      `0x${amountWords(maker, market.tokenWords[maker.outcome]!)}${ZERO_WORD}`,
    );
    order += 1;
  }
  const takerHash = recordedOrderHash(transactionHash, order);
  const amounts = amountWords(taker, market.tokenWords[taker.outcome]!);
  sink.add(exchange, [FILLED, takerHash, taker.party.topic, exchangeTopic], `0x${amounts}${word(match.takerFee)}`);
  sink.add(exchange, [MATCHED, takerHash, taker.party.topic], `0x${amounts}`);
}
