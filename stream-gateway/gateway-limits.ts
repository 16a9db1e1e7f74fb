import { type ConnectionLimits, defaultConnectionLimits } from './hub/connection-limits.js';
import { defaultPeerLimits, type PeerLimits } from './hub/peer.js';

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
  tickMs: 500,
  drainMs: 1_500,
  unresolvedPollMs: 2_000,
};
