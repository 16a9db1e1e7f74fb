import type { Settlement } from '../../../schemas/types.gen.js';
import {
  enrichment,
  eventSlugField,
  exchangeVersionField,
  marketFilters,
  outcomeOf,
  price,
  toUnits,
} from './enrichment.js';
import { type Draft, distinct, type Enrichment } from './frame.js';

/** A match seen in the mempool. Size in USD is taker price times taker size. */
export function settlementDraft(settlement: Settlement, known: Enrichment): Draft {
  const market =
    known.marketOfToken(settlement.taker_token) ??
    (settlement.condition_id === null ? undefined : known.marketOfCondition(settlement.condition_id));
  const filters = marketFilters(
    market,
    [settlement.taker_token, ...settlement.trades.map((trade) => trade.token_id)],
    settlement.condition_id,
  );
  return {
    id: settlement.id,
    kind: 'settlement',
    timestampMs: settlement.detected_at_ms,
    confirmed: false,
    txHash: settlement.tx_hash,
    wallets: distinct(settlement.taker_wallet, ...settlement.trades.flatMap((trade) => [trade.maker, trade.taker])),
    ...filters,
    side: settlement.taker_side,
    usd: settlement.taker_usdc,
    body: {
      timestamp: settlement.detected_at_ms,
      data: {
        event_type: 'settlement',
        tx_hash: settlement.tx_hash,
        status: 'pending',
        detected_at: settlement.detected_at_ms,
        block_number: null,
        taker_wallet: settlement.taker_wallet,
        taker_token: settlement.taker_token,
        taker_side: settlement.taker_side,
        taker_price: price(settlement.taker_usdc, settlement.taker_shares),
        taker_size: toUnits(settlement.taker_shares),
        ...(settlement.condition_id === null ? {} : { condition_id: settlement.condition_id }),
        neg_risk: settlement.neg_risk,
        ...enrichment(market, settlement.taker_token),
        ...eventSlugField(market),
        trades: settlement.trades.map((trade) => ({
          maker: trade.maker,
          signer: trade.signer,
          taker: trade.taker,
          token_id: trade.token_id,
          side: trade.side,
          price: price(trade.usdc, trade.shares),
          size: toUnits(trade.shares),
          maker_amount: trade.maker_amount.toString(),
          taker_amount: trade.taker_amount.toString(),
          ...outcomeOf(known.marketOfToken(trade.token_id), trade.token_id),
          order_hash: trade.order_hash,
          ...exchangeVersionField(settlement.exchange_version),
        })),
      },
    },
  };
}
