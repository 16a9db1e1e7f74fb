import { isAddress } from '../../../schemas/primitives/address.js';
import { isHash } from '../../../schemas/primitives/hash.js';
import { positionConditionId } from '../../../schemas/primitives/ids.js';
import type { Settlement, SettlementTrade } from '../../../schemas/types.gen.js';
import { contractAt, type ExchangeContract, settlementExchange } from '../contracts.js';
import type { FunctionName } from '../order-abi.js';
import type { RpcTransaction } from '../source.js';
import { type CallFees, type FillCall, type MatchCall, type Order, readCall, settlementFunctions } from './calldata.js';
import { exchangeFeeV1, feeSharesToUsdc } from './fees.js';
import { FILL_LIMIT, MalformedError } from './hex.js';

/** A settlement, or the reason why a settlement call is invalid. */
export type PendingResult = { readonly settlement: Settlement } | { readonly problem: string };

interface Amounts {
  readonly usdc: bigint;
  readonly shares: bigint;
}

/** Amount that an order receives for filling `fill` of its maker amount, by the exchange's arithmetic. */
function takingAmount(order: Order, fill: bigint): bigint {
  if (order.makerAmount === 0n) throw new MalformedError('order has a maker amount of zero');
  if (fill > order.makerAmount) throw new MalformedError('fill exceeds the order');
  return (fill * order.takerAmount) / order.makerAmount;
}

const toAmounts = (order: Order, made: bigint, took: bigint): Amounts =>
  order.side === 'BUY' ? { usdc: made, shares: took } : { usdc: took, shares: made };

/** V1 fee in USDC: buyers' fees are in shares. */
const usdcFeeV1 = (order: Order, fee: bigint, { usdc, shares }: Amounts): bigint =>
  order.side === 'BUY' ? feeSharesToUsdc(fee, usdc, shares) : fee;

function rateFeeV1(order: Order, feeRateBps: bigint, at: Amounts, price: { maker: bigint; taker: bigint }): bigint {
  const fee = exchangeFeeV1({
    feeRateBps,
    side: order.side,
    shares: at.shares,
    makerAmount: price.maker,
    takerAmount: price.taker,
  });
  return usdcFeeV1(order, fee, at);
}

function makerFee(exchange: ExchangeContract, fees: CallFees, index: number, order: Order, at: Amounts): bigint {
  if (fees.kind === 'amounts') {
    const fee = fees.makers[index] ?? 0n;
    return exchange.generation === 1 ? usdcFeeV1(order, fee, at) : fee;
  }
  const rate = fees.kind === 'maker_rate' ? fees.rateBps : order.feeRateBps;
  return rateFeeV1(order, rate, at, { maker: order.makerAmount, taker: order.takerAmount });
}

function takerFee(exchange: ExchangeContract, fees: CallFees, order: Order, at: Amounts): bigint {
  if (fees.kind === 'amounts') return exchange.generation === 1 ? usdcFeeV1(order, fees.taker, at) : fees.taker;
  const price = order.side === 'BUY' ? { maker: at.usdc, taker: at.shares } : { maker: at.shares, taker: at.usdc };
  return rateFeeV1(order, order.feeRateBps, at, price);
}

interface MakerRow {
  readonly order: Order;
  readonly fill: bigint;
  readonly took: bigint;
}

const subtract = (a: bigint, b: bigint): bigint => {
  if (b > a) throw new MalformedError('maker order pays more than the value of a full set');
  return a - b;
};

/**
 * Amounts that the taker receives and pays, before fees. A maker on the opposite side trades the taker's token; a maker on the same side is
 * matched by a mint (both buy) or a merge (both sell), and the taker gets the remainder of each full set.
 */
function takerAmounts(exchange: ExchangeContract, call: MatchCall, makers: readonly MakerRow[]): Amounts {
  let usdc = 0n;
  let shares = 0n;
  const buy = call.taker.side === 'BUY';
  for (const { order, fill, took } of makers) {
    if (buy) {
      shares += order.side === 'SELL' ? fill : took;
      usdc += order.side === 'SELL' ? took : subtract(took, fill);
    } else {
      usdc += order.side === 'BUY' ? fill : subtract(fill, took);
      shares += took;
    }
  }
  if (buy) return { usdc, shares };
  const complementary = makers.every(({ order }) => order.side === 'BUY');
  return { usdc, shares: complementary && exchange.generation !== 1 ? shares : call.takerFill };
}

/** Amounts of the taker's future log: unlike the real amounts they may include a refunded part. */
function loggedTakerAmounts(
  exchange: ExchangeContract,
  call: MatchCall,
  makers: readonly MakerRow[],
  real: Amounts,
): { made: bigint; took: bigint } {
  const buy = call.taker.side === 'BUY';
  const realMade = buy ? real.usdc : real.shares;
  const complementary = makers.every(({ order }) => order.side !== call.taker.side);
  const computed = exchange.generation === 3 || (exchange.generation === 2 && complementary);
  return {
    made: computed ? realMade : call.takerFill,
    took: call.takerReceive ?? (buy ? real.shares : real.usdc),
  };
}

const tradeRow = (
  order: Order,
  taker: string,
  amounts: Amounts,
  logged: { made: bigint; took: bigint },
  fee: bigint,
): SettlementTrade => ({
  order_hash: order.hash,
  maker: order.maker,
  signer: order.signer,
  taker,
  token_id: order.tokenId,
  side: order.side,
  usdc: amounts.usdc,
  shares: amounts.shares,
  maker_amount: logged.made,
  taker_amount: logged.took,
  fee,
});

type SettlementBody = Pick<
  Settlement,
  | 'condition_id'
  | 'combo_legs'
  | 'taker_wallet'
  | 'taker_token'
  | 'taker_side'
  | 'taker_usdc'
  | 'taker_shares'
  | 'taker_fee'
  | 'trades'
>;

function matchBody(exchange: ExchangeContract, call: MatchCall): SettlementBody {
  const { taker, fees } = call;
  if (call.takerFill > taker.makerAmount) throw new MalformedError('taker fill exceeds the order');
  if (call.makers.length === 0) throw new MalformedError('no maker orders');
  if (call.makerFills.length !== call.makers.length)
    throw new MalformedError('maker orders and fills differ in length');
  if (fees.kind === 'amounts' && fees.makers.length !== call.makers.length) {
    throw new MalformedError('maker orders and fees differ in length');
  }
  const makers = call.makers.map((order, i): MakerRow => {
    const fill = call.makerFills[i] ?? 0n;
    return { order, fill, took: takingAmount(order, fill) };
  });
  const trades = makers.map(({ order, fill, took }, i) => {
    const amounts = toAmounts(order, fill, took);
    return tradeRow(order, taker.maker, amounts, { made: fill, took }, makerFee(exchange, fees, i, order, amounts));
  });
  const real = takerAmounts(exchange, call, makers);
  if (real.shares === 0n) throw new MalformedError('settlement without shares');
  const fee = takerFee(exchange, fees, taker, real);
  trades.push(tradeRow(taker, taker.maker, real, loggedTakerAmounts(exchange, call, makers, real), fee));
  return {
    condition_id: exchange.generation === 3 ? positionConditionId(BigInt(taker.tokenId)) : call.conditionId,
    combo_legs: call.comboLegs?.map(String) ?? null,
    taker_wallet: taker.maker,
    taker_token: taker.tokenId,
    taker_side: taker.side,
    taker_usdc: real.usdc,
    taker_shares: real.shares,
    taker_fee: fee,
    trades,
  };
}

/** fillOrder(s) of V1: the caller is the taker of every order and has no order. */
function fillBody(exchange: ExchangeContract, call: FillCall, caller: string): SettlementBody {
  const first = call.orders[0];
  if (first === undefined) throw new MalformedError('no orders');
  if (call.fills.length !== call.orders.length) throw new MalformedError('orders and fills differ in length');
  let taker_usdc = 0n;
  let taker_shares = 0n;
  const trades = call.orders.map((order, i) => {
    const made = call.fills[i] ?? 0n;
    const took = takingAmount(order, made);
    const amounts = toAmounts(order, made, took);
    if (order.tokenId === first.tokenId && order.side === first.side) {
      taker_usdc += amounts.usdc;
      taker_shares += amounts.shares;
    }
    const fee = makerFee(exchange, { kind: 'order_rates' }, i, order, amounts);
    return tradeRow(order, caller, amounts, { made, took }, fee);
  });
  if (taker_shares === 0n) throw new MalformedError('settlement without shares');
  return {
    condition_id: null,
    combo_legs: null,
    taker_wallet: caller,
    taker_token: first.tokenId,
    taker_side: first.side === 'BUY' ? 'SELL' : 'BUY',
    taker_usdc,
    taker_shares,
    taker_fee: 0n,
    trades,
  };
}

function requireFillAmounts(body: SettlementBody): void {
  const tooLarge = (value: bigint): boolean => value >= FILL_LIMIT;
  for (const trade of body.trades) {
    const values = [trade.usdc, trade.shares, trade.maker_amount, trade.taker_amount, trade.fee];
    if (values.some(tooLarge)) throw new MalformedError('amount exceeds 64 bits');
  }
  if (tooLarge(body.taker_usdc) || tooLarge(body.taker_shares)) throw new MalformedError('amount exceeds 64 bits');
}

interface Target {
  readonly exchange: ExchangeContract;
  readonly name: FunctionName;
}

/**
 * Exchange and function of a settlement call, looked up by recipient before selector, because forks at other addresses reuse the selectors.
 */
function targetOf(tx: RpcTransaction): Target | null {
  if (typeof tx.to !== 'string' || typeof tx.input !== 'string') return null;
  const exchange = settlementExchange(tx.to);
  if (exchange === null) return null;
  const functions = settlementFunctions[contractAt(tx.to)?.role === 'fee_module' ? 'fee_module' : exchange.generation];
  const name = functions.get(tx.input.slice(0, 10));
  return name === undefined ? null : { exchange, name };
}

/**
 * Decodes the settlement of a pending transaction: maker rows in calldata order with the amounts of their future logs, then the taker's row
 * (maker = taker) with the amounts it really pays and receives. null: not a settlement of a watched exchange. A call that cannot be
 * decoded, or that the exchange would reject, is a problem; never throws.
 */
export function decodePending(tx: RpcTransaction, seenAtMs: number): PendingResult | null {
  const target = targetOf(tx);
  if (target === null) return null;
  const { exchange, name } = target;
  try {
    if (!isHash(tx.hash)) throw new MalformedError('transaction hash is not 32 bytes');
    if (!isAddress(tx.from)) throw new MalformedError('sender is not an address');
    const call = readCall(name, exchange, tx.input);
    const body = call.kind === 'match' ? matchBody(exchange, call) : fillBody(exchange, call, tx.from);
    requireFillAmounts(body);
    return {
      settlement: {
        id: `settlement-${tx.hash}`,
        tx_hash: tx.hash,
        detected_at_ms: seenAtMs,
        exchange: exchange.address,
        exchange_version: exchange.generation,
        neg_risk: exchange.negRisk,
        ...body,
      },
    };
  } catch (error) {
    if (!(error instanceof MalformedError)) throw error;
    return { problem: `${name}: ${error.message}` };
  }
}
