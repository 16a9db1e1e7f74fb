import type { StatusUpdate } from '../../../schemas/types.gen.js';
import { enrichment, marketFilters, price, toUnits } from './enrichment.js';
import { type Draft, distinct, type Enrichment, idInBlock } from './frame.js';

/** The row of the taker's order in the log: the last one if it was filled in parts. */
const takerFillOf = (update: StatusUpdate) =>
  update.confirmed_fills.findLast((fill) => fill.maker === update.taker_wallet && fill.token_id === update.token_id);

/** A pending settlement was included in a block. Size in USD and side are those of the settlement. */
export function statusUpdateDraft(update: StatusUpdate, known: Enrichment): Draft {
  const market = known.marketOfToken(update.token_id);
  const takerFill = takerFillOf(update);
  const filters = marketFilters(market, [update.token_id, ...update.confirmed_fills.map((fill) => fill.token_id)]);
  return {
    id: idInBlock(update.id, update.block_hash),
    kind: 'status_update',
    timestampMs: update.confirmed_at_ms,
    confirmed: true,
    blockNumber: update.block_number,
    txHash: update.tx_hash,
    wallets: distinct(update.taker_wallet, ...update.maker_wallets),
    ...filters,
    side: takerFill?.side,
    // The log's amount, for records without that of the settlement, includes what a taker who buys is paid back.
    usd: update.taker_usdc ?? takerFill?.usdc,
    body: {
      timestamp: update.confirmed_at_ms,
      data: {
        event_type: 'status_update',
        tx_hash: update.tx_hash,
        token_id: update.token_id,
        block_number: update.block_number,
        confirmed_at: update.confirmed_at_ms,
        pending_detected_at: update.pending_detected_at_ms,
        latency_ms: update.latency_ms,
        taker_wallet: update.taker_wallet,
        maker_wallets: update.maker_wallets,
        order_hashes: update.order_hashes,
        confirmed_fills: update.confirmed_fills.map((fill) => ({
          order_hash: fill.order_hash,
          maker: fill.maker,
          taker: fill.taker,
          token_id: fill.token_id,
          side: fill.side,
          price: price(fill.usdc, fill.shares),
          size: toUnits(fill.shares),
          maker_amount: fill.maker_amount.toString(),
          taker_amount: fill.taker_amount.toString(),
          fee: toUnits(fill.fee),
        })),
        ...enrichment(market, update.token_id),
      },
    },
  };
}
