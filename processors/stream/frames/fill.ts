import type { Settlement } from '../../../schemas/types.gen.js';
import { marketFilters, outcomeOf, price, toUnits } from './enrichment.js';
import { type Draft, distinct, type Enrichment } from './frame.js';

/** Whether the row is the taker's order: the last row, whose maker is the taker, with the taker's token and side. */
function isTakerOrder(settlement: Settlement, index: number): boolean {
  const row = settlement.trades[index];
  return (
    row !== undefined &&
    index === settlement.trades.length - 1 &&
    row.maker === settlement.taker_wallet &&
    row.token_id === settlement.taker_token &&
    row.side === settlement.taker_side
  );
}

/**
 * A pending settlement as one flat frame per row, always with the same sixteen fields in `data`; fields that the catalogue does not have are null.
 * `timestamp` in `data` is in seconds, at the top level in milliseconds. The taker's row has the exchange as its taker, as its log will. Size in
 * USD is the row's.
 */
export function fillDrafts(settlement: Settlement, known: Enrichment): Draft[] {
  return settlement.trades.map((row, index): Draft => {
    const isTaker = isTakerOrder(settlement, index);
    const market =
      known.marketOfToken(row.token_id) ??
      (settlement.condition_id === null ? undefined : known.marketOfCondition(settlement.condition_id));
    return {
      id: `${settlement.id}-fill-${index}`,
      kind: 'fill',
      frameType: 'event',
      timestampMs: settlement.detected_at_ms,
      confirmed: false,
      txHash: settlement.tx_hash,
      wallets: distinct(row.maker, settlement.taker_wallet),
      ...marketFilters(market, [row.token_id], settlement.condition_id),
      side: row.side,
      usd: row.usdc,
      body: {
        timestamp: settlement.detected_at_ms,
        data: {
          order_hash: row.order_hash,
          user: row.maker,
          taker: isTaker ? settlement.exchange : row.taker,
          tx_hash: settlement.tx_hash,
          side: row.side,
          price: price(row.usdc, row.shares),
          shares: Number(row.shares),
          shares_normalized: toUnits(row.shares),
          token_id: row.token_id,
          token_label: outcomeOf(market, row.token_id).outcome ?? null,
          condition_id: settlement.condition_id ?? market?.conditionId ?? null,
          market_slug: market?.slug ?? null,
          title: market?.title ?? null,
          timestamp: Math.floor(settlement.detected_at_ms / 1000),
          block_number: null,
          log_index: null,
        },
      },
    };
  });
}
