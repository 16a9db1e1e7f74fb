import { addresses } from '../contracts.js';
import { eventAbi } from '../event-abi.js';
import { addPairTransfer, addSplitOrMerge } from './ctf-logs.js';
import { addressTopic, type LogSink, word, ZERO_WORD } from './log-sink.js';
import type { OrderFill, Settlement } from './settlement.js';

const EXCHANGE = addresses.exchangeV2;
const EXCHANGE_TOPIC = addressTopic(EXCHANGE);
/** Contract that splits and merges for matches; it is the stakeholder of these logs. */
const ADAPTER = addresses.ctfCollateralAdapter;
const ADAPTER_TOPIC = addressTopic(ADAPTER);
const FILLED = eventAbi.orderFilledV2.topic0;
const MATCHED = eventAbi.ordersMatchedV2.topic0;

function amountWords(fill: OrderFill, tokenWord: string): string {
  const [making, taking] = fill.side === 0 ? [fill.usdc, fill.shares] : [fill.shares, fill.usdc];
  return word(fill.side) + tokenWord + word(making) + word(taking);
}

/**
 * Logs of a match in the order of exchange V2. A mint is a split by the collateral adapter and a transfer of the set to the exchange; a
 * merge is a transfer to the adapter and its merge.
 */
export function addSettlement(sink: LogSink, { market, makers, taker, takerFee }: Settlement): void {
  const { tokenWords, conditionId } = market;
  for (const maker of makers) {
    if (maker.side === taker.side && maker.side === 0) {
      addSplitOrMerge(sink, 'positionSplit', ADAPTER_TOPIC, conditionId, maker.shares);
      addPairTransfer(sink, ADAPTER, EXCHANGE, tokenWords, maker.shares);
    } else if (maker.side === taker.side) {
      addPairTransfer(sink, EXCHANGE, ADAPTER, tokenWords, maker.shares);
      addSplitOrMerge(sink, 'positionsMerge', ADAPTER_TOPIC, conditionId, maker.shares);
    }
    sink.add(
      EXCHANGE,
      [FILLED, maker.hash, maker.party.topic, taker.party.topic],
      `0x${amountWords(maker, tokenWords[maker.outcome]!)}${ZERO_WORD}${ZERO_WORD}${ZERO_WORD}`,
    );
  }
  const amounts = amountWords(taker, tokenWords[taker.outcome]!);
  sink.add(
    EXCHANGE,
    [FILLED, taker.hash, taker.party.topic, EXCHANGE_TOPIC],
    `0x${amounts}${word(takerFee)}${ZERO_WORD}${ZERO_WORD}`,
  );
  sink.add(EXCHANGE, [MATCHED, taker.hash, taker.party.topic], `0x${amounts}`);
}
