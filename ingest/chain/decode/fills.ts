import type { Trade } from '../../../schemas/types.gen.js';
import type { ExchangeContract } from '../contracts.js';
import type { BlockIds } from './block-ids.js';
import type { EventHeader } from './chain-event.js';
import { feeSharesToUsdc } from './fees.js';
import { FILL_LIMIT, MalformedError } from './hex.js';
import type { ArgsOf } from './log-decoders.js';
import type { DecodedLogOf } from './read-log.js';

/** Fill of exchange V1. `refund` is what the FeeModule gave back, in the unit of the fee. Throws MalformedError. */
export function fillV1(
  located: EventHeader,
  exchange: ExchangeContract,
  args: ArgsOf<'orderFilledV1'>,
  refund: bigint,
  ids: BlockIds,
): Trade {
  const buy = args.makerAssetId === 0n;
  const tokenId = buy ? args.takerAssetId : args.makerAssetId;
  if (tokenId === 0n) throw new MalformedError('both sides of the fill are collateral');
  if (!buy && args.takerAssetId !== 0n) throw new MalformedError('both sides of the fill are outcome tokens');
  const usdc = buy ? args.makerAmountFilled : args.takerAmountFilled;
  const shares = buy ? args.takerAmountFilled : args.makerAmountFilled;
  const netFee = args.fee - refund;
  const token = ids.text(tokenId);
  return {
    id: located.id,
    block_number: located.block_number,
    block_hash: located.block_hash,
    timestamp_ms: located.timestamp_ms,
    tx_hash: located.tx_hash,
    log_index: located.log_index,
    exchange: exchange.address,
    exchange_version: exchange.generation,
    neg_risk: exchange.negRisk,
    order_hash: args.orderHash,
    maker: args.maker,
    taker: args.taker,
    is_taker_order: args.taker === exchange.address,
    side: buy ? 'BUY' : 'SELL',
    token_id: token,
    usdc,
    shares,
    maker_asset_id: buy ? '0' : token,
    taker_asset_id: buy ? token : '0',
    maker_amount: args.makerAmountFilled,
    taker_amount: args.takerAmountFilled,
    fee: feeInUsdc(buy, netFee, usdc, shares),
    fee_shares: buy ? netFee : 0n,
    builder: null,
  };
}

function feeInUsdc(buy: boolean, fee: bigint, usdc: bigint, shares: bigint): bigint {
  if (!buy) return fee;
  const converted = feeSharesToUsdc(fee, usdc, shares);
  if (converted >= FILL_LIMIT) throw new MalformedError('fee beyond 64 bits');
  return converted;
}

/** Fill of exchange V2 or V3. */
export function fillV2(
  located: EventHeader,
  exchange: ExchangeContract,
  args: ArgsOf<'orderFilledV2'>,
  ids: BlockIds,
): Trade {
  const buy = args.side === 0;
  const token = ids.text(args.tokenId);
  return {
    id: located.id,
    block_number: located.block_number,
    block_hash: located.block_hash,
    timestamp_ms: located.timestamp_ms,
    tx_hash: located.tx_hash,
    log_index: located.log_index,
    exchange: exchange.address,
    exchange_version: exchange.generation,
    neg_risk: exchange.negRisk,
    order_hash: args.orderHash,
    maker: args.maker,
    taker: args.taker,
    is_taker_order: args.taker === exchange.address,
    side: buy ? 'BUY' : 'SELL',
    token_id: token,
    usdc: buy ? args.makerAmountFilled : args.takerAmountFilled,
    shares: buy ? args.takerAmountFilled : args.makerAmountFilled,
    maker_asset_id: buy ? '0' : token,
    taker_asset_id: buy ? token : '0',
    maker_amount: args.makerAmountFilled,
    taker_amount: args.takerAmountFilled,
    fee: args.fee,
    fee_shares: 0n,
    builder: args.builder,
  };
}

export interface Refunds {
  /** By log index of the fill. */
  readonly ofFill: ReadonlyMap<number, bigint>;
  /** Refunds that belong to no fill of the transaction. */
  readonly stray: readonly { readonly refund: DecodedLogOf<'feeRefunded'>; readonly reason: string }[];
}

/**
 * Which V1 fill each FeeRefunded of a transaction belongs to: same order hash, and fee - refund = feeCharged where several fills of one order
 * make it ambiguous.
 */
export function assignRefunds(
  fills: readonly DecodedLogOf<'orderFilledV1'>[],
  refunds: readonly DecodedLogOf<'feeRefunded'>[],
): Refunds {
  const ofFill = new Map<number, bigint>();
  const stray: { refund: DecodedLogOf<'feeRefunded'>; reason: string }[] = [];
  for (const refund of refunds) {
    const module = refund.contract;
    const exchange = module.role === 'fee_module' ? module.exchange : '';
    const open = fills.filter(
      (fill) =>
        fill.args.orderHash === refund.args.orderHash &&
        fill.contract.address === exchange &&
        !ofFill.has(fill.logIndex) &&
        fill.args.fee >= refund.args.refund,
    );
    const fill = open.find((one) => one.args.fee - refund.args.refund === refund.args.feeCharged) ?? open[0];
    if (fill === undefined) stray.push({ refund, reason: 'fee refund without a fill it could belong to' });
    else ofFill.set(fill.logIndex, refund.args.refund);
  }
  return { ofFill, stray };
}
