import { type ConnectionLimits, defaultConnectionLimits } from './hub/connection-limits.js';
import { defaultPeerLimits, type PeerLimits } from './hub/peer.js';

/**
 * Seconds, 8 to 960, after which the library cuts a socket whose client has neither sent nor read anything. 0 would keep a closed socket, with all its
 * unread bytes, for ever: each read of a client sets the timer to this value, also after the close. Above the liveness time and the longest
 * heartbeat interval, so open connections are closed for their liveness first.
 */
export const IDLE_TIMEOUT_S = 370;

/** Time that the client of a connection that is being closed has to read what is buffered. */
export const CLOSING_MS = 30_000;

/** Bound of the bytes that clients leave unread when they close their connections, per day and socket server. */
export const MAX_UNREAD_BYTES = 256 * 1024 * 1024;

/** How long a connection that was cut for unread bytes counts in the connections of its plan: each cut costs tens of megabytes of copying. */
export const CUT_PERMIT_MS = 60_000;

/** Bounds and intervals of the event socket. */
export interface GatewayLimits {
  readonly peer: PeerLimits;
  readonly connection: ConnectionLimits;
  /** Bound of the bytes buffered for sending, over all connections. */
  readonly maxTotalBufferedBytes: number;
  readonly snapshotWindowEvents: number;
  readonly maxSnapshotBytes: number;
  readonly heartbeatMs: number;
  readonly livenessMs: number;
  readonly idleTimeoutS: number;
  readonly closingMs: number;
  readonly maxUnreadBytes: number;
  readonly cutPermitMs: number;
  /** Longest time between two checks for slow readers and between two usage reports. */
  readonly tickMs: number;
  /** Longest time that a stopping server waits until its buffered bytes are sent. */
  readonly drainMs: number;
  /** Time between two lookups of the unknown slugs and condition ids that subscriptions wait for. */
  readonly unresolvedPollMs: number;
}

export const defaultGatewayLimits: GatewayLimits = {
  peer: defaultPeerLimits,
  connection: defaultConnectionLimits,
  maxTotalBufferedBytes: 1024 * 1024 * 1024,
  snapshotWindowEvents: 50_000,
  maxSnapshotBytes: 64 * 1024 * 1024,
  heartbeatMs: 30_000,
  livenessMs: 5 * 60_000,
  idleTimeoutS: IDLE_TIMEOUT_S,
  closingMs: CLOSING_MS,
  maxUnreadBytes: MAX_UNREAD_BYTES,
  cutPermitMs: CUT_PERMIT_MS,
  tickMs: 500,
  drainMs: 1_500,
  unresolvedPollMs: 2_000,
};
