import { moneyToNumber } from '../../../schemas/primitives/money.js';
import type { PriceTick } from '../../../schemas/types.gen.js';
import type { Draft } from './frame.js';

const PRICE_SCALE = 18;
/** `source` of a TWAP tick computed by the stream processor. */
export const COMPUTED_SOURCE = 'computed';

/** One oracle price. `timestamp` is in seconds, as in REST ticks; without an order book bid = ask = price. */
export function priceFeedDraft(tick: PriceTick): Draft {
  const price = moneyToNumber(tick.price, PRICE_SCALE);
  const seconds = Math.floor(tick.timestamp_ms / 1000);
  const twap = { is_twap: tick.is_twap, twap_window_seconds: tick.twap_window_s };
  return {
    id: tick.id,
    kind: 'price_feed',
    timestampMs: tick.timestamp_ms,
    confirmed: true,
    feed: tick.feed,
    twapWindowS: tick.twap_window_s,
    body: {
      id: tick.id,
      feed: tick.feed,
      timestamp: seconds,
      timestamp_ms: tick.timestamp_ms,
      ...twap,
      ...(tick.source === COMPUTED_SOURCE ? { computed: true } : {}),
      data: {
        feed: tick.feed,
        price,
        bid: tick.bid === null ? price : moneyToNumber(tick.bid, PRICE_SCALE),
        ask: tick.ask === null ? price : moneyToNumber(tick.ask, PRICE_SCALE),
        timestamp: seconds,
        ...twap,
      },
    },
  };
}
