import { CLOSING_MS, CUT_PERMIT_MS, IDLE_TIMEOUT_S, MAX_UNREAD_BYTES } from '../gateway-limits.js';
import { type BookPeerLimits, defaultBookPeerLimits } from './book-peer.js';

/** Bounds and intervals of the order-book socket. */
export interface OrderBookLimits {
  readonly peer: BookPeerLimits;
  /** Bound of the bytes buffered for sending, over all connections. */
  readonly maxTotalBufferedBytes: number;
  /** Interval of batches. */
  readonly batchMs: number;
  readonly pingMs: number;
  readonly livenessMs: number;
  readonly idleTimeoutS: number;
  readonly closingMs: number;
  readonly maxUnreadBytes: number;
  readonly cutPermitMs: number;
  /** Longest time between two checks of keys and slow readers, and between two usage reports. */
  readonly tickMs: number;
  readonly integrityTokens: number;
}

export const defaultOrderBookLimits: OrderBookLimits = {
  peer: defaultBookPeerLimits,
  maxTotalBufferedBytes: 512 * 1024 * 1024,
  batchMs: 250,
  pingMs: 30_000,
  livenessMs: 5 * 60_000,
  idleTimeoutS: IDLE_TIMEOUT_S,
  closingMs: CLOSING_MS,
  maxUnreadBytes: MAX_UNREAD_BYTES,
  cutPermitMs: CUT_PERMIT_MS,
  tickMs: 500,
  integrityTokens: 5_000,
};
