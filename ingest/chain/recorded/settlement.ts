import { keccakOfHex } from '../../../schemas/primitives/hash.js';
import { addresses, contracts } from '../contracts.js';
import { functionAbi, orderTypeHashes } from '../order-abi.js';
import type { Hex } from '../source.js';
import { word, ZERO_WORD } from './log-sink.js';
import type { Party } from './parties.js';
import type { MatchedOrder, RecordedMatch } from './transactions.js';
import type { MarketWords } from './v1-logs.js';

/** A fill with its order. Amounts in base units. */
export interface OrderFill {
  readonly party: Party;
  readonly side: number;
  readonly outcome: number;
  readonly usdc: number;
  readonly shares: number;
  /** The eleven signed fields as words, without type hash. */
  readonly signedWords: string;
  readonly signature: string;
  readonly hash: Hex;
}

/** A match of exchange V2, from which calldata and logs are encoded. */
export interface Settlement {
  readonly market: MarketWords;
  readonly makers: readonly OrderFill[];
  readonly taker: OrderFill;
  /** USDC, base units. */
  readonly takerFee: number;
}

const EXCHANGE = contracts.find((contract) => contract.address === addresses.exchangeV2)!;
const DOMAIN = EXCHANGE.role === 'exchange' ? EXCHANGE.domainSeparator.slice(2) : '';
const TYPE_HASH = orderTypeHashes.v2.slice(2);
/** Signature type: the owner of a Safe signs. */
const SIGNATURE_TYPE_WORD = word(2);

/** Amounts that the taker receives by the exchange's arithmetic, in whole base units. */
function takerAmounts(match: RecordedMatch): { usdc: number; shares: number } {
  let usdc = 0;
  let shares = 0;
  for (const maker of match.makers) {
    shares += maker.shares;
    usdc += maker.side === match.taker.side ? maker.shares - maker.usdc : maker.usdc;
  }
  return { usdc, shares };
}

/** Taker fee of V2 in USDC base units: shares x rate x p x (1 - p), rounded down to 10 base units (1e-5 pUSD). `ratePercent` 7 = 0.07. */
export function takerFeeV2(usdc: number, shares: number, ratePercent: number): number {
  if (shares === 0) return 0;
  const [u, s] = [BigInt(usdc), BigInt(shares)];
  return Number((BigInt(ratePercent) * u * (s - u)) / (100n * s * 10n)) * 10;
}

const rotate = (body: string, bytes: number): string => body.slice(2 * bytes) + body.slice(0, 2 * bytes);

/** Creates an unsigned order: every field that the recording lacks is derived from the transaction hash and the index of the order. */
function orderFill(
  leg: MatchedOrder,
  market: MarketWords,
  transactionHash: Hex,
  index: number,
  blockTimeS: number,
): OrderFill {
  const seed = rotate(transactionHash.slice(2), (index + 1) % 32);
  // The order may be larger than its fill, at the same price.
  const times = 1 + (Number.parseInt(seed.slice(0, 2), 16) & 3);
  const [making, taking] = leg.side === 0 ? [leg.usdc, leg.shares] : [leg.shares, leg.usdc];
  const signedAtMs = blockTimeS * 1000 - 2000 - (Number.parseInt(seed.slice(2, 6), 16) % 30_000) - index;
  const signedWords =
    word(BigInt(`0x${seed.slice(6, 18)}`) + BigInt(index)) +
    leg.party.word +
    leg.party.signerWord +
    market.tokenWords[leg.outcome]! +
    word(making * times) +
    word(taking * times) +
    word(leg.side) +
    SIGNATURE_TYPE_WORD +
    word(signedAtMs) +
    ZERO_WORD +
    ZERO_WORD;
  const struct = keccakOfHex(TYPE_HASH + signedWords).slice(2);
  return {
    ...leg,
    signedWords,
    signature: seed + rotate(seed, 7) + (Number.parseInt(seed[20]!, 16) & 1 ? '1b' : '1c'),
    hash: keccakOfHex(`1901${DOMAIN}${struct}`),
  };
}

/** Converts a recorded match to a V2 settlement of a transaction with the given (derived) hash. `flip` swaps the outcomes. */
export function settlementOf(
  match: RecordedMatch,
  market: MarketWords,
  transactionHash: Hex,
  blockTimeS: number,
  flip: boolean,
  feeRatePercent: number,
): Settlement {
  const turned = (leg: MatchedOrder): MatchedOrder => (flip ? { ...leg, outcome: 1 - leg.outcome } : leg);
  const makers = match.makers.map((leg, i) => orderFill(turned(leg), market, transactionHash, i, blockTimeS));
  const amounts = takerAmounts(match);
  const taker = { ...turned(match.taker), ...amounts };
  return {
    market,
    makers,
    taker: orderFill(taker, market, transactionHash, makers.length, blockTimeS),
    takerFee: takerFeeV2(amounts.usdc, amounts.shares, feeRatePercent),
  };
}

/** Filled amount in units of the order's maker amount. */
const fillAmount = (fill: OrderFill): number => (fill.side === 0 ? fill.usdc : fill.shares);

const SIGNATURE_BYTES = 65;
/** Twelve head words, the length word, three words of signature. */
const ORDER_BYTES = (12 + 1 + 3) * 32;

function orderTuple(fill: OrderFill): string {
  return `${fill.signedWords}${word(12 * 32)}${word(SIGNATURE_BYTES)}${fill.signature.padEnd(192, '0')}`;
}

const wordArray = (values: readonly number[]): string => word(values.length) + values.map(word).join('');

/** matchOrders calldata of exchange V2 whose execution logs exactly these fills. */
export function settlementCalldata({ market, makers, taker, takerFee }: Settlement): Hex {
  const head = 7 * 32;
  const n = makers.length;
  const makersAt = head + ORDER_BYTES;
  const fillsAt = makersAt + 32 + n * 32 + n * ORDER_BYTES;
  const feesAt = fillsAt + 32 + n * 32;
  const offsets = makers.map((_, i) => word(n * 32 + i * ORDER_BYTES)).join('');
  return `${functionAbi.matchOrdersV2.selector}${market.conditionId.slice(2)}${word(head)}${word(makersAt)}${word(
    fillAmount(taker),
  )}${word(fillsAt)}${word(takerFee)}${word(feesAt)}${orderTuple(taker)}${word(n)}${offsets}${makers
    .map(orderTuple)
    .join('')}${wordArray(makers.map(fillAmount))}${wordArray(makers.map(() => 0))}`;
}
