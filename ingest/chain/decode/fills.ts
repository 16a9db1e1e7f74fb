import type { Trade } from '../../../schemas/types.gen.js';
import type { ExchangeContract } from '../contracts.js';
import type { BlockIds } from './block-ids.js';
import type { EventHeader } from './chain-event.js';
import { feeSharesToUsdc } from './fees.js';
import { FILL_LIMIT, MalformedError } from './hex.js';
import type { ArgsOf } from './log-decoders.js';
import type { DecodedLogOf } from './read-log.js';

/** Arguments of OrderFilled that all exchange generations have. Amounts are base units (1e-6). */
type FillArgs = Pick<
  ArgsOf<'orderFilledV1'> & ArgsOf<'orderFilledV2'>,
  'orderHash' | 'maker' | 'taker' | 'makerAmountFilled' | 'takerAmountFilled'
>;

/** Parts of a fill whose encoding differs between the generations. */
interface FillTerms {
  readonly buy: boolean;
  readonly token: string;
  /** USDC base units. */
  readonly fee: bigint;
  /** Fee taken in shares, base units; 0 where the fee is in USDC. */
  readonly feeShares: bigint;
  readonly builder: string | null;
}

/** The maker of a BUY gives USDC and receives shares; the maker of a SELL the reverse. */
const amountsOf = (args: FillArgs, buy: boolean) => ({
  usdc: buy ? args.makerAmountFilled : args.takerAmountFilled,
  shares: buy ? args.takerAmountFilled : args.makerAmountFilled,
});

function createFill(header: EventHeader, exchange: ExchangeContract, args: FillArgs, terms: FillTerms): Trade {
  const { buy, token } = terms;
  const { usdc, shares } = amountsOf(args, buy);
  return {
    id: header.id,
    block_number: header.block_number,
    block_hash: header.block_hash,
    timestamp_ms: header.timestamp_ms,
    tx_hash: header.tx_hash,
    log_index: header.log_index,
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
    fee: terms.fee,
    fee_shares: terms.feeShares,
    builder: terms.builder,
  };
}

/**
 * Fill of exchange V1, whose log names both assets (0 is collateral) and whose fee is in the asset that the maker receives.
 * `refund` is the part of the fee that the FeeModule returned, in the same unit. Throws MalformedError.
 */
export function fillV1(
  header: EventHeader,
  exchange: ExchangeContract,
  args: ArgsOf<'orderFilledV1'>,
  refund: bigint,
  ids: BlockIds,
): Trade {
  const buy = args.makerAssetId === 0n;
  const tokenId = buy ? args.takerAssetId : args.makerAssetId;
  if (tokenId === 0n) throw new MalformedError('both sides of the fill are collateral');
  if (!buy && args.takerAssetId !== 0n) throw new MalformedError('both sides of the fill are outcome tokens');
  const { usdc, shares } = amountsOf(args, buy);
  const netFee = args.fee - refund;
  return createFill(header, exchange, args, {
    buy,
    token: ids.text(tokenId),
    fee: feeInUsdc(buy, netFee, usdc, shares),
    feeShares: buy ? netFee : 0n,
    builder: null,
  });
}

function feeInUsdc(buy: boolean, fee: bigint, usdc: bigint, shares: bigint): bigint {
  if (!buy) return fee;
  const converted = feeSharesToUsdc(fee, usdc, shares);
  if (converted >= FILL_LIMIT) throw new MalformedError('fee exceeds 64 bits');
  return converted;
}

/** Fill of exchange V2 or V3, whose log names side and token and whose fee is in USDC. */
export function fillV2(
  header: EventHeader,
  exchange: ExchangeContract,
  args: ArgsOf<'orderFilledV2'>,
  ids: BlockIds,
): Trade {
  return createFill(header, exchange, args, {
    buy: args.side === 0,
    token: ids.text(args.tokenId),
    fee: args.fee,
    feeShares: 0n,
    builder: args.builder,
  });
}

export interface Refunds {
  /** Refunded fee by log index of the fill. */
  readonly byFill: ReadonlyMap<number, bigint>;
  /** Refunds without a matching fill in the transaction. */
  readonly stray: readonly { readonly refund: DecodedLogOf<'feeRefunded'>; readonly reason: string }[];
}

/**
 * Assigns each FeeRefunded log of a transaction to a V1 fill with the same order hash. Where several fills of one order match, the one with
 * fee - refund = feeCharged is taken, else the first.
 */
export function assignRefunds(
  fills: readonly DecodedLogOf<'orderFilledV1'>[],
  refunds: readonly DecodedLogOf<'feeRefunded'>[],
): Refunds {
  const byFill = new Map<number, bigint>();
  const stray: { refund: DecodedLogOf<'feeRefunded'>; reason: string }[] = [];
  for (const refund of refunds) {
    const module = refund.contract;
    const exchange = module.role === 'fee_module' ? module.exchange : '';
    const open = fills.filter(
      (fill) =>
        fill.args.orderHash === refund.args.orderHash &&
        fill.contract.address === exchange &&
        !byFill.has(fill.logIndex) &&
        fill.args.fee >= refund.args.refund,
    );
    const fill = open.find((one) => one.args.fee - refund.args.refund === refund.args.feeCharged) ?? open[0];
    if (fill === undefined) stray.push({ refund, reason: 'fee refund without a fill it could belong to' });
    else byFill.set(fill.logIndex, refund.args.refund);
  }
  return { byFill, stray };
}
