import type { UsageRecorder } from '../../infra/usage/usage-recorder.js';

/** price_feed and order-book frames are metered as `oracle_orderbook`, all other event frames as `onchain`. */
export type MeterName = 'onchain' | 'oracle_orderbook';

/** Counts encoded bytes of event frames handed to sockets. Control frames are not metered. */
export interface Meter {
  /** Synchronous and cheap enough to call per frame; never throws. */
  add(by: { readonly accountId: string; readonly keyHash: string }, meter: MeterName, bytes: number): void;
}

const meters = { onchain: 'onchain_event_bytes', oracle_orderbook: 'orderbook_chainlink_bytes' } as const;

export function createMeter(usage: Pick<UsageRecorder, 'add'>): Meter {
  return { add: (by, meter, bytes) => usage.add(by, meters[meter], bytes) };
}
