import type { Side } from '../../../schemas/types.gen.js';
import type { ExchangeContract } from '../contracts.js';
import { type FunctionName, functionAbi } from '../order-abi.js';
import type { Hex } from '../source.js';
import { addressAt, hashAt, MalformedError, requireAllHex, uint31At, uint256At, WORD } from './hex.js';
import { orderHash } from './order-hash.js';

/** A signed order in the calldata of a settlement. */
export interface Order {
  readonly hash: Hex;
  readonly maker: Hex;
  /** EOA behind the maker; the maker itself for signature types 0 and 3. */
  readonly signer: Hex;
  readonly tokenId: string;
  readonly makerAmount: bigint;
  readonly takerAmount: bigint;
  readonly side: Side;
  /** V1 only. */
  readonly feeRateBps: bigint;
}

/** Fees in the calldata: absolute amounts, a rate for V1 makers, or none (the V1 exchange charges the rate of each order). */
export type CallFees =
  | { readonly kind: 'amounts'; readonly taker: bigint; readonly makers: readonly bigint[] }
  | { readonly kind: 'maker_rate'; readonly rateBps: bigint }
  | { readonly kind: 'order_rates' };

export interface MatchCall {
  readonly kind: 'match';
  readonly conditionId: Hex | null;
  /** Leg position ids where the call also prepares the traded combo. */
  readonly comboLegs: readonly bigint[] | null;
  readonly taker: Order;
  readonly makers: readonly Order[];
  readonly takerFill: bigint;
  /** takerAmountFilled of the taker's future log; null where the calldata does not contain it. */
  readonly takerReceive: bigint | null;
  readonly makerFills: readonly bigint[];
  readonly fees: CallFees;
}

export interface FillCall {
  readonly kind: 'fill';
  readonly orders: readonly Order[];
  readonly fills: readonly bigint[];
}

/** Exceeds the number of orders that fit into the gas of a block. */
const MAX_ORDERS = 500;

/** Head words of the order tuple; the last one is the offset of the signature. */
const layouts = {
  1: { words: 13, token: 4, makerAmount: 5, takerAmount: 6, side: 10, signatureType: 11 },
  2: { words: 12, token: 3, makerAmount: 4, takerAmount: 5, side: 6, signatureType: 7 },
} as const;

/** Calldata after the selector, as hex without `0x`; positions are in characters. */
class CalldataReader {
  constructor(
    readonly text: string,
    private readonly exchange: ExchangeContract,
  ) {}

  uint(position: number): bigint {
    return uint256At(this.text, position);
  }

  /** Start of the dynamic value whose offset, relative to `base`, is at `position`. */
  resolveOffset(base: number, position: number): number {
    const target = base + uint31At(this.text, position, 'offset') * 2;
    if (target + WORD > this.text.length) throw new MalformedError('offset is out of range');
    return target;
  }

  length(position: number): number {
    const length = uint31At(this.text, position, 'length');
    if (length > MAX_ORDERS) throw new MalformedError(`more than ${MAX_ORDERS} items`);
    return length;
  }

  uints(headPosition: number): bigint[] {
    const start = this.resolveOffset(0, headPosition);
    return Array.from({ length: this.length(start) }, (_, i) => this.uint(start + WORD * (i + 1)));
  }

  orders(headPosition: number): Order[] {
    const start = this.resolveOffset(0, headPosition);
    const base = start + WORD;
    return Array.from({ length: this.length(start) }, (_, i) => this.order(this.resolveOffset(base, base + i * WORD)));
  }

  orderAtOffset(headPosition: number): Order {
    return this.order(this.resolveOffset(0, headPosition));
  }

  private order(start: number): Order {
    const layout = layouts[this.exchange.generation === 1 ? 1 : 2];
    const word = (index: number): number => start + index * WORD;
    if (word(layout.words) > this.text.length) throw new MalformedError('order is cut off');
    const signature = this.resolveOffset(start, word(layout.words - 1));
    const signatureBytes = uint31At(this.text, signature, 'signature length');
    if (signature + WORD + signatureBytes * 2 > this.text.length) throw new MalformedError('signature is cut off');
    const side = uint31At(this.text, word(layout.side), 'side');
    const signatureType = uint31At(this.text, word(layout.signatureType), 'signature type');
    if (side > 1) throw new MalformedError('side is neither 0 nor 1');
    if (signatureType > 3) throw new MalformedError('unknown signature type');
    const maker = addressAt(this.text, word(1));
    const signer = addressAt(this.text, word(2));
    if (this.exchange.generation === 1) addressAt(this.text, word(3));
    return {
      hash: orderHash(this.exchange, this.text.slice(start, word(layout.words))),
      maker,
      signer: signatureType === 1 || signatureType === 2 ? signer : maker,
      tokenId: this.uint(word(layout.token)).toString(),
      makerAmount: this.uint(word(layout.makerAmount)),
      takerAmount: this.uint(word(layout.takerAmount)),
      side: side === 0 ? 'BUY' : 'SELL',
      feeRateBps: this.exchange.generation === 1 ? this.uint(word(9)) : 0n,
    };
  }
}

const amounts = (body: CalldataReader, taker: number, makers: number): CallFees => ({
  kind: 'amounts',
  taker: body.uint(taker * WORD),
  makers: body.uints(makers * WORD),
});

const matchV1 = (
  body: CalldataReader,
): Pick<MatchCall, 'kind' | 'conditionId' | 'comboLegs' | 'taker' | 'makers' | 'takerFill'> => ({
  kind: 'match',
  conditionId: null,
  comboLegs: null,
  taker: body.orderAtOffset(0),
  makers: body.orders(WORD),
  takerFill: body.uint(2 * WORD),
});

const matchV3 = (body: CalldataReader): MatchCall => ({
  kind: 'match',
  conditionId: null,
  comboLegs: null,
  taker: body.orderAtOffset(0),
  makers: body.orders(WORD),
  makerFills: body.uints(2 * WORD),
  takerFill: body.uint(4 * WORD),
  takerReceive: body.uint(5 * WORD),
  fees: amounts(body, 6, 3),
});

/** Head layout of each function, in words. */
const callReaders: Record<FunctionName, (body: CalldataReader) => MatchCall | FillCall> = {
  matchOrdersFeeModule: (body) => ({
    ...matchV1(body),
    takerReceive: body.uint(3 * WORD),
    makerFills: body.uints(4 * WORD),
    fees: amounts(body, 5, 6),
  }),
  matchOrdersFeeModuleOld: (body) => ({
    ...matchV1(body),
    takerReceive: null,
    makerFills: body.uints(3 * WORD),
    fees: amounts(body, 4, 5),
  }),
  matchOrdersFeeModuleRate: (body) => ({
    ...matchV1(body),
    takerReceive: null,
    makerFills: body.uints(3 * WORD),
    fees: { kind: 'maker_rate', rateBps: body.uint(4 * WORD) },
  }),
  matchOrdersV1: (body) => ({
    ...matchV1(body),
    takerReceive: null,
    makerFills: body.uints(3 * WORD),
    fees: { kind: 'order_rates' },
  }),
  fillOrderV1: (body) => ({ kind: 'fill', orders: [body.orderAtOffset(0)], fills: [body.uint(WORD)] }),
  fillOrdersV1: (body) => ({ kind: 'fill', orders: body.orders(0), fills: body.uints(WORD) }),
  matchOrdersV2: (body) => ({
    kind: 'match',
    conditionId: hashAt(body.text, 0),
    comboLegs: null,
    taker: body.orderAtOffset(WORD),
    makers: body.orders(2 * WORD),
    takerFill: body.uint(3 * WORD),
    takerReceive: null,
    makerFills: body.uints(4 * WORD),
    fees: amounts(body, 5, 6),
  }),
  matchOrdersV3: matchV3,
  matchOrdersAndPrepareCombinatorialV3: (body) => ({ ...matchV3(body), comboLegs: body.uints(7 * WORD) }),
};

/** Reads the arguments of a settlement function. `input` is the whole calldata. Throws MalformedError. */
export function readCall(name: FunctionName, exchange: ExchangeContract, input: string): MatchCall | FillCall {
  const text = input.slice(2 + 8);
  if (text.length % 2 !== 0) throw new MalformedError('calldata has an odd number of hex digits');
  requireAllHex(text);
  return callReaders[name](new CalldataReader(text, exchange));
}

/** Functions of a settlement by the recipient of the call. */
const bySelector = (...names: FunctionName[]): ReadonlyMap<string, FunctionName> =>
  new Map(names.map((name) => [functionAbi[name].selector as string, name]));

export const settlementFunctions = {
  fee_module: bySelector('matchOrdersFeeModule', 'matchOrdersFeeModuleOld', 'matchOrdersFeeModuleRate'),
  1: bySelector('matchOrdersV1', 'fillOrderV1', 'fillOrdersV1'),
  2: bySelector('matchOrdersV2'),
  3: bySelector('matchOrdersV3', 'matchOrdersAndPrepareCombinatorialV3'),
} as const;
