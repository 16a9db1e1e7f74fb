import type { ImportedChainRow } from '../../../infra/import/format.js';
import { addresses } from '../contracts.js';
import { eventAbi } from '../event-abi.js';
import { addressTopic, addressWord, word, ZERO_TOPIC, ZERO_WORD } from '../recorded/log-sink.js';
import type { Hex } from '../source.js';

/** A log without its place in the block. */
export interface BareLog {
  readonly address: Hex;
  readonly topics: readonly Hex[];
  readonly data: Hex;
}

const hex = (text: string): Hex => text as Hex;
const wordOf = (decimal: string): string => word(BigInt(decimal));
/** A dynamic array: length, then elements. */
const arrayWords = (values: readonly string[]): string => word(values.length) + values.map(wordOf).join('');
const AFTER_THREE = word(0x60);
const USDC_WORD = addressWord(addresses.usdcE);
const WRAPPED_WORD = addressWord(addresses.wrappedCollateral);
const BOTH_OUTCOMES = arrayWords(['1', '2']);

function exchangeOf(row: ImportedChainRow, negRisk: boolean): Hex {
  if (row.version === 1) return negRisk ? addresses.exchangeV1NegRisk : addresses.exchangeV1;
  if (row.version === 2) return negRisk ? addresses.exchangeV2NegRiskA : addresses.exchangeV2;
  return addresses.exchangeV3;
}

/** The fee of exchange V1 is in what the order receives: shares of a buy, USD of a sale. */
function fillLog(row: ImportedChainRow, negRisk: boolean): BareLog {
  const address = exchangeOf(row, negRisk);
  const isBuy = row.side === 'BUY';
  const amounts = isBuy ? wordOf(row.usd) + wordOf(row.shares) : wordOf(row.shares) + wordOf(row.usd);
  // The taker's own order names the exchange as its taker.
  const topics = [
    hex(row.order),
    addressTopic(hex(row.wallet)),
    addressTopic(row.taker === '' ? address : hex(row.taker)),
  ];
  if (row.version === 1) {
    const assets = isBuy ? ZERO_WORD + wordOf(row.token) : wordOf(row.token) + ZERO_WORD;
    const fee = wordOf(isBuy ? row.fee_shares : row.fee);
    return { address, topics: [eventAbi.orderFilledV1.topic0, ...topics], data: `0x${assets}${amounts}${fee}` };
  }
  const builder = row.builder === '' ? ZERO_WORD : row.builder.slice(2);
  const data: Hex = `0x${word(isBuy ? 0 : 1)}${wordOf(row.token)}${amounts}${wordOf(row.fee)}${builder}${ZERO_WORD}`;
  return { address, topics: [eventAbi.orderFilledV2.topic0, ...topics], data };
}

function redemptionLog(row: ImportedChainRow, collateral: string): BareLog {
  const wallet = addressTopic(hex(row.wallet));
  // A combo's condition has 31 bytes; its position is the condition and the outcome in the last byte.
  const isCombo = row.condition.length === 64;
  if (isCombo || row.through.startsWith('AutoRedeemer.')) {
    const isNegRisk = row.through === 'AutoRedeemer.NegRiskRedemption';
    const event = isCombo ? 'comboRedemption' : isNegRisk ? 'negRiskRedemption' : 'binaryRedemption';
    const subject = isCombo ? `${row.condition}${row.sets[0] === '2' ? '01' : '00'}` : row.condition;
    return {
      address: addresses.autoRedeemer,
      topics: [eventAbi[event].topic0, wallet, hex(subject)],
      data: `0x${wordOf(row.usd)}`,
    };
  }
  return {
    address: addresses.conditionalTokens,
    topics: [eventAbi.payoutRedemption.topic0, wallet, `0x${collateral}`, ZERO_TOPIC],
    data: `0x${row.condition.slice(2)}${AFTER_THREE}${wordOf(row.usd)}${arrayWords(row.sets)}`,
  };
}

/**
 * The log whose decoding gives the row: of the contract that acted where the row says it, else of ConditionalTokens with the wallet as the actor.
 */
export function rowLog(row: ImportedChainRow, negRisk: boolean): BareLog {
  const collateral = negRisk ? WRAPPED_WORD : USDC_WORD;
  switch (row.kind) {
    case 'fill':
      return fillLog(row, negRisk);
    case 'redemption':
      return redemptionLog(row, collateral);
    case 'split':
    case 'merge':
      return {
        address: addresses.conditionalTokens,
        topics: [
          eventAbi[row.kind === 'split' ? 'positionSplit' : 'positionsMerge'].topic0,
          addressTopic(hex(row.wallet)),
          ZERO_TOPIC,
          hex(row.condition),
        ],
        data: `0x${collateral}${AFTER_THREE}${wordOf(row.shares)}${BOTH_OUTCOMES}`,
      };
    case 'conversion':
      return {
        address: addresses.negRiskAdapter,
        topics: [
          eventAbi.positionsConverted.topic0,
          addressTopic(hex(row.wallet)),
          hex(row.market),
          `0x${wordOf(row.sets[0] ?? '0')}`,
        ],
        data: `0x${wordOf(row.shares)}`,
      };
    case 'resolution':
      return {
        address: addresses.conditionalTokens,
        topics: [
          eventAbi.conditionResolution.topic0,
          hex(row.condition),
          addressTopic(hex(row.oracle)),
          hex(row.question),
        ],
        data: `0x${word(row.payouts.length)}${word(0x40)}${arrayWords(row.payouts)}`,
      };
  }
}
