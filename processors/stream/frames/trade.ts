import type { Trade } from '../../../schemas/types.gen.js';
import { enrichment, eventSlugField, exchangeVersionField, marketFilters, price, toUnits } from './enrichment.js';
import { chainDraft, type Draft, distinct, type Enrichment } from './frame.js';

/** One OrderFilled log. The log of the taker's order has the exchange as `taker`, which is no wallet. Size in USD is price times size. */
export function tradeDraft(trade: Trade, known: Enrichment): Draft {
  const market = known.marketOfToken(trade.token_id);
  return chainDraft(
    'trade',
    trade,
    {
      exchange: trade.neg_risk ? 'neg_risk_ctf_exchange' : 'ctf_exchange',
      maker: trade.maker,
      taker: trade.taker,
      token_id: trade.token_id,
      side: trade.side,
      price: price(trade.usdc, trade.shares),
      size: toUnits(trade.shares),
      maker_amount: trade.maker_amount.toString(),
      taker_amount: trade.taker_amount.toString(),
      fee: toUnits(trade.fee),
      order_hash: trade.order_hash,
      ...exchangeVersionField(trade.exchange_version),
      ...(trade.builder === null ? {} : { builder: trade.builder }),
      neg_risk: trade.neg_risk,
      ...enrichment(market, trade.token_id),
      ...eventSlugField(market),
    },
    {
      wallets: trade.is_taker_order ? [trade.maker] : distinct(trade.maker, trade.taker),
      ...marketFilters(market, [trade.token_id]),
      side: trade.side,
      usd: trade.usdc,
    },
  );
}
