import type { UsageRecorder } from '../../infra/usage/usage-recorder.js';

/** price_feed frames count on `oracle_orderbook`, all other event frames on `onchain`. */
export type MeterName = 'onchain' | 'oracle_orderbook';

/** Counts bytes handed to sockets, as encoded. Control frames are free: never add them. */
export interface Meter {
  /** Cheap enough for every frame: never waits, never throws. */
  add(accountId: string, meter: MeterName, bytes: number): void;
}

const meters = { onchain: 'onchain_event_bytes', oracle_orderbook: 'orderbook_chainlink_bytes' } as const;

export function createMeter(usage: Pick<UsageRecorder, 'add'>): Meter {
  return { add: (accountId, meter, bytes) => usage.add(accountId, meters[meter], bytes) };
}
