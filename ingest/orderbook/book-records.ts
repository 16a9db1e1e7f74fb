import type { NewRecord } from '../../infra/log/port.js';
import type { Codec } from '../../schemas/codec.js';
import type { OrderBookUpdate } from '../../schemas/types.gen.js';
import type { VenueMessage } from './messages.js';
import type { BookOutput } from './token-book.js';

/** What `createBookRecords` needs of a token. */
interface RecordedToken {
  readonly tokenId: string;
  readonly market: string;
}

export interface BookRecords {
  /** The record of a change. `verifiedSinceMs`: since when the book is, or is not, verified; `tickSize`: of the market, for whole books. */
  ofOutput(
    token: RecordedToken,
    output: BookOutput,
    known: { readonly verifiedSinceMs: number; readonly tickSize: string | null },
    nowMs: number,
  ): NewRecord;
  ofTrade(token: RecordedToken, trade: VenueMessage & { type: 'trade' }, verified: boolean, nowMs: number): NewRecord;
  ofTickSize(
    token: RecordedToken,
    change: VenueMessage & { type: 'tick_size' },
    verified: boolean,
    nowMs: number,
  ): NewRecord;
}

/** Numbers the records of each token within one run of the source. */
export function createBookRecords(deps: {
  codec: Pick<Codec, 'encode'>;
  epoch: string;
  synthetic: boolean;
}): BookRecords {
  const { codec, epoch, synthetic } = deps;
  const sequences = new Map<string, number>();
  const record = (
    { tokenId, market }: RecordedToken,
    nowMs: number,
    change: Pick<OrderBookUpdate, 'update_type' | 'timestamp_ms' | 'verified'> & Partial<OrderBookUpdate>,
  ): NewRecord => {
    const seq = (sequences.get(tokenId) ?? 0) + 1;
    sequences.set(tokenId, seq);
    const value = codec.encode('order_book_update', {
      id: `${epoch}-${tokenId}-${seq}`,
      token_id: tokenId,
      condition_id: market,
      hash: null,
      bids: [],
      asks: [],
      best_bid: null,
      best_ask: null,
      price: null,
      size: null,
      side: null,
      tick_size: null,
      transaction_hash: null,
      epoch,
      seq,
      received_ms: nowMs,
      verified_since_ms: null,
      reason: null,
      fee_rate_bps: null,
      synthetic,
      ...change,
    });
    return { key: tokenId, value, timestampMs: nowMs };
  };
  return {
    ofOutput(token, output, { verifiedSinceMs, tickSize }, nowMs) {
      const { timestampMs, hash, verified, reason } = output;
      const common = { timestamp_ms: timestampMs, hash, verified, reason, verified_since_ms: verifiedSinceMs };
      if (output.type === 'status') return record(token, nowMs, { ...common, update_type: 'status' });
      if (output.type === 'book')
        return record(token, nowMs, {
          ...common,
          update_type: 'book',
          bids: output.bids,
          asks: output.asks,
          best_bid: output.bids[0]?.price ?? null,
          best_ask: output.asks[0]?.price ?? null,
          tick_size: tickSize,
        });
      const levels = (side: 'BUY' | 'SELL') =>
        output.changes
          .filter((change) => change.side === side)
          .map(({ price, size }) => ({ price, size: size ?? '0' }));
      return record(token, nowMs, {
        ...common,
        update_type: 'price_change',
        bids: levels('BUY'),
        asks: levels('SELL'),
        best_bid: output.bestBid,
        best_ask: output.bestAsk,
      });
    },
    ofTrade: (token, trade, verified, nowMs) =>
      record(token, nowMs, {
        update_type: 'last_trade_price',
        timestamp_ms: Number(trade.timestamp),
        verified,
        price: trade.price,
        size: trade.size,
        side: trade.side,
        fee_rate_bps: trade.feeRateBps,
        transaction_hash: trade.transactionHash,
      }),
    ofTickSize: (token, change, verified, nowMs) =>
      record(token, nowMs, {
        update_type: 'tick_size_change',
        timestamp_ms: Number(change.timestamp),
        verified,
        tick_size: change.tickSize,
      }),
  };
}
