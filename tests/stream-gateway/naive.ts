import fc from 'fast-check';
import type { StreamEvent } from '../../schemas/types.gen.js';

/** A subscribe message as a client sends it. */
export interface SubscribeRequest {
  readonly type: string;
  readonly filters: Readonly<Record<string, unknown>>;
}

const kindsOf: Readonly<Record<string, readonly string[]>> = {
  settlements: ['settlement', 'status_update'],
  trades: ['settlement', 'trade', 'status_update'],
  large_trades: ['settlement', 'trade'],
  redemptions: ['redemption'],
  blocks: ['block'],
  chainlink: ['price_feed'],
  global: ['settlement', 'trade', 'position_change', 'deposit', 'block', 'status_update', 'oracle', 'redemption'],
};

const overlaps = (requested: unknown, carried: readonly string[]): boolean => {
  const list = (requested as readonly string[] | undefined) ?? [];
  return list.length === 0 || list.some((item) => carried.includes(item));
};

/** Direct implementation of the filter rules for one event: no index, no compilation, no state. */
export function naiveMatch({ type, filters }: SubscribeRequest, event: StreamEvent): boolean {
  const requested = (filters.event_types as readonly string[] | undefined) ?? [];
  const kinds = requested.length > 0 ? requested : kindsOf[type];
  if (kinds?.includes(event.kind) !== true) return false;
  if (type === 'chainlink') {
    const windows = filters.twap_windows as readonly number[] | undefined;
    const inWindow = windows === undefined ? event.twap_window_s === null : windows.includes(event.twap_window_s ?? 0);
    return inWindow && overlaps(filters.feeds, event.feed === null ? [] : [event.feed]);
  }
  const min = (filters.min_size as number | undefined) ?? (type === 'large_trades' ? 1000 : 0);
  const max = (filters.max_size as number | undefined) ?? Number.POSITIVE_INFINITY;
  const usd = event.usd === null ? null : Number(event.usd) / 1e6;
  const sized = filters.max_size !== undefined || min > 0;
  return (
    overlaps(filters.wallets, event.wallets) &&
    overlaps(filters.tokens, event.tokens) &&
    (filters.side === undefined || event.side === filters.side) &&
    (filters.status !== 'confirmed' || event.confirmed) &&
    (!sized || (usd !== null && usd >= min && usd <= max))
  );
}

const wallet = fc.constantFrom('0xaa', '0xbb', '0xcc', '0xdd');
const token = fc.constantFrom('1', '2', '3', '4');
const feed = fc.constantFrom('BTC/USD', 'ETH/USD');
const chainKind = fc.constantFrom('settlement', 'trade', 'status_update', 'block', 'redemption', 'deposit');

export const anyEvent: fc.Arbitrary<Partial<StreamEvent>> = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.record({
      kind: chainKind,
      wallets: fc.uniqueArray(wallet, { maxLength: 2 }),
      tokens: fc.uniqueArray(token, { maxLength: 2 }),
      side: fc.constantFrom('BUY', 'SELL', null),
      usd: fc.option(fc.bigInt({ min: 0n, max: 2_000_000_000n }), { nil: null }),
      confirmed: fc.boolean(),
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({
      kind: fc.constant('price_feed'),
      feed,
      twap_window_s: fc.constantFrom(null, 30, 60),
      wallets: fc.constant([]),
      tokens: fc.constant([]),
      side: fc.constant(null),
      usd: fc.constant(null),
    }),
  },
);

const chainSubscription: fc.Arbitrary<SubscribeRequest> = fc.record({
  type: fc.constantFrom('settlements', 'trades', 'large_trades', 'redemptions', 'blocks', 'global'),
  filters: fc.oneof(
    fc.constant({}),
    fc.record(
      {
        wallets: fc.uniqueArray(wallet, { maxLength: 3 }),
        tokens: fc.uniqueArray(token, { maxLength: 3 }),
        side: fc.constantFrom('BUY', 'SELL'),
        min_size: fc.integer({ min: 0, max: 1500 }),
        max_size: fc.integer({ min: 0, max: 2000 }),
        status: fc.constantFrom('all', 'confirmed'),
        event_types: fc.uniqueArray(chainKind, { maxLength: 3 }),
      },
      { requiredKeys: [] },
    ),
  ),
});
const chainlinkSubscription: fc.Arbitrary<SubscribeRequest> = fc.record({
  type: fc.constant('chainlink'),
  filters: fc.record(
    { feeds: fc.uniqueArray(feed), twap_windows: fc.uniqueArray(fc.constantFrom(30, 60), { minLength: 1 }) },
    { requiredKeys: [] },
  ),
});
export const anySubscription: fc.Arbitrary<SubscribeRequest> = fc.oneof(
  { weight: 5, arbitrary: chainSubscription },
  { weight: 1, arbitrary: chainlinkSubscription },
);
